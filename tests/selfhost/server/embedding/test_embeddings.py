"""POST /v1/embeddings on a real server with the real small embedder."""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest
from openai import OpenAI

from tests.selfhost.server.conftest import KEY, ModelServer, wait_until_idle
from tests.selfhost.server.test_transcriptions import error_of

TEXTS = [
    "Is breakfast included in the room rate?",
    "Yes, a breakfast buffet is part of every booking.",
    "The train leaves from platform four at noon.",
]
# Of the published float32 weights, computed with transformers.
COSINES = [[1.0, 0.5696, 0.0705], [0.5696, 1.0, 0.0596], [0.0705, 0.0596, 1.0]]


def embed(client: httpx.Client, given: Any, **fields: Any) -> httpx.Response:
    return client.post("/v1/embeddings", json={"model": "minilm", "input": given} | fields)


def vectors(answer: httpx.Response) -> np.ndarray[Any, Any]:
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    assert [one["index"] for one in data] == list(range(len(data)))
    return np.array([one["embedding"] for one in data])


def test_like_texts_are_as_alike_as_the_published_weights_make_them(client: httpx.Client) -> None:
    found = vectors(embed(client, TEXTS))
    assert found.shape == (3, 384)
    np.testing.assert_allclose(found @ found.T, COSINES, atol=0.02)


def test_openais_own_client_reads_the_answer(server: ModelServer, client: httpx.Client) -> None:
    # It asks for base64 unless it is told otherwise.
    theirs = OpenAI(base_url=server.url, api_key=KEY).embeddings.create(model="minilm", input=TEXTS)
    found = np.array([one.embedding for one in theirs.data])
    np.testing.assert_allclose(found, vectors(embed(client, TEXTS)), atol=1e-6)
    # Counted by the tokenizer: words, signs, and two marks a text.
    assert theirs.usage.prompt_tokens == theirs.usage.total_tokens == 34
    assert theirs.model == "minilm"


def test_base64_is_little_endian_float32(client: httpx.Client) -> None:
    data = embed(client, TEXTS[0], encoding_format="base64").json()["data"][0]["embedding"]
    found = np.frombuffer(base64.b64decode(data), "<f4")
    np.testing.assert_allclose(found, vectors(embed(client, TEXTS[0]))[0], atol=1e-6)


def test_the_order_of_the_texts_is_kept(client: httpx.Client) -> None:
    # Of all lengths, so that they are computed in another order and in several batches.
    texts = [f"Room {number} " + "with a view " * (number * 7 % 23) for number in range(60)]
    together = vectors(embed(client, texts))
    for number in (0, 1, 17, 42, 59):
        alone = vectors(embed(client, texts[number]))[0]
        assert alone @ together[number] > 0.999
        assert np.argmax(together @ alone) == number


def test_a_text_beyond_the_longest_is_read_up_to_there(client: httpx.Client) -> None:
    long = "breakfast and dinner " * 400
    answer = embed(client, [long, long + "and a train to the coast"])
    assert answer.json()["usage"]["prompt_tokens"] == 2 * 256
    first, second = vectors(answer)
    np.testing.assert_allclose(first, second, atol=1e-6)


@pytest.mark.parametrize("text", ["?", "…", "🙂", "\u200b.", "火災警報", "a" * 5_000, "\x00x"])
def test_odd_texts_get_vectors_too(client: httpx.Client, text: str) -> None:
    (found,) = vectors(embed(client, text))
    assert np.isfinite(found).all()
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-3)


def test_half_a_character_is_no_fault(client: httpx.Client) -> None:
    body = rb'{"model": "minilm", "input": "a room \ud83d"}'
    headers = {"Content-Type": "application/json"}
    vectors(client.post("/v1/embeddings", content=body, headers=headers))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("", "empty_input"),
        ("  \n", "empty_input"),
        ([], "empty_input"),
        (["a room", ""], "empty_input"),
        ([1, 2, 3], "tokens_not_supported"),
        ([[1, 2], [3]], "tokens_not_supported"),
        (7, "invalid_value"),
        ({"text": "a room"}, "invalid_value"),
        (["a room", None], "invalid_value"),
        (["a room"] * 2049, "array_above_max_length"),
    ],
)
def test_what_cannot_be_embedded_is_refused(client: httpx.Client, given: Any, code: str) -> None:
    error = error_of(embed(client, given), 400)
    assert (error["param"], error["code"]) == ("input", code)


def test_a_refused_text_is_named_by_its_place(client: httpx.Client) -> None:
    assert "number 1 " in error_of(embed(client, ["a room", " "]), 400)["message"]


def test_wrong_fields_are_named(client: httpx.Client) -> None:
    assert error_of(embed(client, "x", model="nobody"), 404)["code"] == "model_not_found"
    # A model that is there, but does something else.
    assert error_of(embed(client, "x", model="whisper-base"), 404)["code"] == "model_not_found"
    assert error_of(embed(client, "x", encoding_format="int8"), 400)["param"] == "encoding_format"
    error = error_of(embed(client, "x", dimensions=128), 400)
    assert (error["param"], error["code"]) == ("dimensions", "dimensions_not_supported")
    assert vectors(embed(client, "x", dimensions=384)).shape == (1, 384)


def runs(client: httpx.Client) -> float:
    """How often the embedder has computed so far."""
    found = re.search(
        r'model_server_batch_rows_count\{model="minilm"\} (\S+)', client.get("/metrics").text
    )
    return float(found[1]) if found else 0.0


def test_a_client_that_leaves_frees_its_place(server: ModelServer, client: httpx.Client) -> None:
    assert embed(client, "loaded").status_code == 200  # loading a model makes runs of its own
    texts = ["word " * 200 + str(number) for number in range(1_000)]
    before = runs(client)
    leaving = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    leaving.request(
        "POST", "/v1/embeddings", json.dumps({"model": "minilm", "input": texts}), headers
    )
    deadline = time.monotonic() + 30
    while runs(client) == before:
        assert time.monotonic() < deadline, "the texts were never computed"
        time.sleep(0.05)
    leaving.close()
    wait_until_idle(client, "embeddings")
    dropped = 'model_server_dropped_total{kind="embedding",model="minilm"} '
    assert dropped in client.get("/metrics").text
    assert runs(client) - before < 1_000
    assert embed(client, "still here").status_code == 200


def test_a_large_request_does_not_hold_up_a_small_one(client: httpx.Client) -> None:
    texts = ["word " * 200 + str(number) for number in range(60)]
    done = itertools.count()
    order: dict[str, int] = {}

    def ask(name: str, given: list[str]) -> None:
        assert len(vectors(embed(client, given))) == len(given)
        order[name] = next(done)

    with ThreadPoolExecutor() as threads:
        large = threads.submit(ask, "large", texts)
        small = [threads.submit(ask, f"small {number}", [f"short {number}"]) for number in range(3)]
        for one in (large, *small):
            one.result()
    assert order["large"] == 3
