"""A call's timeline as a file: one event a line, written while the call goes on, and read back."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from agent.timeline.events import Event, EventType
from agent.timeline.order import in_order
from agent.timeline.plausibility import implausible
from agent.timeline.timeline import Timeline

logger = logging.getLogger("agent.timeline")

SUFFIX = ".jsonl"


class RecordingError(Exception):
    """A file that is no recording; the text says what was expected and what came."""


class Recorder:
    """Writes each event as it happens, so that a worker that dies leaves what was until then.

    Args:
        timeline: the call's.
        folder: gets one file a call, which only this user may read: it holds what was said.
    """

    def __init__(self, timeline: Timeline, folder: Path) -> None:
        self._timeline = timeline
        self._folder = folder
        self._file: TextIO | None = None

    def start(self, call_id: str) -> None:
        """Write what has happened so far and everything from now on.

        A folder that cannot be written to ends the recording and not the call; the log says so.
        """
        began = self._timeline.clock.wall_at(0)
        name = f"{began:%Y%m%dT%H%M%SZ}-{_in_file_names(call_id)}{SUFFIX}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self._folder / name
            path.touch(mode=0o600)
            # Line buffered: a line is in the kernel's hands before the next event.
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            logger.warning("this call is not recorded: %s: %s", self._folder, error.strerror)
            return
        for event in self._timeline.events:
            self._write(event)
        self._timeline.subscribe(self._write)

    def _write(self, event: Event) -> None:
        if self._file is None:
            return
        try:
            self._file.write(event.to_json() + "\n")
        except OSError as error:
            logger.warning("the recording ends here: %s", error.strerror)
            self._file = None
            return
        if event.type is EventType.CALL_ENDED:
            self._file.close()
            self._file = None


def recordings_in(folder: Path, call_id: str | None = None) -> list[Path]:
    """The recordings of a folder, or those of one call; none where there is no such folder.

    A call whose worker was replaced in its middle has more than one.
    """
    of_call = "" if call_id is None else _in_file_names(call_id)
    return [
        path
        for path in folder.glob(f"*{SUFFIX}")
        if not of_call or path.stem.partition("-")[2] == of_call
    ]


def _in_file_names(call_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", call_id)


@dataclass(frozen=True)
class Recording:
    """A call as it was recorded.

    Args:
        events: in order of `seq`, each once; only those that can be true.
        problems: what is missing, unreadable or impossible, for people.
    """

    events: tuple[Event, ...]
    problems: tuple[str, ...]


def read(path: Path) -> Recording:
    """Read a recording and judge it.

    Raises:
        RecordingError: the file cannot be read, or no line of it is an event.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: cannot be read ({type(error).__name__})") from None
    events: dict[int, Event] = {}
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            event = Event.from_json(line)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
            continue
        if event.seq in events:
            problems.append(f"line {number}: event {event.seq} comes a second time")
        elif reason := implausible(event):
            problems.append(f"line {number}: {reason}")
        else:
            events[event.seq] = event
    if not events:
        first = f" ({problems[0]})" if problems else ""
        raise RecordingError(
            f"{path}: expected a recording, one timeline event a line; found none{first}"
        )
    ordered = sorted(events.values(), key=lambda event: event.seq)
    kept, impossible = in_order(ordered)
    return Recording(tuple(kept), (*problems, *_gaps(ordered), *impossible))


def _gaps(events: Sequence[Event]) -> list[str]:
    missing = []
    expected = 1
    for event in events:
        if event.seq > expected:
            missing.append(f"events {expected} to {event.seq - 1} are missing")
        expected = event.seq + 1
    return missing
