"""The whole server in this process, so that a test can reach a loaded model and spoil it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn

from selfhost import models
from selfhost.ports import free_port
from selfhost.server.app import create_app
from selfhost.server.residency.pool import Pool
from selfhost.server.settings import ServerSettings
from tests.selfhost.server.test_transcriptions import error_of


@dataclass
class Served:
    client: httpx.AsyncClient
    pool: Pool
    failures: list[str] = field(default_factory=list)

    async def speak(self, text: str = "Two guests.") -> httpx.Response:
        body = {"model": "piper", "input": text, "response_format": "pcm"}
        return await self.client.post("/v1/audio/speech", json=body)

    async def until_health(self, status: int, within_s: float) -> dict[str, Any]:
        deadline = time.monotonic() + within_s
        while (answer := await self.client.get("/health")).status_code != status:
            assert time.monotonic() < deadline, answer.json()
            await asyncio.sleep(0.05)
        body: dict[str, Any] = answer.json()
        return body


async def until(condition: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


@asynccontextmanager
async def served(**settings: Any) -> AsyncIterator[Served]:
    failures: list[str] = []
    port = free_port()
    app = create_app(ServerSettings(preload=("piper",), **settings), models.ensure, failures.append)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical"))
    running = asyncio.create_task(server.serve())
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        try:
            await until(lambda: server.started and app.state.server.not_ready is None, 60)
            yield Served(client, app.state.server.pool, failures)
        finally:
            server.should_exit = True
            await running


async def test_a_reply_that_goes_bad_in_the_middle_is_broken_off_and_brings_the_test() -> None:
    async with served(self_test_every_s=600.0) as server:
        voice = server.pool.models()["piper"].voice  # type: ignore[attr-defined]
        real, spoken = voice.speak, 0

        def speak(piece: str, speed: float) -> Any:
            nonlocal spoken
            spoken += 1
            return real(piece, speed) * np.float32(1.0 if spoken == 1 else np.nan)

        voice.speak = speak
        with pytest.raises(httpx.RemoteProtocolError):  # told as broken, not as a short reply
            await server.speak("This is said. This is not. Nor is this.")
        await until(lambda: bool(server.failures), 10)
        assert "piper failed its test" in server.failures[0]
        ready = await server.client.get("/ready")
        assert ready.status_code == 503
        assert "piper failed its test" in ready.json()["reason"]
        assert error_of(await server.speak(), 503)


async def test_a_model_that_hangs_is_told_and_one_with_much_to_do_is_not() -> None:
    async with served(hung_after_s=3.0, self_test_every_s=600.0) as server:
        text = "The hotel has a quiet garden behind the house. " * 5
        busy = [asyncio.create_task(server.speak(text)) for _ in range(4)]
        saw_work = False
        while not all(task.done() for task in busy):
            answer = await server.client.get("/health")
            assert answer.status_code == 200, answer.json()
            saw_work |= any(one["state"] == "busy" for one in answer.json()["models"])
            await asyncio.sleep(0.1)
        assert saw_work
        assert all(task.result().status_code == 200 for task in busy)

        voice = server.pool.models()["piper"].voice  # type: ignore[attr-defined]
        real, gate = voice.speak, threading.Event()

        def hang(piece: str, speed: float) -> Any:
            gate.wait(60)
            return real(piece, speed)

        voice.speak = hang
        stuck = [asyncio.create_task(server.speak()) for _ in range(2)]
        told = await server.until_health(503, within_s=10)
        assert told["status"] == "hung"
        assert "piper has not moved for" in told["reason"]
        assert "speech in hand" in told["reason"]
        gate.set()
        assert [answer.status_code for answer in await asyncio.gather(*stuck)] == [200, 200]
        await server.until_health(200, within_s=5)
