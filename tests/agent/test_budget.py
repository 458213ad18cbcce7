"""The delay budget of recorded calls, as a user's own checks would ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import budget
from agent.timeline.events import EventType
from agent.timeline.recording import Recorder
from agent.timeline.timeline import Timeline
from tests.agent.timeline.test_events import Clocks


def record(folder: Path, *gaps_ms: float | None) -> None:
    timeline = Timeline(Clocks().call_clock())
    Recorder(timeline, folder).start("call")
    for gap_ms in gaps_ms:
        timeline.emit(EventType.AGENT_SPEAKING, final_to_speech_ms=None, gap_ms=gap_ms)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        budget.main(list(arguments))
    return int(ended.value.code or 0)


def test_calls_within_the_budget_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path, None, 400.0, 600.0, 800.0)
    assert run(str(tmp_path), "--p95-gap-ms", "1000") == budget.KEPT
    assert "n 3" in capsys.readouterr().out


def test_the_parts_of_the_gap_are_told_the_longest_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timeline = Timeline(Clocks().call_clock())
    Recorder(timeline, tmp_path).start("call")
    waterfall = {"end_of_speech": 300.0, "first_audio": 500.0, "network": None}
    timeline.emit(EventType.AGENT_SPEAKING, gap_ms=800.0, waterfall=waterfall)
    timeline.emit(EventType.AGENT_SPEAKING, gap_ms=None, waterfall=None)
    assert run(str(tmp_path)) == budget.KEPT
    told = "p95 of its parts: first_audio 500 ms, end_of_speech 300 ms"
    assert told in capsys.readouterr().out


def test_calls_over_the_budget_do_not(tmp_path: Path) -> None:
    record(tmp_path, 400.0, 600.0, 2800.0)
    assert run(str(tmp_path), "--p95-gap-ms", "1000") == budget.OVER


@pytest.mark.parametrize("gaps_ms", [(), (None, None)])
def test_without_a_known_gap_nothing_is_passed(
    tmp_path: Path, gaps_ms: tuple[float | None, ...]
) -> None:
    timeline_only = tmp_path / "calls"
    record(timeline_only, *gaps_ms)
    assert run(str(timeline_only)) == budget.NOT_POSSIBLE


def test_a_folder_without_recordings_is_not_a_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(tmp_path)) == budget.NOT_POSSIBLE
    assert "expected recordings" in capsys.readouterr().out
