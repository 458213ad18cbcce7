"""What recorded calls say about delay, as figures."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.timeline.events import EventType
from agent.timeline.recording import read
from tests.ui.recorded_calls import BEGAN, CLOUD, RecordedCall, booking_call, waterfall
from ui import latency
from ui.latency import GAP, STAGES, Call

BY_FIELD = {stage.field: stage for stage in STAGES}


def summary(path: Path) -> Call:
    recording = read(path)
    return latency.summarise(path.name, recording.events, recording.problems)


@pytest.fixture
def call(tmp_path: Path) -> Call:
    return summary(booking_call(tmp_path))


def test_a_call_is_summed_up_with_its_length_turns_and_slowest_gap(call: Call) -> None:
    assert call.began == BEGAN
    assert call.heard_turns == 3
    assert call.length_ms == pytest.approx(21_800, abs=1)
    assert call.slowest_gap_ms == 2300.0


def test_each_stage_of_a_turn_is_taken_from_the_event_that_carries_it(call: Call) -> None:
    assert dict(call.turns[1].delays_ms) == {
        "speech_to_final_ms": 2400.0,
        "silence_to_final_ms": 400.0,
        "final_to_speech_ms": 1900.0,
        "gap_ms": 2300.0,
        "end_of_speech_ms": 250.0,
        "final_transcript_ms": 150.0,
        "first_sentence_ms": 1500.0,
        "unexplained_ms": 400.0,
    }


def test_a_recording_without_parts_has_the_delays_alone(call: Call) -> None:
    assert not call.turns[0].delays_ms.keys() & {stage.field for stage in latency.PARTS_OF_GAP}
    assert latency.longest_parts(call.turns[0], 3) == []


def test_what_most_of_a_gap_was_spent_on_comes_first(call: Call) -> None:
    longest = latency.longest_parts(call.turns[1], 2)
    assert [stage.name for stage in longest] == ["First sentence", "Unexplained"]


def test_a_turn_leads_to_the_event_at_which_all_of_it_is_known(tmp_path: Path) -> None:
    path = booking_call(tmp_path)
    events = {event.seq: event for event in read(path).events}
    for turn in summary(path).turns:
        assert events[turn.seq].type is EventType.AGENT_SPEAKING
        assert events[turn.seq].turn == turn.turn


def test_a_caller_who_goes_on_after_a_pause_is_timed_to_the_last_final(tmp_path: Path) -> None:
    call = RecordedCall(tmp_path, "RM_pause")
    call.timeline.turn = 1
    for silence_ms in (500.0, 300.0):
        call.timeline.emit(
            EventType.FINAL_TRANSCRIPT,
            text="t",
            speech_to_final_ms=900.0,
            silence_to_final_ms=silence_ms,
        )
    # The reply pauses and goes on: the caller waited for its first sound.
    for gap_ms, parts in ((700.0, {}), (4000.0, {"check": 10.0})):
        call.timeline.emit(
            EventType.AGENT_SPEAKING,
            final_to_speech_ms=None,
            gap_ms=gap_ms,
            waterfall=waterfall(gap_ms, **parts),
        )
    (turn,) = summary(call.ends()).turns
    assert turn.delays_ms["silence_to_final_ms"] == 300.0
    assert turn.delays_ms["gap_ms"] == 700.0
    assert "final_to_speech_ms" not in turn.delays_ms
    assert "check_ms" not in turn.delays_ms


def test_what_was_not_measured_counts_nowhere_and_is_no_zero(tmp_path: Path) -> None:
    call = RecordedCall(tmp_path, "RM_typed")
    call.timeline.turn = 1
    call.timeline.emit(
        EventType.FINAL_TRANSCRIPT, text="t", speech_to_final_ms=None, silence_to_final_ms=None
    )
    call.timeline.emit(EventType.AGENT_SPEAKING, final_to_speech_ms=800.0, gap_ms=None)
    found = summary(call.ends())
    assert latency.figures(found.turns, GAP) == latency.Figures(None, None, 0)
    assert latency.figures(found.turns, BY_FIELD["final_to_speech_ms"]).n == 1
    assert found.slowest_gap_ms is None


@given(st.lists(st.floats(0, 120_000), min_size=1, max_size=50), st.floats(0, 100))
def test_percentiles_are_those_of_the_budget(values: list[float], percent: float) -> None:
    assert latency.percentile(values, percent) == pytest.approx(np.percentile(values, percent))


def test_turns_are_held_side_by_side_by_provider_set_and_by_day(tmp_path: Path) -> None:
    calls = [
        summary(booking_call(tmp_path, "RM_a")),
        summary(booking_call(tmp_path, "RM_b", providers=CLOUD, began=BEGAN + timedelta(days=1))),
    ]
    sets = latency.sets([turn for call in calls for turn in call.turns])
    assert {name: len(turns) for name, turns in sets.items()} == {
        "All calls": 6,
        "Providers: selfhosted/default for all": 3,
        "Providers: stt selfhosted/default, llm openrouter/openai/gpt-4.1-mini, "
        "tts selfhosted/default": 3,
        "Day: 2026-10-02": 3,
        "Day: 2026-10-01": 3,
    }


def test_a_call_near_midnight_has_the_day_of_utc(tmp_path: Path) -> None:
    path = booking_call(tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["wall"] = "2026-10-01T23:30:00-02:00"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert {turn.day for turn in summary(path).turns} == {"2026-10-02"}


def test_the_slowest_turns_come_first(call: Call) -> None:
    assert [turn.number for turn in latency.slowest(call.turns, 2)] == [2, 1]


def test_the_csv_has_a_line_for_each_turn_and_an_empty_cell_for_the_unknown(call: Call) -> None:
    rows = list(csv.DictReader(io.StringIO(latency.to_csv(call.turns))))
    assert [row["number"] for row in rows] == ["1", "2", "3"]
    assert rows[1]["gap_ms"] == "2300.0"
    assert rows[1]["llm"] == "selfhosted/default"
    assert set(BY_FIELD) <= rows[0].keys()
