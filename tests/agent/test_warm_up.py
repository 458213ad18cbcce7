"""Before a call: what calls share is made once for all job processes, and never at a call's cost.

The speech endpoint is a double that counts: a real one does not tell who asked for what.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from agent.settings import Settings
from agent.speech.prepared import seconds
from agent.speech.sound_folder import SoundFolder
from agent.warm_up import WarmUp
from selfhost.ports import free_port

SENTENCES = ["Good day.", "Which dates?"]


@dataclass
class Endpoint:
    """Speaks half a second of quiet noise for each text, after `delay_s`."""

    port: int
    delay_s: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def speak(self, request: web.Request) -> web.Response:
        self.asked.append((await request.json())["input"])
        await asyncio.sleep(self.delay_s)
        return web.Response(body=b"\x00\x10" * 12_000, content_type="audio/pcm")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """On a thread with a loop of its own, for the warm-up runs loops of its own."""
    endpoint = Endpoint(free_port())
    loop = asyncio.new_event_loop()
    app = web.Application()
    app.router.add_post("/v1/audio/speech", endpoint.speak)
    runner = web.AppRunner(app)

    async def start() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", endpoint.port).start()

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield endpoint
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def warm_up(port: int, folder: Path) -> WarmUp:
    settings = Settings(tts_base_url=f"http://127.0.0.1:{port}/v1", model_server_port=port)
    return WarmUp(settings, SoundFolder(folder))


def test_a_sentence_is_made_once_for_all_job_processes(endpoint: Endpoint, tmp_path: Path) -> None:
    for _ in range(2):
        warm_up(endpoint.port, tmp_path).make_now(SENTENCES)
    assert endpoint.asked == SENTENCES
    frames = SoundFolder(tmp_path).load("Good day.")
    assert seconds(frames) == pytest.approx(0.5, abs=0.02)


def test_a_call_that_comes_ends_the_making(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.delay_s = 0.3
    making = warm_up(endpoint.port, tmp_path)
    thread = making.make_meanwhile(SENTENCES)
    while not endpoint.asked:
        thread.join(0.01)
    making.stop()
    thread.join()
    assert endpoint.asked == SENTENCES[:1]


def test_an_endpoint_that_is_not_there_holds_up_nothing(tmp_path: Path) -> None:
    warm_up(free_port(), tmp_path).make_now(SENTENCES)
    assert list(tmp_path.iterdir()) == []
