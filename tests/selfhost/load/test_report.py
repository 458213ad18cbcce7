from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from agent.timeline.events import Event, EventType
from selfhost.load.caller import CallRecord
from selfhost.load.display import show_call, show_table
from selfhost.load.ears import audible_spans
from selfhost.load.machine import Machine
from selfhost.load.microphone import Utterance
from selfhost.load.observed import Observed
from selfhost.load.recording import Side, stereo
from selfhost.load.report import CallReport, Figure, build_report, check, figure, summarise
from selfhost.load.script import Script
from tests.selfhost.load.double import FRAME, RATE, tone

MACHINE = Machine(cores=2, loadavg_1min_start=0.5, loadavg_1min_end=0.75, cpu_percent=40.0)
STARTED = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def side(seconds: float, *sounds: tuple[float, float]) -> Side:
    """A side of silence with tones from one moment to another."""
    line = np.zeros(round(seconds * RATE), dtype=np.int16)
    for start_s, end_s in sounds:
        begin = round(start_s * RATE)
        line[begin : begin + round((end_s - start_s) * RATE)] = tone(end_s - start_s)
    made = Side(RATE)
    for index, frame in enumerate(line.reshape(-1, FRAME)):
        made.add(frame, index * 0.01)
    return made


def call(script: dict[str, Any], *events: tuple[float, EventType, dict[str, Any]]) -> CallReport:
    """A call with a greeting and one turn, from 2 to 3 s, answered at 4.2 s."""
    observed = Observed()
    for seq, (at_s, kind, fields) in enumerate(events, start=1):
        observed.add_packet(Event(seq, 0, kind, 0.0, STARTED, fields).to_json().encode(), at_s)
    record = CallRecord(
        caller=side(7.0, (2.0, 3.0)),
        agent=side(7.0, (0.5, 1.0), (4.2, 5.0)),
        observed=observed,
        utterances=[Utterance(200, 310)],
        turns=[0],
        over_agent=[False],
    )
    sound = stereo(record.caller, record.agent)
    record.agent_spans = audible_spans(sound[:, 1], RATE)
    return build_report(
        Script.model_validate({"name": "example", **script}),
        record,
        sound,
        room="room",
        started_at=STARTED,
        machine=MACHINE,
    )


TURNS = [{"say": "Two guests."}]
EVENTS = (
    (0.5, EventType.AGENT_SPEAKING, {}),
    (1.0, EventType.AGENT_STOPPED, {"text": "Good evening.", "interrupted": False}),
    (2.6, EventType.PARTIAL_TRANSCRIPT, {"text": "two"}),
    (3.5, EventType.FINAL_TRANSCRIPT, {"text": "Two guests."}),
    (4.2, EventType.AGENT_SPEAKING, {}),
    (5.0, EventType.AGENT_STOPPED, {"text": "For two. Is it confirmed?", "interrupted": False}),
    (5.0, EventType.BOOKING_UPDATED, {"booking": {"guests": 2, "check_in": "2027-10-18"}}),
)


def test_a_turn_has_its_words_and_its_figures() -> None:
    report = call({"turns": TURNS}, *EVENTS)
    (turn,) = report.turns
    assert (turn.said, turn.heard) == ("Two guests.", "Two guests.")
    assert turn.answered == "For two. Is it confirmed?"
    assert turn.gap_ms == pytest.approx(1200, abs=10)
    assert turn.gap_live_ms == pytest.approx(1200, abs=10)
    assert turn.first_partial_ms == pytest.approx(600, abs=10)
    assert turn.final_ms == pytest.approx(500, abs=10)
    assert (turn.cut_in, turn.interrupted, turn.missed) == (False, False, False)
    assert turn.replies == 1
    assert turn.uncut_gap_ms == turn.gap_ms


PARTS = {"end_of_speech": 250.0, "final_transcript": 400.0, "playout": 480.0, "network": None}


def answered_after(gap_ms: float | None, waterfall: Any) -> CallReport:
    """The worker says that of the reply to the turn; of the greeting it knows no gap."""
    said = {"gap_ms": gap_ms, "waterfall": waterfall}
    return call(
        {"turns": TURNS},
        (0.5, EventType.AGENT_SPEAKING, {"gap_ms": None, "waterfall": None}),
        (2.3, EventType.AGENT_SPEAKING, {"gap_ms": 90.0, "waterfall": None}),  # into the turn
        (4.1, EventType.AGENT_SPEAKING, said),
    )


def test_the_workers_gap_stands_beside_the_callers() -> None:
    report = answered_after(1140.0, PARTS)
    (turn,) = report.turns
    assert turn.worker_gap_ms == 1140.0
    assert turn.worker_gap_off_ms == pytest.approx(60, abs=10)
    assert turn.waterfall == PARTS
    assert turn.waterfall_off_ms == 10.0
    assert report.summary.worker_gap_off_ms.n == 1
    assert report.summary.waterfall_worst_off_ms == 10.0
    assert report.summary.waterfall["playout"] == Figure(480.0, 480.0, 1)
    assert report.summary.waterfall["network"].n == 0


@pytest.mark.parametrize("waterfall", [None, "fast", {"playout": -5.0}, {"thinking": 5.0}])
def test_what_is_no_waterfall_is_not_reported_as_one(waterfall: Any) -> None:
    (turn,) = answered_after(1140.0, waterfall).turns
    assert turn.worker_gap_ms == 1140.0
    assert turn.waterfall is None


def test_a_gap_that_the_worker_does_not_know_differs_from_nothing() -> None:
    report = answered_after(None, None)
    assert report.turns[0].worker_gap_off_ms is None
    assert report.summary.waterfall_worst_off_ms is None


def test_a_reply_that_begins_anew_has_a_longer_gap_of_its_own() -> None:
    anew = (4.55, EventType.AGENT_SPEAKING, {})
    report = call({"turns": TURNS}, *EVENTS[:5], anew, *EVENTS[5:])
    (turn,) = report.turns
    assert turn.replies == 2
    assert turn.gap_ms == pytest.approx(1200, abs=10)
    assert turn.uncut_gap_ms == pytest.approx(1550, abs=10)
    assert report.summary.restarts == 1
    assert report.greeting == "Good evening."
    assert report.greeting_ms == pytest.approx(500, abs=10)
    assert (report.failures, report.warnings) == ([], [])


def test_a_turn_that_was_said_again_is_told_of_as_it_was_the_last_time() -> None:
    observed = Observed()
    events = [
        (1.5, EventType.FINAL_TRANSCRIPT, {"text": "Too."}),
        (1.6, EventType.AGENT_SPEAKING, {}),
        (1.9, EventType.AGENT_STOPPED, {"text": "How many?", "interrupted": False}),
        (3.4, EventType.FINAL_TRANSCRIPT, {"text": "Two."}),
        (3.8, EventType.AGENT_SPEAKING, {}),
        (4.4, EventType.AGENT_STOPPED, {"text": "Two guests.", "interrupted": False}),
    ]
    for seq, (at_s, kind, fields) in enumerate(events, start=1):
        observed.add_packet(Event(seq, seq, kind, 0.0, STARTED, fields).to_json().encode(), at_s)
    record = CallRecord(
        caller=side(5.0, (0.5, 1.0), (2.5, 3.0)),
        agent=side(5.0, (1.6, 1.9), (3.8, 4.4)),
        observed=observed,
        utterances=[Utterance(40, 110), Utterance(240, 310)],
        turns=[0, 0],
        over_agent=[False, False],
    )
    turns = [{"say": "Two.", "answered_includes": "guests", "never_says": "many"}]
    report = build_report(
        Script.model_validate({"name": "again", "turns": turns}),
        record,
        stereo(record.caller, record.agent),
        room="room",
        started_at=STARTED,
        machine=MACHINE,
    )
    assert report.failures == []
    (turn,) = report.turns
    assert (turn.heard, turn.answered, turn.asked_again) == ("Two.", "Two guests.", ["How many?"])
    assert turn.gap_ms == pytest.approx(800, abs=10)


def test_the_json_holds_the_timeline_and_when_each_event_was_received() -> None:
    timeline = call({"turns": TURNS}, *EVENTS).to_dict()["timeline"]
    assert [(one["received_s"], one["type"]) for one in timeline] == [
        (at_s, kind.value) for at_s, kind, _ in EVENTS
    ]
    assert timeline[3]["text"] == "Two guests."


def test_what_was_not_measured_is_null_in_the_json() -> None:
    report = call({"turns": TURNS})
    data = json.loads(json.dumps(report.to_dict()))
    assert data["turns"][0]["first_partial_ms"] is None
    assert data["turns"][0]["final_ms"] is None
    assert data["turns"][0]["interrupted"] is None
    assert data["booking"] is None
    assert data["timeline"] == []
    assert data["summary"]["final_ms"] == {"p50": None, "p95": None, "n": 0}
    assert data["summary"]["machine"]["cores"] == 2


def test_a_final_from_before_the_end_of_the_turn_is_not_the_turns_final() -> None:
    report = call({"turns": TURNS}, (2.5, EventType.FINAL_TRANSCRIPT, {"text": "Two"}))
    assert report.turns[0].heard == "Two"
    assert report.turns[0].final_ms is None


@pytest.mark.parametrize(
    ("expect", "failure"),
    [
        ({"booking": {"guests": 2, "check_in": {"next": "10-18"}}}, None),
        ({"booking": {"guests": 3}}, "booking.guests: expected 3, got 2"),
        ({"booking": {"check_in": {"next": "10-16"}}}, "booking.check_in: expected '2027-10-16'"),
        ({"answered_includes": ["good evening", "for two"]}, None),
        ({"answered_includes": ["three"]}, "answers: expected words that match 'three'"),
        ({"last_answer_includes": ["evening"]}, "last answer: expected"),
        ({"never_says": ["is it confirmed"]}, "answers: expected nothing"),
    ],
)
def test_each_expectation_can_fail(expect: dict[str, Any], failure: str | None) -> None:
    failures = call({"turns": TURNS, "expect": expect}, *EVENTS).failures
    if failure is None:
        assert failures == []
    else:
        assert len(failures) == 1
        assert failures[0].startswith(failure)


@pytest.mark.parametrize(
    ("turn", "failure"),
    [
        ({"answered_includes": ["for two"], "never_says": ["evening"]}, None),
        ({"answered_includes": ["evening"]}, "turns[0] answer"),
        ({"never_says": ["for two"]}, "turns[0] answer"),
        ({"interrupts": True}, "turns[0].interrupted"),
        ({"one_reply": True}, None),
    ],
)
def test_each_expectation_of_a_turn_can_fail(turn: dict[str, Any], failure: str | None) -> None:
    failures = call({"turns": [{**TURNS[0], **turn}]}, *EVENTS).failures
    assert [one.split(":")[0] for one in failures] == ([failure] if failure else [])


MURMUR = {"say": {"noise": "murmur"}, "over_agent_ms": 500}


def over_agent(turn: dict[str, Any], *events: tuple[float, EventType, dict[str, Any]]) -> list[str]:
    """What failed of a turn over a reply that fell silent after half a second, for a second."""
    turns = [{**MURMUR, **turn}]
    (in_call,) = call({"turns": turns}, *events).turns
    in_call = replace(in_call, stop_ms=500.0, pause_ms=1000.0)
    script = Script.model_validate({"name": "example", "turns": turns})
    return [str(one) for one in check(script, {}, "", [in_call], None, hung_up=False)]


def test_a_reply_goes_on_if_it_comes_to_its_end_and_nothing_is_said_in_answer() -> None:
    goes_on = {"reply_goes_on": True}
    ended = (5.0, EventType.AGENT_STOPPED, {"text": "For two.", "interrupted": False})
    begun = (4.9, EventType.AGENT_SPEAKING, {})
    given_up = (5.0, EventType.AGENT_STOPPED, {"text": "For", "interrupted": True})
    assert over_agent(goes_on, ended) == []
    for events in ([], [given_up], [begun, ended]):
        (failure,) = over_agent(goes_on, *events)
        assert failure.startswith("turns[0]: expected the agent to finish")


def test_an_agent_stops_in_time_or_the_turn_fails() -> None:
    assert over_agent({"stops_within_ms": 500}) == []
    (failure,) = over_agent({"stops_within_ms": 400})
    assert failure == "turns[0].stop_ms: expected 400 at most, got 500.0"


def test_who_hangs_up_is_expected() -> None:
    (turn,) = call({"turns": TURNS}, *EVENTS).turns
    missed = replace(turn, missed=True)
    for expected, hung_up, failures in ((True, True, 0), (True, False, 1), (False, True, 2)):
        expect = {"agent_hangs_up": expected}
        script = Script.model_validate({"name": "example", "turns": TURNS, "expect": expect})
        assert len(check(script, {}, "", [missed], None, hung_up=hung_up)) == failures


def test_a_call_that_ends_early_fails() -> None:
    report = call({"turns": [*TURNS, {"say": "And then?"}]}, *EVENTS)
    assert report.failures == ["call: expected 2 turns, got an end after 1"]


def test_percentiles_stand_with_their_n_and_leave_out_what_is_unknown() -> None:
    assert figure([100.0, None, 300.0]) == Figure(p50=200.0, p95=290.0, n=2)
    assert figure([None]) == Figure(None, None, 0)


def test_a_gap_of_a_turn_that_the_agent_cut_into_is_counted_apart() -> None:
    (turn,) = call({"turns": TURNS}, *EVENTS).turns
    cut_in = replace(turn, cut_in=True, gap_ms=-500.0)
    summary = summarise([turn, cut_in])
    assert (summary.gap_ms.n, summary.cut_ins, summary.turns) == (1, 1, 2)


def test_a_person_sees_words_figures_booking_and_failures() -> None:
    report = call({"turns": TURNS, "expect": {"booking": {"guests": 3}}}, *EVENTS)
    out = io.StringIO()
    console = Console(file=out, width=140, highlight=False)
    show_call(console, report)
    show_table(console, [report, report], summarise([*report.turns, *report.turns]), MACHINE)
    shown = out.getvalue()
    for expected in (
        "Good evening.",
        "gap 1200 ms",
        "guests        2  (expected 3)",
        "FAILED booking.guests: expected 3, got 2",
        "p50 1200  p95 1200  n 1",
        "2 cores, 40 % busy, load 0.5 → 0.75",
        "2 of 2 failed",
    ):
        assert expected in shown, shown
