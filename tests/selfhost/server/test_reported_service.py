"""Faults of other model servers that users reported: memory that grows, work left running for
clients that have gone, and callers beyond what the server takes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable

import httpx
import numpy as np
import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.selfhost.server.conftest import KEY, ModelServer, Say, appends
from tests.selfhost.server.health.test_in_process import served
from tests.selfhost.server.test_speech import speak
from tests.selfhost.server.test_transcriptions import transcribe, wav

Leave = Callable[[ModelServer, Say], None]
HEADERS = {"Authorization": f"Bearer {KEY}"}


def resident_bytes(server: ModelServer) -> int:
    return int(psutil.Process(server.process.pid).memory_info().rss)


def test_three_hundred_transcriptions_leave_memory_as_it_was(
    server: ModelServer, client: httpx.Client, say: Say
) -> None:
    sounds = [wav(say(text)) for text in ("Yes.", "A twin room.", "From May the first.")]
    for number in range(300):
        answer = transcribe(client, sounds[number % 3], model="whisper-tiny")
        assert answer.status_code == 200
        if number == 40:
            warm = resident_bytes(server)
    assert resident_bytes(server) < 1.1 * warm


def test_replies_of_ever_other_lengths_leave_memory_as_it_was(
    server: ModelServer, client: httpx.Client
) -> None:
    def say_all(rounds: int) -> int:
        for _ in range(rounds):
            for words in (1, 3, 9, 20):
                for response_format in ("mp3", "pcm"):
                    text = "Good evening. " * words
                    answer = speak(client, text, voice="hibari", response_format=response_format)
                    assert answer.status_code == 200
        return resident_bytes(server)

    warm = say_all(2)
    assert say_all(5) < 1.1 * warm


def leave_speech(server: ModelServer, say: Say) -> None:
    body = {"model": "piper", "input": "A long reply that nobody will hear. " * 200}
    with (
        httpx.Client(base_url=server.root, headers=HEADERS, timeout=60) as client,
        client.stream("POST", "/v1/audio/speech", json=body) as answer,
    ):
        next(answer.iter_raw())


def leave_transcription(server: ModelServer, say: Say) -> None:
    data = wav(np.concatenate([say("We would like a twin room for three nights.")] * 60))
    with (
        httpx.Client(base_url=server.root, headers=HEADERS, timeout=1.0) as client,
        pytest.raises(httpx.ReadTimeout),
    ):
        transcribe(client, data)


def leave_embedding(server: ModelServer, say: Say) -> None:
    body = {"model": "minilm", "input": ["A twin room with a view of the sea. " * 60] * 500}
    with (
        httpx.Client(base_url=server.root, headers=HEADERS, timeout=0.5) as client,
        pytest.raises(httpx.TimeoutException),
    ):
        client.post("/v1/embeddings", json=body)


def leave_call(server: ModelServer, say: Say) -> None:
    async def call() -> None:
        socket = await connect(server.realtime_url, additional_headers=HEADERS)
        for event in appends(np.concatenate([say("We would like a twin room.")] * 20)):
            await socket.send(json.dumps(event))
        socket.transport.abort()

    thread = threading.Thread(target=lambda: asyncio.run(call()))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    "leave",
    [leave_speech, leave_transcription, leave_embedding, leave_call],
    ids=lambda f: f.__name__,
)
def test_a_client_that_leaves_leaves_no_work_behind(
    server: ModelServer, client: httpx.Client, say: Say, leave: Leave
) -> None:
    leave(server, say)
    deadline = time.monotonic() + 15
    while working := [
        model for model in client.get("/health").json()["models"] if model["state"] != "idle"
    ]:
        assert time.monotonic() < deadline, working
        time.sleep(0.1)
    users = {model["id"]: model["in_use"] for model in client.get("/v1/models").json()["data"]}
    assert not any(users.values()), users


async def test_calls_beyond_what_the_server_takes_are_refused_clearly_and_places_come_free() -> (
    None
):
    async with served(max_realtime_sessions=2) as server:
        url = f"ws://{server.client.base_url.host}:{server.client.base_url.port}/v1/realtime"
        first = await connect(url)
        async with connect(url):
            with pytest.raises(InvalidStatus) as refused:
                await connect(url)
            answer = refused.value.response
            assert answer.status_code == 429
            assert int(answer.headers["Retry-After"]) >= 1
            error = json.loads(answer.body)["error"]
            assert error["code"] == "too_many_sessions"
            assert "2 realtime sessions are open" in error["message"]
        first.transport.abort()
        await asyncio.sleep(0.5)
        async with connect(url) as one, connect(url) as other:
            for socket in (one, other):
                assert json.loads(await socket.recv())["type"] == "session.created"
