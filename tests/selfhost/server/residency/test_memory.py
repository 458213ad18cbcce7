"""A server's memory after many requests is what it was after few."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
import pytest

from selfhost import models
from tests.selfhost.server.conftest import ready_server

REQUESTS = 2_000
WARM_AFTER = 200
CLIENTS = 8
# Of each hundred requests; in every hundred of them each model has its turn.
MIX = (
    ["minilm"] * 40
    + ["minilm-maxsim"] * 24
    + ["en-core-web-sm"] * 25
    + ["hibari"] * 9
    + ["piper", "whisper-tiny"]
)
WORDS = ("a", "room", "with", "view", "of", "the", "sea", "breakfast", "for", "two", "please")


@pytest.fixture
def warm() -> Iterator[tuple[str, psutil.Process]]:
    """A server with every model of the mix loaded: its address and its process."""
    for name in ("whisper-tiny", "piper-joe", "minilm", "en-core-web-sm"):
        models.ensure(name)
    with ready_server(
        120,
        MODEL_SERVER_SPEECH_MODEL="hibari",
        MODEL_SERVER_PRELOAD=",".join(dict.fromkeys(MIX)),
        MODEL_SERVER_MEMORY_BYTES="2000000000",
    ) as server:
        yield server.root, psutil.Process(server.process.pid)


def _text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(3, 20)))


def _texts(chance: random.Random) -> list[str]:
    return [_text(chance) for _ in range(chance.randint(1, 3))]


def request(model: str, chance: random.Random, sound: bytes) -> tuple[str, dict[str, Any]]:
    """A path, and what to send there."""
    match model:
        case "minilm":
            return "/v1/embeddings", {"json": {"model": model, "input": _texts(chance)}}
        case "minilm-maxsim":
            body = {"model": model, "query": _text(chance), "documents": _texts(chance)}
            return "/v1/rerank", {"json": body}
        case "en-core-web-sm":
            text = f"Anna Smith flies to Paris on Friday: {_text(chance)}."
            body = {"model": model, "text": text, "labels": ["person", "date"]}
            return "/v1/extract", {"json": body}
        case "whisper-tiny":
            files = {"file": ("sound.wav", sound)}
            data = {"model": model, "language": "en"}
            return "/v1/audio/transcriptions", {"data": data, "files": files}
        case _:
            sent = " ".join(chance.choices(WORDS, k=3)) + "."
            form = chance.choice(["pcm", "wav", "mp3"])
            body = {"model": model, "input": sent, "response_format": form}
            return "/v1/audio/speech", {"json": body}


@pytest.mark.timeout(600)
async def test_memory_after_two_thousand_requests_is_that_after_two_hundred(
    warm: tuple[str, psutil.Process],
) -> None:
    root, process = warm
    chance = random.Random(1)
    mixed: list[str] = []
    while len(mixed) < REQUESTS:
        mixed += chance.sample(MIX, len(MIX))
    waiting = iter(mixed)
    answered = 0
    warm_bytes = 0
    async with httpx.AsyncClient(base_url=root, timeout=60) as client:
        body = {"model": "hibari", "input": "Three nights please.", "response_format": "wav"}
        sound = (await client.post("/v1/audio/speech", json=body)).content

        async def work() -> None:
            nonlocal answered, warm_bytes
            for model in waiting:
                path, content = request(model, chance, sound)
                answer = await client.post(path, **content)
                assert answer.is_success, f"{model}: {answer.status_code} {answer.text[:200]}"
                answered += 1
                if answered == WARM_AFTER:
                    warm_bytes = process.memory_info().rss

        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(work())
    assert answered == REQUESTS
    end_bytes = process.memory_info().rss
    assert warm_bytes * 0.95 < end_bytes < warm_bytes * 1.05, (warm_bytes, end_bytes)
