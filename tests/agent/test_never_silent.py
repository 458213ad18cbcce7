"""A call that cannot be held is heard and seen to fail: never a silent room."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from selfhost.ports import free_port
from tests.agent.conftest import Listener, Worker

Join = Callable[[], Awaitable[Listener]]
AUDIBLE = 2_000  # of 32,767: speech, not the noise of a codec


def nobody() -> str:
    """The address of an endpoint that is down."""
    return f"http://127.0.0.1:{free_port()}/v1"


async def test_when_speech_is_down_a_recorded_notice_is_heard(
    start_worker: Callable[..., Worker], listener: Join
) -> None:
    worker = start_worker(TTS_BASE_URL=nobody(), STT_BASE_URL=nobody(), LLM_BASE_URL=nobody())
    caller = await listener()
    await caller.until(lambda: caller.loudest > AUDIBLE, timeout_s=30)
    await caller.until(
        lambda: "tts" in {event.fields["component"] for event in caller.errors()}, timeout_s=10
    )
    assert b"recorded notice" in worker.log.read_bytes()


async def test_a_session_that_the_framework_rejects_is_heard_and_named(
    start_worker: Callable[..., Worker], listener: Join
) -> None:
    worker = start_worker(module="tests.agent.rejected_worker")
    caller = await listener()
    await caller.until(lambda: caller.loudest > AUDIBLE, timeout_s=30)
    await caller.until(lambda: bool(caller.errors()), timeout_s=10)
    assert [event.fields["component"] for event in caller.errors()] == ["session"]
    assert b"an_option_of_the_past" in worker.log.read_bytes()


async def test_a_wrong_key_is_heard_and_named(
    start_worker: Callable[..., Worker], listener: Join
) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "Incorrect API key"}}, status=401)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    endpoint = TestServer(app)
    await endpoint.start_server()
    url = str(endpoint.make_url("/v1"))
    worker = start_worker(STT_BASE_URL=url, LLM_BASE_URL=url, TTS_BASE_URL=url, TTS_API_KEY="oops")
    caller = await listener()
    await caller.until(lambda: caller.loudest > AUDIBLE, timeout_s=30)
    await caller.until(
        lambda: {"stt", "tts"} <= {event.fields["component"] for event in caller.errors()},
        timeout_s=15,
    )
    assert b"oops" not in worker.log.read_bytes()
    await endpoint.close()


@pytest.mark.parametrize(
    ("setting", "value"),
    [("HOTEL", "nowhere"), ("DATABASE_URL", "nonsense"), ("STT_PROVIDER", "elsewhere")],
)
def test_settings_that_cannot_work_end_the_worker_at_once_with_one_message(
    setting: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(setting, value)
    run = subprocess.run(
        [sys.executable, "-m", "agent", "start"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2
    assert setting in run.stderr
    assert "Traceback" not in run.stderr
