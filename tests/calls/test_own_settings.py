"""Spoken calls to a worker with settings of its own, beside the shared stack's."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from selfhost.ports import free_port
from tests.calls.playing import play
from tests.stack import PROJECT, Stack

NAME = "own-settings"
START_S = 60.0


@pytest.fixture(scope="module")
def impatient(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The shared stack, asking for a worker that cannot be interrupted and soon hangs up."""
    log = tmp_path_factory.mktemp(NAME) / "worker.log"
    environment = {
        **stack.environment,
        "LIVEKIT_URL": stack.livekit_url,
        "LIVEKIT_API_KEY": stack.api_key,
        "LIVEKIT_API_SECRET": stack.api_secret,
        "LIVEKIT_AGENT_NAME": NAME,
        "WORKER_PORT": str(free_port()),
        "WORKER_METRICS_PORT": "0",
        "BARGE_IN": "false",
        "SILENCE_PROMPT_S": "4",
    }
    with log.open("wb") as output:
        worker = subprocess.Popen(
            [sys.executable, "-m", "agent", "start"],
            cwd=PROJECT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + START_S
        while b"registered worker" not in log.read_bytes():
            assert worker.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield replace(stack, environment=environment)
    finally:
        worker.terminate()
        worker.wait(30)


@pytest.mark.parametrize("name", ["no-barge-in", "silence"])
def test_the_call_comes_out_as_its_file_expects(
    name: str, impatient: Stack, tmp_path: Path
) -> None:
    play(impatient, f"own_settings/{name}", tmp_path)
