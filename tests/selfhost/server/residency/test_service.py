"""A real server with more models than memory: who waits, who goes, and that nobody is failed."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest
from websockets.asyncio.client import connect

from selfhost import models
from selfhost.ports import free_port
from tests.selfhost.server.conftest import ready_server, start_server
from tests.selfhost.server.test_transcriptions import error_of

MB = 1_000_000
BUDGET_BYTES = 420 * MB
REQUESTS = 1_000
CLIENTS = 48
STEPS = 10


@pytest.fixture(scope="module")
def small() -> Iterator[str]:
    """A server whose models do not all fit; its address."""
    for name in ("whisper-tiny", "whisper-base", "piper-joe", "minilm", "en-core-web-sm"):
        models.ensure(name)
    with ready_server(
        60,
        MODEL_SERVER_SPEECH_MODEL="hibari",
        MODEL_SERVER_PRELOAD="hibari",
        MODEL_SERVER_MEMORY_BYTES=str(BUDGET_BYTES),
        MODEL_SERVER_MODEL_WAIT_S="120",
    ) as server:
        yield server.root


def states(root: str) -> dict[str, dict[str, object]]:
    return {one["id"]: one for one in httpx.get(f"{root}/v1/models").json()["data"]}


def counted(page: str, name: str) -> float:
    """The sum of a metric over its labels."""
    return sum(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name + "{"))


def test_models_are_listed_with_their_job_state_and_memory(small: str) -> None:
    listed = states(small)
    assert listed["hibari"]["job"] == "speech"
    assert listed["hibari"]["state"] == "loaded"
    assert listed["whisper-base"]["state"] == "not loaded"
    assert listed["whisper-base"]["memory_bytes"] is None  # nothing is not zero bytes
    assert listed["whisper-base"]["in_use"] == 0
    assert httpx.get(f"{small}/ready/hibari").status_code == 200
    assert httpx.get(f"{small}/ready/whisper-base").status_code == 503
    assert httpx.get(f"{small}/ready/no-such-model").status_code == 404


async def test_a_call_keeps_its_model_for_as_long_as_it_is_open(small: str) -> None:
    url = f"{small.replace('http', 'ws')}/v1/realtime?intent=transcription&model=whisper-tiny"
    async with connect(url) as call:
        await call.recv()
        assert states(small)["whisper-tiny"]["in_use"] == 1
        async with httpx.AsyncClient(base_url=small, timeout=60) as client:
            for model in ("minilm", "piper", "minilm"):  # which do not all fit beside it
                await ask(client, model, b"")
        assert states(small)["whisper-tiny"]["state"] == "loaded"
        update = {"session": {"type": "transcription", "audio": {"input": {}}}}
        update["session"]["audio"]["input"] = {"transcription": {"model": "whisper-base"}}
        await call.send(json.dumps({"type": "session.update"} | update))
        async with asyncio.timeout(60):
            assert json.loads(await call.recv())["type"] == "session.updated"
        assert states(small)["whisper-base"]["in_use"] == 1
        assert states(small)["whisper-tiny"]["in_use"] == 0
    for _ in range(100):
        if states(small)["whisper-base"]["in_use"] == 0:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the call has ended, and still holds its model")


async def ask(client: httpx.AsyncClient, model: str, sound: bytes) -> None:
    """A request that `model` answers; fails unless the answer is right."""
    match model:
        case "minilm":
            body = {"model": model, "input": ["a room with a view", "breakfast"]}
            answer = await client.post("/v1/embeddings", json=body)
            right = answer.is_success and len(answer.json()["data"]) == 2
        case "minilm-maxsim":
            body = {"model": model, "query": "a view", "documents": ["toast", "a room with a view"]}
            answer = await client.post("/v1/rerank", json=body)
            right = answer.is_success and answer.json()["results"][0]["index"] == 1
        case "en-core-web-sm":
            body = {"model": model, "text": "Anna Smith flies to Paris.", "labels": ["person"]}
            answer = await client.post("/v1/extract", json=body)
            right = answer.is_success and "Anna Smith" in answer.text
        case "whisper-tiny":
            answer = await client.post(
                "/v1/audio/transcriptions",
                data={"model": model, "language": "en"},
                files={"file": ("sound.wav", sound)},
            )
            right = answer.is_success and "room" in answer.text.lower()
        case _:
            body = {"model": model, "input": "Good evening.", "response_format": "pcm"}
            answer = await client.post("/v1/audio/speech", json=body)
            right = answer.is_success and len(answer.content) > 20_000
    assert right, f"{model}: {answer.status_code} {answer.text[:200]}"


@pytest.mark.timeout(600)
async def test_a_thousand_requests_for_more_models_than_fit_are_all_answered(small: str) -> None:
    chance = random.Random(7)
    weights = {
        "minilm": 30,
        "minilm-maxsim": 30,
        "en-core-web-sm": 20,
        "hibari": 20,
        "piper": 5,
        "whisper-tiny": 3,
    }
    # A client asks the same model a few times, as the steps of one task do.
    tasks = iter(chance.choices(list(weights), list(weights.values()), k=REQUESTS // STEPS))
    answered: Counter[str] = Counter()
    limits = httpx.Limits(max_connections=CLIENTS + 2)
    async with httpx.AsyncClient(base_url=small, timeout=300, limits=limits) as client:
        body = {"model": "hibari", "input": "I need a room.", "response_format": "wav"}
        sound = (await client.post("/v1/audio/speech", json=body)).content

        async def work() -> None:
            for model in tasks:
                for _ in range(STEPS):
                    await ask(client, model, sound)
                    answered[model] += 1

        async def watch() -> None:
            while True:
                listed = (await client.get("/v1/models")).json()["data"]
                # A load that turns out larger than expected has others closed for it: those count
                # until they are gone, but no longer stay.
                staying = [one for one in listed if one["state"] != "closing"]
                assert sum(one["memory_bytes"] or 0 for one in staying) <= BUDGET_BYTES
                await asyncio.sleep(0.25)

        watching = asyncio.create_task(watch())
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(work())
        assert not watching.done(), watching.exception()
        watching.cancel()
        page = (await client.get("/metrics")).text
    assert answered.total() == REQUESTS
    assert set(answered) == set(weights)
    assert counted(page, "model_server_evictions_total") >= 10
    assert counted(page, "model_server_refusals_total") == 0
    assert all(state["in_use"] == 0 for state in states(small).values())


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"MODEL_SERVER_MEMORY_BYTES": "1000000"}, ["whisper-base", "MODEL_SERVER_MEMORY_BYTES"]),
        ({"MODEL_SERVER_PRELOAD": "hibari,no-such-model"}, ["no-such-model", "minilm"]),
        ({"MODEL_SERVER_PINNED": "no-such-model"}, ["no-such-model", "MODEL_SERVER_PINNED"]),
    ],
)
def test_models_to_start_with_that_cannot_be_are_told_at_once(
    settings: dict[str, str], told: list[str]
) -> None:
    process = start_server(free_port(), **settings)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert all(word in output.decode() for word in told)
    assert b"Traceback" not in output


def test_a_request_for_a_model_that_can_never_fit_is_told_so(small: str) -> None:
    body = {"model": "bge-m3", "input": "a room"}
    error = error_of(httpx.post(f"{small}/v1/embeddings", json=body, timeout=30), 503)
    assert error["code"] == "no_room"
    assert "MB" in str(error["message"])
