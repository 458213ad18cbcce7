"""The room server and the models that the benchmark starts for itself, and the workers that take
calls on them: on free ports, in a folder of their own, beside whatever the user has running."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from selfhost import descendants, room_server, state
from selfhost.errors import SetupError
from selfhost.load.rooms import RoomServer
from selfhost.parts import GENERATION, MODEL_SERVER, PROJECT, ROOM_SERVER, shared_environment
from selfhost.ports import consecutive_free_ports, free_port
from selfhost.sentinel import Sentinel
from selfhost.settings import StackSettings
from selfhost.state import PartState
from selfhost.status import STATE_FILE

START_TIMEOUT_S = 400.0
WORKER_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 40.0
LOOK_EVERY_S = 0.2
REGISTERED = "registered worker"  # in a worker's log, once the room server sends it calls
SHOWN_LINES = 15


@dataclass(frozen=True)
class OwnStack:
    """A room server and models that are ready.

    Args:
        room: where calls take place.
        environment: what a worker needs to find all of it.
        folder: where the logs are.
        pid: of the process that keeps the parts up.
        mark: what the processes of this run have in their environment.
        transcription_model: the one that hears.
    """

    room: RoomServer
    environment: Mapping[str, str]
    folder: Path
    pid: int
    mark: str
    transcription_model: str

    @property
    def models_url(self) -> str:
        return f"http://127.0.0.1:{self.environment['MODEL_SERVER_PORT']}/v1"

    @property
    def generation_url(self) -> str:
        return f"http://127.0.0.1:{self.environment['GENERATION_PORT']}/v1"

    def language_model(self) -> str:
        """The name of the model that generation serves."""
        key = self.environment.get("LLM_API_KEY", "")
        answer = httpx.get(
            f"{self.generation_url}/models",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            trust_env=False,
            timeout=10,
        )
        return str(answer.raise_for_status().json()["data"][0]["id"])


@dataclass(frozen=True)
class Worker:
    """A worker that takes calls.

    Args:
        log: its output.
    """

    pid: int
    log: Path

    def said(self) -> str:
        """Everything that it has logged."""
        return _said(self.log)


@contextmanager
def own_stack(
    folder: Path, environment: Mapping[str, str], providers: Mapping[str, str]
) -> Iterator[OwnStack]:
    """Start what a call needs besides a worker, wait until it is ready, and end it afterwards.

    Args:
        folder: an empty one.
        environment: the user's.
        providers: STT_PROVIDER, LLM_PROVIDER and TTS_PROVIDER: who is self-hosted is started.

    Raises:
        SetupError: something is missing or does not start; the message says what.
    """
    run = secrets.token_hex(8)
    ports = {
        "livekit_port": str(consecutive_free_ports(len(room_server.ports(0)))),
        "model_server_port": str(free_port()),
        "generation_port": str(free_port()),
        "worker_port": str(free_port()),
        "page_port": str(free_port()),
    }
    chosen = {name.lower(): provider for name, provider in providers.items()}
    settings = StackSettings.load(**ports, **chosen)
    whole = {
        **environment,
        **providers,
        **shared_environment(settings),
        "HOTEL_VOICE_STATE": str(folder / "state"),
        "DATABASE_URL": f"sqlite:///{folder / 'hotel.sqlite3'}",
        "RECORDINGS": str(folder / "recordings"),
    }
    if settings.runs_room_server:
        # It says that a room server elsewhere is to be used, and here there is none yet.
        for name in ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"):
            whole.pop(name, None)
    parts = [
        name
        for name, runs in (
            (ROOM_SERVER, settings.runs_room_server),
            (MODEL_SERVER, settings.runs_model_server),
            (GENERATION, settings.runs_generation),
        )
        if runs
    ]
    command = ("selfhost", "up", "--json", "--no-browser", "--only", ",".join(parts))
    sentinel = Sentinel(run)
    try:
        with _running(
            command, {**whole, **descendants.mark(run, "stack")}, folder / "up.log"
        ) as up:
            _wait_ready(up, folder)
            yield OwnStack(
                RoomServer(settings.room_url, settings.room_key, settings.room_secret),
                {**whole, **shared_environment(settings)},
                folder,
                up.pid,
                run,
                settings.model_server_transcription_model,
            )
    finally:
        sentinel.dismiss()


@contextmanager
def worker(
    stack: OwnStack, name: str, command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[Worker]:
    """Start a worker, wait until calls are sent to it, and end it afterwards.

    Args:
        name: for its log.
        command: the module and its arguments.
        environment: beside the stack's.

    Raises:
        SetupError: it did not come to be ready; the message holds the end of its log.
    """
    log = stack.folder / f"{name}.log"
    own = {**stack.environment, **environment, **descendants.mark(stack.mark, name)}
    with _running(command, own, log) as process:
        deadline = time.monotonic() + WORKER_TIMEOUT_S
        while REGISTERED not in _said(log):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SetupError(f"The worker {name} did not become ready:\n{_last(_said(log))}")
            time.sleep(LOOK_EVERY_S)
        yield Worker(process.pid, log)


def _said(log: Path) -> str:
    return log.read_text(errors="replace")


@contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=PROJECT,
            env=dict(environment),
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C ends the benchmark, which ends this; it must not end both at once.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        status = state.read(folder / "state" / STATE_FILE)
        if status is not None and status.is_ready:
            return
        if process.poll() is not None:
            raise SetupError(_last(_said(folder / "up.log")))
        for part in status.parts if status else ():
            if part.state is PartState.FAILED:
                said = _last(Path(part.log).read_text(errors="replace"))
                raise SetupError(f"{part.name} failed: {part.detail}\n{said}")
        if time.monotonic() > deadline:
            raise SetupError(f"The models were not ready within {START_TIMEOUT_S:g} s.")
        time.sleep(LOOK_EVERY_S)


def _last(text: str) -> str:
    return "\n".join(text.splitlines()[-SHOWN_LINES:])
