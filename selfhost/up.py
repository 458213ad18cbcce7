"""`python -m selfhost up`: starts the whole stack in order and keeps it up."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Literal

import typer
import yaml
from filelock import FileLock, Timeout
from rich.console import Console

from selfhost import command_line, models, preflight, room_server, state
from selfhost.board import Board, JsonBoard, LineBoard, LiveBoard, last_lines
from selfhost.engines import dequantised, environment, gpu, vllm
from selfhost.engines.choice import SMALL_MODEL
from selfhost.errors import SetupError, told_plainly
from selfhost.folders import state_root
from selfhost.parts import (
    GENERATION,
    NAMES,
    PAGE,
    PROJECT,
    ROOM_SERVER,
    Part,
    Profile,
    build,
    choose,
    generation_engine,
)
from selfhost.sentinel import Sentinel
from selfhost.settings import StackSettings
from selfhost.state import PartState, PartStatus, StackStatus
from selfhost.status import STATE_FILE
from selfhost.supervise import Supervisor

ROOM_SERVER_CONFIG = "room-server.yaml"
LOCK_FILE = "stack.lock"
INSTRUCTIONS = "instructions.json"


@told_plainly
def up(
    profile: Annotated[
        Literal["auto", "cpu", "gpu"],
        typer.Option(help="Generation on the CPU or on a GPU. auto: gpu where there is one."),
    ] = "auto",
    only: Annotated[
        str,
        typer.Option(metavar="NAME[,NAME]", help=f"Start only these of: {', '.join(NAMES)}."),
    ] = "",
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on, instead of SELFHOST_HOST or 127.0.0.1."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page once it is ready.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the state as lines of JSON, for scripts.")
    ] = False,
) -> None:
    """Start the room server, the models, the worker and the page, and keep them up.

    Ctrl-C ends all of them.
    """
    settings = StackSettings.load(**({"selfhost_host": host} if host else {}))
    chosen: Profile = ("gpu" if gpu.count() else "cpu") if profile == "auto" else profile
    folder = state_root()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _sole_stack(folder):
        config = folder / ROOM_SERVER_CONFIG
        every = build(
            settings,
            chosen,
            room_server_program=room_server.find(),
            room_server_config=config,
            instructions=folder / INSTRUCTIONS,
        )
        parts = choose(every, _names(only, every))
        _check(parts, settings, chosen)
        _write_privately(config, _room_server_configuration(settings))
        if any(part.name == GENERATION for part in parts):
            _write_privately(folder / INSTRUCTIONS, _instructions())
        board = _board(as_json)
        stack = _Stack(parts, settings, folder, board, open_browser=browser)
        ended_well = asyncio.run(stack.run())
    if not ended_well:
        raise typer.Exit(1)


class _Stack:
    """One run of the stack: the supervisor, what is shown of it, and the signals that end it."""

    def __init__(
        self,
        parts: tuple[Part, ...],
        settings: StackSettings,
        folder: Path,
        board: Board,
        *,
        open_browser: bool,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._board = board
        self._open_browser = open_browser
        self._has_page = any(part.name == PAGE for part in parts)
        self._stack = secrets.token_hex(8)
        logs = folder / "logs"
        logs.mkdir(exist_ok=True, mode=0o700)
        for part in parts:
            (logs / f"{part.name}.log").unlink(missing_ok=True)
        self._supervisor = Supervisor(self._stack, parts, logs, self._changed)
        self._announced_ready = False
        self._announced_failed: set[str] = set()

    async def run(self) -> bool:
        """Until a signal ends it. Returns whether no part had failed."""
        stop, hurry = asyncio.Event(), asyncio.Event()

        def asked_to_end() -> None:
            if stop.is_set():
                hurry.set()
            stop.set()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, asked_to_end)
        sentinel = Sentinel(self._stack)
        try:
            await self._supervisor.run(stop, hurry)
        finally:
            sentinel.dismiss()
            self._write(None)
            self._board.close()
        return not self._announced_failed

    def _changed(self) -> None:
        status = self._write(os.getpid())
        self._board.show(status)
        for part in status.parts:
            if part.state is PartState.FAILED and part.name not in self._announced_failed:
                self._announced_failed.add(part.name)
                self._board.say(self._failure(part))
        if status.is_ready and not self._announced_ready:
            self._announced_ready = True
            self._announce(status)

    def _write(self, supervisor_pid: int | None) -> StackStatus:
        status = StackStatus(
            parts=self._supervisor.statuses(),
            page=self._settings.page_url if self._has_page and supervisor_pid else None,
            supervisor_pid=supervisor_pid,
            supervisor_created=state.process_created(supervisor_pid) if supervisor_pid else None,
        )
        state.write(self._folder / STATE_FILE, status)
        return status

    def _failure(self, part: PartStatus) -> str:
        said = last_lines(Path(part.log), self._settings.secrets)
        return f"{part.name} failed: {part.detail}" + (f"\n{said}" if said else "")

    def _announce(self, status: StackStatus) -> None:
        if status.page is None:
            self._board.say("All parts are ready. Ctrl-C ends them.")
            return
        self._board.say(f"All parts are ready. Open {status.page} and talk; Ctrl-C ends it all.")
        if self._open_browser:
            webbrowser.open(status.page)


def _names(only: str, parts: tuple[Part, ...]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in only.split(",") if name.strip())
    known = [part.name for part in parts]
    for name in names:
        if name not in NAMES:
            raise SetupError(f"--only {name}: expected one or more of: {', '.join(NAMES)}")
        if name not in known:
            raise SetupError(
                f"--only {name}: with these settings that part is not run here but reached "
                f"elsewhere; expected one or more of: {', '.join(known)}"
            )
    return names


def _sole_stack(folder: Path) -> FileLock:
    """Held while the stack is up; the kernel lets go of it whatever this process dies of."""
    lock = FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        running = state.read(folder / STATE_FILE)
        pid = f" (pid {running.supervisor_pid})" if running and running.supervisor_pid else ""
        raise SetupError(
            f"The stack is already running{pid}: see `python -m selfhost status`.\n"
            "Use that one, end it, or start another beside it with HOTEL_VOICE_STATE set to "
            "another folder and every port set to another number."
        ) from None
    return lock


def _check(parts: tuple[Part, ...], settings: StackSettings, profile: Profile) -> None:
    found = preflight.problems(
        parts,
        settings.selfhost_host,
        available_bytes=preflight.available_bytes(),
        owner=preflight.owner,
        require_model=models.path,
    )
    names = [part.name for part in parts]
    if ROOM_SERVER in names:
        try:
            room_server.path()
        except SetupError as error:
            found.append(str(error))
    if GENERATION in names and generation_engine(settings, profile) == "vllm":
        found += _vllm_problems(settings, profile)
    if found:
        raise SetupError("The stack was not started.\n" + "\n".join(f"- {one}" for one in found))


def _vllm_problems(settings: StackSettings, profile: Profile) -> list[str]:
    if profile == "cpu":
        found = []
        for required in (environment.require, lambda: dequantised.require(SMALL_MODEL)):
            try:
                required()
            except SetupError as error:
                found.append(f"generation: {error}")
        return found
    if not vllm.is_installed():
        return ["generation: vLLM is not installed. Install it: uv sync --extra gpu"]
    if not gpu.count():
        return ["generation: no GPU is seen here; start with --profile cpu"]
    if not vllm.has_model(model := settings.generation_gpu_model):
        return [
            f"generation: the model {model} is not there. Fetch it with `hf download {model}`, "
            "or set GENERATION_GPU_MODEL to a folder that holds one"
        ]
    return []


def _instructions() -> str:
    """What the agent tells the language model in every call, as it says itself.

    Raises:
        SetupError: its own settings cannot work.
    """
    asked = subprocess.run(
        [sys.executable, "-m", "agent", "instructions"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        raise SetupError(f"The stack was not started.\n{asked.stderr.strip()}")
    return asked.stdout


def _room_server_configuration(settings: StackSettings) -> str:
    configuration = room_server.configuration(
        settings.selfhost_host, settings.livekit_port, settings.room_key, settings.room_secret
    )
    return yaml.safe_dump(configuration, sort_keys=False)


def _write_privately(path: Path, text: str) -> None:
    """It holds the room server's keys."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def _board(as_json: bool) -> Board:
    if as_json:
        return JsonBoard()
    console = Console()
    return LiveBoard(console) if console.is_terminal else LineBoard(console)


def main() -> None:
    command_line.run(up, "up")
