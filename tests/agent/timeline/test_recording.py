"""A recording holds what happened, and a reader says what it cannot believe."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.timeline.events import EventType
from agent.timeline.recording import Recorder, Recording, RecordingError, read
from agent.timeline.timeline import Timeline
from tests.agent.timeline.test_events import Clocks

CALL_ID = "RM_abc/../def"


def a_call(folder: Path) -> Timeline:
    """A short call, recorded from its second event on."""
    timeline = Timeline(Clocks().call_clock())
    timeline.emit(EventType.CALL_STARTED, call_id=CALL_ID, providers={})
    Recorder(timeline, folder).start(CALL_ID)
    timeline.turn = 1
    timeline.emit(EventType.FINAL_TRANSCRIPT, text="Zoë, please", speech_to_final_ms=900.0)
    timeline.emit(EventType.AGENT_SPEAKING, final_to_speech_ms=None, gap_ms=640.0)
    return timeline


def the_file(folder: Path) -> Path:
    (path,) = folder.glob("*.jsonl")
    return path


def edited(folder: Path, number: int, **changes: Any) -> Recording:
    """The recording read back after one line of it was changed."""
    path = the_file(folder)
    lines = path.read_text().splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | changes)
    path.write_text("\n".join(lines) + "\n")
    return read(path)


def test_what_happened_before_and_after_the_start_is_read_back_as_it_was(tmp_path: Path) -> None:
    timeline = a_call(tmp_path)
    recording = read(the_file(tmp_path))
    assert [event.to_json() for event in recording.events] == [
        event.to_json() for event in timeline.events
    ]
    assert recording.problems == ()


def test_each_event_is_in_the_file_before_the_call_has_ended(tmp_path: Path) -> None:
    timeline = a_call(tmp_path)
    assert len(the_file(tmp_path).read_text().splitlines()) == 3
    timeline.emit(EventType.CALL_ENDED, reason="user_initiated")
    timeline.emit(EventType.CALL_ENDED, reason="again")
    assert len(the_file(tmp_path).read_text().splitlines()) == 4


def test_only_its_owner_may_read_what_was_said_and_no_room_name_leaves_the_folder(
    tmp_path: Path,
) -> None:
    a_call(tmp_path / "recordings")
    path = the_file(tmp_path / "recordings")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_written_to_does_not_end_the_call(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    timeline = a_call(taken / "recordings")
    assert len(timeline.events) == 3


def test_a_missing_event_is_said(tmp_path: Path) -> None:
    a_call(tmp_path)
    path = the_file(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[2]]) + "\n")
    assert read(path).problems == ("events 2 to 2 are missing",)


@pytest.mark.parametrize(
    ("number", "changes", "said"),
    [
        (2, {"gap_ms": -5.0}, "before its beginning"),
        (2, {"gap_ms": 200_000.0}, "more than 120000"),
        (2, {"gap_ms": "soon"}, "expected milliseconds"),
        (2, {"waterfall": {"playout": -5.0}}, "before its beginning"),
        (2, {"waterfall": {"playout": 600.0}}, "add up to 600.0 ms"),
        (2, {"t_ms": -1.0}, "before the call began"),
        (2, {"turn": -1}, "count up"),
        (2, {"v": 2}, "version 2"),
        (2, {"type": "dreamt"}, "dreamt"),
        (2, {"seq": 2}, "a second time"),
    ],
)
def test_what_cannot_be_true_is_named_and_left_out(
    tmp_path: Path, number: int, changes: dict[str, Any], said: str
) -> None:
    a_call(tmp_path)
    recording = edited(tmp_path, number, **changes)
    assert said in recording.problems[0]
    assert [event.seq for event in recording.events] == [1, 2]


def test_unknown_is_plausible_and_long_speech_too(tmp_path: Path) -> None:
    a_call(tmp_path)
    assert edited(tmp_path, 1, speech_to_final_ms=300_000.0).problems == ()
    assert edited(tmp_path, 2, gap_ms=None).problems == ()


@pytest.mark.parametrize("content", ["", "hello\n", '{"v": 1}\n', "[]\n1\n"])
def test_a_file_that_is_no_recording_is_refused_with_what_was_expected(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(RecordingError, match="expected a recording"):
        read(path)


@given(st.binary(max_size=300))
def test_whatever_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.jsonl"
    path.write_bytes(content)
    try:
        read(path)
    except RecordingError:
        return
