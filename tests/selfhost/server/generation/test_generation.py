"""The small generator on the model server: streamed, whole, and killed in mid-answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import psutil
import pytest

from selfhost import models
from selfhost.engines.choice import SMALL_MODEL
from tests.selfhost.engines.generating import LONG, events, has_words
from tests.selfhost.server.conftest import ModelServer

CLEAR_ERROR_S = 2.0
FRANCE = {
    "model": SMALL_MODEL,
    "messages": [{"role": "user", "content": "What is the capital of France?"}],
    "max_tokens": 12,
    "temperature": 0,
}


@pytest.fixture(scope="module", autouse=True)
def generator() -> None:
    models.ensure(SMALL_MODEL)


def engine_of(server: ModelServer) -> psutil.Process:
    for process in psutil.Process(server.process.pid).children(recursive=True):
        if "llama_server" in " ".join(process.cmdline()):
            return process
    raise AssertionError("the server has no engine")


def test_it_answers_whole_and_is_listed_with_what_it_takes(client: httpx.Client) -> None:
    answer = client.post("/v1/chat/completions", json=FRANCE)
    assert answer.status_code == 200, answer.text
    assert "Paris" in answer.json()["choices"][0]["message"]["content"]
    listed = client.get(f"/v1/models/{SMALL_MODEL}").json()
    assert listed["job"] == "generation"
    assert listed["state"] == "loaded"
    assert listed["memory_bytes"] > 400_000_000  # the engine's memory, which is another process's


def test_it_streams(client: httpx.Client) -> None:
    with client.stream("POST", "/v1/chat/completions", json=FRANCE | {"stream": True}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = list(answer.iter_lines())
    spoken = "".join(
        event["choices"][0]["delta"]["content"] for event in events(iter(lines)) if has_words(event)
    )
    assert "Paris" in spoken
    assert [line for line in lines if line][-1] == "data: [DONE]"


def test_what_is_not_a_chat_request_or_names_no_generator_is_said(client: httpx.Client) -> None:
    def status(**given: object) -> tuple[int, str | None]:
        answer = client.post("/v1/chat/completions", json=FRANCE | given)
        return answer.status_code, answer.json()["error"]["param"]

    assert status(messages=[]) == (400, "messages")
    assert status(model=None) == (400, "model")
    assert status(model="minilm") == (404, "model")


def test_the_key_is_asked_for(server: ModelServer) -> None:
    answer = httpx.post(f"{server.url}/chat/completions", json=FRANCE)
    assert answer.status_code == 401


class _Going:
    """Requests of another kind, one after the other, while something else happens."""

    def __init__(self, client: httpx.Client, path: str, body: dict[str, object]) -> None:
        self.statuses: list[int] = []
        self._request = (client, path, body)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        client, path, body = self._request
        while not self._stop.is_set():
            self.statuses.append(client.post(path, json=body).status_code)

    def __enter__(self) -> _Going:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def test_an_engine_killed_in_mid_answer_is_told_at_once_and_nothing_else_stops(
    server: ModelServer, client: httpx.Client
) -> None:
    assert client.post("/v1/chat/completions", json=FRANCE).status_code == 200
    engine = engine_of(server)
    embedding = {"model": "minilm", "input": "a double room"}
    speech = {"model": "tts-1", "input": "A double room.", "response_format": "pcm"}
    with (
        _Going(client, "/v1/embeddings", embedding) as embeddings,
        _Going(client, "/v1/audio/speech", speech) as spoken,
    ):
        with client.stream(
            "POST", "/v1/chat/completions", json=LONG | {"model": SMALL_MODEL}
        ) as answer:
            lines: Iterator[str] = answer.iter_lines()
            assert any(has_words(event) for event in events(lines))
            engine.kill()
            killed_at = time.monotonic()
            rest = list(events(lines))
            assert time.monotonic() - killed_at < CLEAR_ERROR_S
        assert [event["error"]["code"] for event in rest if "error" in event] == ["engine_failed"]
        again = client.post("/v1/chat/completions", json=FRANCE)
        assert again.status_code == 200, again.text
        assert "Paris" in again.json()["choices"][0]["message"]["content"]
    assert engine_of(server).pid != engine.pid
    assert server.process.poll() is None
    for others in (embeddings, spoken):
        assert others.statuses
        assert set(others.statuses) == {200}


def test_a_client_that_leaves_frees_the_model(client: httpx.Client) -> None:
    with client.stream(
        "POST", "/v1/chat/completions", json=LONG | {"model": SMALL_MODEL}
    ) as answer:
        lines = answer.iter_lines()
        assert any(has_words(event) for event in events(lines))
        assert client.get(f"/v1/models/{SMALL_MODEL}").json()["in_use"] == 1
    deadline = time.monotonic() + 10
    while client.get(f"/v1/models/{SMALL_MODEL}").json()["in_use"]:
        assert time.monotonic() < deadline, "the model is still in use, by nobody"
        time.sleep(0.1)
