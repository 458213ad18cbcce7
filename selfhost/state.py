"""What a running stack says about itself, in a file that any process of the user can read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil

from selfhost.errors import SetupError

VERSION = 1


class PartState(StrEnum):
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class PartStatus:
    """One part, as `status --json` prints it.

    Args:
        pid: None while there is no process.
        since_s: seconds in this state, when this was written.
        ready_after_s: seconds that the last start took; None before the first one was ready.
        memory_bytes: of the process and all below it; None while there is none.
        detail: what it waits for or why it failed, for people.
    """

    name: str
    state: PartState
    pid: int | None = None
    port: int | None = None
    since_s: float = 0.0
    ready_after_s: float | None = None
    restarts: int = 0
    memory_bytes: int | None = None
    detail: str = ""
    log: str = ""


@dataclass(frozen=True)
class StackStatus:
    """The whole stack. `supervisor_pid` is None when nothing runs."""

    parts: tuple[PartStatus, ...]
    page: str | None
    supervisor_pid: int | None
    supervisor_created: float | None = None

    @property
    def is_ready(self) -> bool:
        return bool(self.parts) and all(part.state is PartState.READY for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        return {"v": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StackStatus:
        """Raises KeyError, TypeError or ValueError if it is something else."""
        if data.pop("v") != VERSION:
            raise ValueError("another version's state")
        parts = tuple(
            PartStatus(**{**part, "state": PartState(part["state"])}) for part in data.pop("parts")
        )
        return cls(parts=parts, **data)


def write(path: Path, status: StackStatus) -> None:
    """Replace the file as a whole: a reader sees the old state or the new one."""
    arriving = path.with_suffix(f".{os.getpid()}")
    arriving.write_text(json.dumps(status.to_dict()))
    arriving.replace(path)


def process_created(pid: int) -> float | None:
    """When the process with this number was started; None if there is none. Numbers come again."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def read(
    path: Path, created: Callable[[int], float | None] = process_created
) -> StackStatus | None:
    """The state of the stack, true now: if its supervisor is gone, every part is stopped.

    Args:
        path: the state file.
        created: when the process with a number was started.

    Returns:
        None if no stack was ever started here.

    Raises:
        SetupError: the file is not a state file of this version.
    """
    try:
        status = StackStatus.from_dict(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SetupError(
            f"{path} is not a state file that this version can read; it may be removed"
        ) from error
    supervisor = status.supervisor_pid
    if supervisor is not None and created(supervisor) == status.supervisor_created:
        return status
    return replace(
        status,
        supervisor_pid=None,
        supervisor_created=None,
        page=None,
        parts=tuple(
            PartStatus(
                name=part.name,
                state=PartState.STOPPED,
                port=part.port,
                restarts=part.restarts,
                detail=part.detail if part.state is PartState.FAILED else "",
                log=part.log,
            )
            for part in status.parts
        ),
    )
