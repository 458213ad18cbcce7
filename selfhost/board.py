"""What a person, or a script, sees of the stack while it is up."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from selfhost.state import PartState, PartStatus, StackStatus

LAST_LINES = 12
COLOURS = {
    PartState.STARTING: "yellow",
    PartState.READY: "green",
    PartState.FAILED: "bold red",
    PartState.STOPPED: "dim",
}


class Board(Protocol):
    """Shows the stack; `show` is called at every change and every few seconds."""

    def show(self, status: StackStatus) -> None: ...

    def say(self, text: str) -> None: ...

    def close(self) -> None: ...


def table(status: StackStatus) -> Table:
    """The parts as a table: state, time, memory, restarts."""
    view = Table(box=None, pad_edge=False, show_edge=False)
    view.add_column("part", no_wrap=True)
    view.add_column("state", no_wrap=True)
    view.add_column("seconds", justify="right", no_wrap=True)
    view.add_column("memory", justify="right", no_wrap=True)
    view.add_column("restarts", justify="right", no_wrap=True)
    view.add_column("port", justify="right", no_wrap=True)
    view.add_column("")
    for part in status.parts:
        view.add_row(
            part.name,
            Text(part.state, style=COLOURS[part.state]),
            _seconds(part),
            memory(part.memory_bytes),
            str(part.restarts) if part.restarts else "",
            str(part.port) if part.port else "",
            part.detail,
        )
    return view


def _seconds(part: PartStatus) -> str:
    """How long the start took once ready; how long it has been at it before."""
    if part.state is PartState.READY and part.ready_after_s is not None:
        return f"{part.ready_after_s:.1f}"
    return f"{part.since_s:.1f}" if part.state is PartState.STARTING else ""


def memory(size_bytes: int | None) -> str:
    return "" if size_bytes is None else f"{size_bytes / 1e6:,.0f} MB"


class LiveBoard:
    """A table that stays in place, on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=4)
        self._live.start()

    def show(self, status: StackStatus) -> None:
        self._live.update(table(status))

    def say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, highlight=False, markup=False)

    def close(self) -> None:
        self._live.stop()


class LineBoard:
    """One line a change, where there is no terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._shown: dict[str, tuple[PartState, str]] = {}

    def show(self, status: StackStatus) -> None:
        for part in status.parts:
            now = (part.state, part.detail)
            if self._shown.get(part.name) != now:
                self._shown[part.name] = now
                detail = part.detail
                if part.state is PartState.READY and not detail:
                    size = memory(part.memory_bytes)
                    detail = f"after {part.ready_after_s:.1f} s" + (f", {size}" if size else "")
                self.say(f"{self._elapsed():6.1f} s  {part.name:<13} {part.state:<9} {detail}")

    def say(self, text: str) -> None:
        self._console.print(text.rstrip(), soft_wrap=True, highlight=False, markup=False)

    def close(self) -> None:
        pass

    def _elapsed(self) -> float:
        return time.monotonic() - self._began


class JsonBoard:
    """One JSON object a line, in the form of `status --json`, for scripts."""

    def __init__(self) -> None:
        self._shown: Sequence[tuple[object, ...]] = ()

    def show(self, status: StackStatus) -> None:
        now = [(part.name, part.state, part.pid, part.restarts) for part in status.parts]
        if now != self._shown:
            self._shown = now
            print(json.dumps(status.to_dict()), flush=True)

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


def last_lines(log: Path, secrets: Sequence[str], lines: int = LAST_LINES) -> str:
    """The end of a part's log, indented, without the secrets."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        return ""
    for secret in secrets:
        text = text.replace(secret, "***")
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])
