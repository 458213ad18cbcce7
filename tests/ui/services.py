"""Real services for the page's tests, on ports of their own: a room server, and the page itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from selfhost import room_server
from selfhost.ports import ROOM_SERVER_PORTS, consecutive_free_ports, free_port

ROOT = Path(__file__).resolve().parents[2]
LONG_SECRET = "a-secret-of-the-tests-that-is-long-enough"
READY_WITHIN_S = 40


@dataclass(frozen=True)
class RoomServer:
    """Where a room server is, and the key pair to sign tokens for it with."""

    url: str
    key: str
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        """What makes the page use this room server."""
        return {
            "LIVEKIT_URL": self.url,
            "LIVEKIT_API_KEY": self.key,
            "LIVEKIT_API_SECRET": self.secret,
        }


class RoomServerProcess:
    """A room server that can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self._port = consecutive_free_ports(ROOM_SERVER_PORTS)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.server = RoomServer(f"ws://127.0.0.1:{self._port}", "devkey", LONG_SECRET)
        self._configuration = folder / f"livekit-{self._port}.json"  # JSON is YAML
        self._configuration.write_text(
            json.dumps(
                room_server.configuration(
                    "127.0.0.1", self._port, self.server.key, self.server.secret
                )
            )
        )

    def start(self) -> None:
        with (self._folder / f"livekit-{self._port}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [room_server.ensure(), "--config", self._configuration], stdout=log, stderr=log
            )
        _wait_until_ready(f"http://127.0.0.1:{self._port}/", self._process, Path(log.name))

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(timeout=10)
            self._process = None


@contextmanager
def page_server(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The page as users start it; gives its address."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "ui/page.py"]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    with (folder / f"page-{port}.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, "HOTEL_NAME": "", **environment},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}/_stcore/health", process, Path(log.name))
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while True:
        try:
            httpx.get(url, trust_env=False).raise_for_status()
            return
        except httpx.HTTPError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{url} is not ready:\n{log.read_text()[-3000:]}") from None
            time.sleep(0.1)
