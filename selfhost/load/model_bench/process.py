"""The servers that a benchmark starts for itself, each on a free port of the loopback interface."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from selfhost.errors import SetupError
from selfhost.ports import free_port

READY_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 15.0


@dataclass(frozen=True)
class Served:
    """A model server that runs for the benchmark.

    Args:
        root: its address.
        ready_after_s: from its start to its first readiness.
    """

    root: str
    pid: int
    ready_after_s: float

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    @property
    def realtime_url(self) -> str:
        return f"ws{self.root.removeprefix('http')}/v1/realtime?intent=transcription"


@contextmanager
def model_server(log: Path, **settings: str) -> Iterator[Served]:
    """A model server with settings of its own, ended afterwards.

    Args:
        log: where its output goes.
        settings: MODEL_SERVER_ settings by their names without that prefix, in lower case.

    Raises:
        SetupError: it did not become ready; the message holds the end of its log.
    """
    port = free_port()
    own = {f"MODEL_SERVER_{name.upper()}": value for name, value in settings.items()}
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "selfhost", "server", "--port", str(port)],
            env=_environment() | own,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    root = f"http://127.0.0.1:{port}"
    try:
        _wait_ready(process, root, log)
        yield Served(root, process.pid, time.monotonic() - started)
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    """This process's own, without the settings of a server that a user may have."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith("MODEL_SERVER_")
    } | {"MODEL_SERVER_API_KEY": ""}


def _wait_ready(process: subprocess.Popen[bytes], root: str, log: Path) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while True:
        try:
            if httpx.get(f"{root}/ready", trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        if process.poll() is not None or time.monotonic() > deadline:
            end = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            raise SetupError(f"the model server did not become ready:\n{end}")
        time.sleep(0.05)
