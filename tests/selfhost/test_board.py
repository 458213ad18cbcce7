"""What is shown of the stack."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from selfhost import board
from selfhost.state import PartState, PartStatus, StackStatus


def status(*parts: PartStatus) -> StackStatus:
    return StackStatus(parts=parts, page="http://127.0.0.1:8501", supervisor_pid=1)


STARTING = PartStatus("worker", PartState.STARTING, detail="waits for generation")
READY = PartStatus(
    "worker", PartState.READY, pid=7, ready_after_s=4.2, restarts=1, memory_bytes=390_000_000
)


def test_without_a_terminal_each_change_is_one_line() -> None:
    said = StringIO()
    lines = board.LineBoard(Console(file=said, width=200))
    for shown in (STARTING, STARTING, READY, READY):
        lines.show(status(shown))
    first, second = said.getvalue().splitlines()
    assert "worker" in first
    assert "waits for generation" in first
    assert "after 4.2 s, 390 MB" in second


def test_for_scripts_each_change_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    lines = board.JsonBoard()
    for shown in (STARTING, STARTING, READY):
        lines.show(status(shown))
    states = [
        json.loads(line)["parts"][0]["state"] for line in capsys.readouterr().out.split("\n")[:-1]
    ]
    assert states == ["starting", "ready"]


def test_the_table_shows_state_time_memory_and_restarts() -> None:
    said = StringIO()
    Console(file=said, width=120).print(board.table(status(READY)))
    row = said.getvalue().splitlines()[1].split()
    assert row == ["worker", "ready", "4.2", "390", "MB", "1"]


def test_unknown_memory_is_not_shown_as_zero() -> None:
    assert board.memory(None) == ""


def test_the_end_of_a_log_is_shown_without_keys(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)) + "key is hunter2\n")
    shown = board.last_lines(log, ["hunter2"])
    assert "line 99" in shown
    assert "line 10\n" not in shown
    assert "hunter2" not in shown
    assert "key is ***" in shown


def test_a_log_that_is_not_there_is_no_failure(tmp_path: Path) -> None:
    assert board.last_lines(tmp_path / "none.log", []) == ""
