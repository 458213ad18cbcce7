"""The running stack that integration tests share: the real parts, on ports of their own."""

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
from typing import Any

import psutil

from selfhost.ports import ROOM_SERVER_PORTS, consecutive_free_ports, free_ports

PROJECT = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 240.0
STOP_TIMEOUT_S = 40.0


@dataclass(frozen=True)
class Stack:
    """Where the parts of a running stack are, and how to look into them.

    `environment` is what a command needs to talk to this stack: pass it to a child process.
    """

    livekit_url: str
    api_key: str
    api_secret: str
    model_server_url: str
    generation_url: str
    worker_url: str
    metrics_url: str
    page_url: str
    state_dir: Path
    environment: dict[str, str]
    supervisor_pid: int

    def status(self) -> dict[str, Any]:
        """What `status --json` prints."""
        said = subprocess.run(
            [sys.executable, "-m", "selfhost", "status", "--json"],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        return dict(json.loads(said))

    def parts(self) -> dict[str, dict[str, Any]]:
        """The parts of `status`, by name."""
        return {part["name"]: part for part in self.status()["parts"]}

    def part(self, name: str) -> dict[str, Any]:
        return self.parts()[name]

    def kill(self, name: str) -> int:
        """Kill one part the hard way; the supervisor starts it again. Returns the killed pid."""
        pid = int(self.part(name)["pid"])
        os.kill(pid, signal.SIGKILL)
        return pid

    def wait_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Wait until every part is ready.

        Raises:
            AssertionError: a part was given up, or the time is over; holds the parts' logs.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            parts = self.parts().values()
            if parts and all(part["state"] == "ready" for part in parts):
                return
            if any(part["state"] == "failed" for part in parts) or time.monotonic() > deadline:
                raise AssertionError(f"the stack is not ready\n{logs(self.state_dir)}")
            time.sleep(0.3)

    def wait_restarted(self, name: str, killed_pid: int, timeout_s: float = 90.0) -> None:
        """Wait until a part that was killed is ready again, as another process."""
        deadline = time.monotonic() + timeout_s
        while True:
            part = self.part(name)
            if part["state"] == "ready" and part["pid"] not in (None, killed_pid):
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} is not back: {part}\n{logs(self.state_dir)}")
            time.sleep(0.3)

    def log(self, name: str) -> str:
        return (self.state_dir / "logs" / f"{name}.log").read_text(errors="replace")


@contextmanager
def running_stack(
    folder: Path,
    *,
    under: tuple[str, ...] = (),
    settings: Mapping[str, str] | None = None,
    timeout_s: float = START_TIMEOUT_S,
) -> Iterator[Stack]:
    """Start the whole stack, wait until all of it is ready, and end it afterwards.

    Args:
        folder: an empty one; holds its state, its logs and the bookings.
        under: a command to run it under, such as a tracer.
        settings: environment variables of the product, beside the usual ones.
        timeout_s: until all of it must be ready.
    """
    state_dir = folder / "state"
    room_port = consecutive_free_ports(ROOM_SERVER_PORTS)
    model_server, generation, worker, metrics, desk, page = free_ports(6)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LIVEKIT_")},
        "HOTEL_VOICE_STATE": str(state_dir),
        "LIVEKIT_PORT": str(room_port),
        "MODEL_SERVER_PORT": str(model_server),
        "GENERATION_PORT": str(generation),
        "WORKER_PORT": str(worker),
        "DESK_PORT": str(desk),
        "WORKER_METRICS_PORT": str(metrics),
        "PAGE_PORT": str(page),
        "DATABASE_URL": f"sqlite:///{folder / 'hotel.sqlite3'}",
        "RECORDINGS": str(folder / "recordings"),
        **(settings or {}),
    }
    process = subprocess.Popen(
        [*under, sys.executable, "-m", "selfhost", "up", "--json", "--no-browser"],
        cwd=PROJECT,
        env=environment,
        stdout=(folder / "up.jsonl").open("wb"),
        stderr=(folder / "up.err").open("wb"),
        # Ctrl-C ends pytest, which ends the stack; it must not end both at once.
        start_new_session=True,
    )
    stack = Stack(
        livekit_url=f"ws://127.0.0.1:{room_port}",
        api_key="devkey",
        api_secret="secret",
        model_server_url=f"http://127.0.0.1:{model_server}/v1",
        generation_url=f"http://127.0.0.1:{generation}/v1",
        worker_url=f"http://127.0.0.1:{worker}/",
        metrics_url=f"http://127.0.0.1:{metrics}/metrics",
        page_url=f"http://127.0.0.1:{page}",
        state_dir=state_dir,
        environment=environment,
        supervisor_pid=process.pid,
    )
    try:
        _wait_started(process, stack, folder, timeout_s)
        yield stack
    finally:
        _stop(process, traced=bool(under))


def _stop(process: subprocess.Popen[bytes], *, traced: bool) -> None:
    """End the stack; a tracer ends with what it traces, and would leave it running otherwise."""
    supervisors = psutil.Process(process.pid).children() if traced else [process]
    for supervisor in supervisors:
        # The second signal is for haste: nobody listens to the end of a sentence here.
        supervisor.send_signal(signal.SIGINT)
        supervisor.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        for supervisor in supervisors:
            supervisor.kill()  # its sentinel ends the rest
        process.kill()
        process.wait()


def _wait_started(
    process: subprocess.Popen[bytes], stack: Stack, folder: Path, timeout_s: float
) -> None:
    state_file = stack.state_dir / "stack.json"
    while process.poll() is None and not state_file.exists():
        time.sleep(0.1)
    if process.poll() is not None:
        raise AssertionError(f"the stack did not start:\n{(folder / 'up.err').read_text()}")
    stack.wait_ready(timeout_s)


def logs(state_dir: Path, last_lines: int = 40) -> str:
    """The end of each part's log."""
    texts = []
    for log in sorted((state_dir / "logs").glob("*.log")):
        lines = log.read_text(errors="replace").splitlines()[-last_lines:]
        texts.append(f"--- {log.name}\n" + "\n".join(lines))
    return "\n".join(texts)
