"""A real room server for the caller's tests."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from selfhost import room_server
from selfhost.load.rooms import RoomServer
from selfhost.ports import ROOM_SERVER_PORTS, consecutive_free_ports

API_KEY, API_SECRET = "devkey", "a-secret-of-the-test-suite-with-enough-length"


@pytest.fixture(scope="session")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoomServer]:
    """A room server on ports of its own."""
    port = consecutive_free_ports(ROOM_SERVER_PORTS)
    folder: Path = tmp_path_factory.mktemp("rooms")
    configuration = folder / "livekit.json"  # JSON is YAML
    configuration.write_text(
        json.dumps(room_server.configuration("127.0.0.1", port, API_KEY, API_SECRET))
    )
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [room_server.ensure(), "--config", configuration], stdout=log, stderr=log
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/").raise_for_status()
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((folder / "log").read_text()[-2000:]) from None
                time.sleep(0.1)
        yield RoomServer(f"ws://127.0.0.1:{port}", API_KEY, API_SECRET)
    finally:
        process.terminate()
        process.wait(timeout=10)
        log.close()
