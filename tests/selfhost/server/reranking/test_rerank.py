"""POST /v1/rerank on a real server with the real small reranker."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.selfhost.server.test_transcriptions import error_of

QUERY = "When is breakfast?"
DOCUMENTS = [
    "The central station is five minutes away on foot.",
    "Breakfast is served from seven to half past ten.",
    "Small pets are welcome.",
]


def rerank(client: httpx.Client, **fields: Any) -> httpx.Response:
    body = {"model": "minilm-maxsim", "query": QUERY, "documents": DOCUMENTS} | fields
    return client.post("/v1/rerank", json=body)


def results(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_the_best_document_comes_first_by_its_place_in_the_request(client: httpx.Client) -> None:
    answer = rerank(client)
    found = results(answer)
    assert found[0]["index"] == 1
    assert sorted(one["index"] for one in found) == [0, 1, 2]
    scores = [one["relevance_score"] for one in found]
    assert scores == sorted(scores, reverse=True)
    assert "document" not in found[0]
    assert answer.json()["model"] == "minilm-maxsim"
    assert answer.json()["usage"]["total_tokens"] > 20


def test_documents_may_be_objects_and_come_back_if_wanted(client: httpx.Client) -> None:
    documents = [{"text": text, "title": "passed over"} for text in DOCUMENTS]
    found = results(rerank(client, documents=documents, return_documents=True))
    assert found[0]["document"] == {"text": DOCUMENTS[1]}
    plain = results(rerank(client))
    assert [one["relevance_score"] for one in found] == [one["relevance_score"] for one in plain]


def test_top_n_leaves_out_the_rest(client: httpx.Client) -> None:
    assert [one["index"] for one in results(rerank(client, top_n=1))] == [1]
    assert len(results(rerank(client, top_n=9))) == 3


def test_a_score_does_not_hang_on_the_other_documents(client: httpx.Client) -> None:
    together = {one["index"]: one["relevance_score"] for one in results(rerank(client))}
    for index, document in enumerate(DOCUMENTS):
        (alone,) = results(rerank(client, documents=[document]))
        assert alone["relevance_score"] == pytest.approx(together[index], abs=0.002)


def test_a_long_document_is_read_up_to_the_longest(client: httpx.Client) -> None:
    long = "The garden is quiet. " * 400
    one, other = results(rerank(client, documents=[long, long + DOCUMENTS[1]]))
    assert one["relevance_score"] == pytest.approx(other["relevance_score"], abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"query": " "}, "query"),
        ({"documents": []}, "documents"),
        ({"documents": ["a", "  "]}, "documents"),
        ({"documents": ["a"] * 1001}, "documents"),
        ({"documents": "a text"}, "documents"),
        ({"top_n": 0}, "top_n"),
    ],
)
def test_what_cannot_be_ranked_is_refused(
    client: httpx.Client, fields: dict[str, Any], param: str
) -> None:
    assert error_of(rerank(client, **fields), 400)["param"] == param


def test_a_model_that_does_not_rank_is_refused(client: httpx.Client) -> None:
    assert error_of(rerank(client, model="minilm"), 404)["code"] == "model_not_found"
