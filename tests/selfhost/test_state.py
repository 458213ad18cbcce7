"""The state file: what another process may believe of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from selfhost import state
from selfhost.errors import SetupError
from selfhost.state import PartState, PartStatus, StackStatus


def running(supervisor_pid: int, created: float | None) -> StackStatus:
    ready = PartStatus("page", PartState.READY, pid=42, port=8501, memory_bytes=7, log="page.log")
    failed = PartStatus("worker", PartState.FAILED, port=8081, detail="ended with status 2")
    return StackStatus(
        parts=(ready, failed),
        page="http://127.0.0.1:8501",
        supervisor_pid=supervisor_pid,
        supervisor_created=created,
    )


def test_a_live_supervisors_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    status = running(os.getpid(), state.process_created(os.getpid()))
    state.write(tmp_path / "stack.json", status)
    assert state.read(tmp_path / "stack.json") == status


def test_a_dead_supervisors_parts_are_stopped(tmp_path: Path) -> None:
    state.write(tmp_path / "stack.json", running(os.getpid(), 1.0))
    status = state.read(tmp_path / "stack.json", created=lambda pid: None)
    assert status is not None
    assert status.supervisor_pid is None
    assert status.page is None
    assert [part.state for part in status.parts] == [PartState.STOPPED, PartState.STOPPED]
    assert [part.pid for part in status.parts] == [None, None]
    assert status.parts[1].detail == "ended with status 2"


def test_another_process_with_the_dead_supervisors_number_is_not_taken_for_it(
    tmp_path: Path,
) -> None:
    state.write(tmp_path / "stack.json", running(os.getpid(), created=1.0))
    status = state.read(tmp_path / "stack.json")
    assert status is not None
    assert {part.state for part in status.parts} == {PartState.STOPPED}


def test_no_file_is_no_stack(tmp_path: Path) -> None:
    assert state.read(tmp_path / "stack.json") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"v": 999, "parts": []}'])
def test_a_file_of_something_else_is_said_to_be_that(tmp_path: Path, text: str) -> None:
    path = tmp_path / "stack.json"
    path.write_text(text)
    with pytest.raises(SetupError, match="not a state file"):
        state.read(path)
