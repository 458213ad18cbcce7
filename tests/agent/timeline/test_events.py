"""The contract on the wire: what is written is read back, and what is not of it is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from livekit import rtc

from agent.timeline.clock import CallClock
from agent.timeline.events import Event, EventType
from agent.timeline.publisher import SNAPSHOT_BYTES, snapshot
from agent.timeline.timeline import Timeline


class Clocks:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.monotonic_s = 1000.0
        self.wall_s = datetime(2026, 10, 1, tzinfo=UTC).timestamp()

    def pass_s(self, seconds: float) -> None:
        self.monotonic_s += seconds
        self.wall_s += seconds

    def call_clock(self) -> CallClock:
        return CallClock(lambda: self.monotonic_s, lambda: self.wall_s)


def test_an_event_is_read_back_as_it_was_written() -> None:
    event = Event(
        seq=3,
        turn=1,
        type=EventType.FINAL_TRANSCRIPT,
        t_ms=1234.5,
        wall=datetime(2026, 10, 1, 12, tzinfo=UTC),
        fields={"text": "From the sixteenth – señor", "speech_to_final_ms": None},
    )
    assert Event.from_json(event.to_json()) == event


@pytest.mark.parametrize("line", ["", "[]", "null", "{}", '{"v": 1}', '{"v": 2, "seq": 1}', "\xff"])
def test_what_is_not_of_the_contract_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"timeline|JSON|Expecting"):
        Event.from_json(line)


def test_sequence_numbers_have_no_gaps_and_both_clocks_agree() -> None:
    clocks = Clocks()
    timeline = Timeline(clocks.call_clock())
    timeline.emit(EventType.CALL_STARTED)
    clocks.pass_s(1.5)
    timeline.emit(EventType.SPEECH_STARTED)
    timeline.emit(EventType.SPEECH_ENDED, t_ms=1200.0)
    assert [event.seq for event in timeline.events] == [1, 2, 3]
    assert [event.t_ms for event in timeline.events] == [0.0, 1500.0, 1200.0]
    began = timeline.events[0].wall
    for event in timeline.events:
        assert (event.wall - began).total_seconds() * 1000 == pytest.approx(event.t_ms, abs=0.01)


def test_a_wall_clock_that_is_set_back_moves_no_duration() -> None:
    clocks = Clocks()
    clock = clocks.call_clock()
    clocks.pass_s(10)
    clocks.wall_s -= 3600
    clocks.pass_s(1)
    assert clock.now_ms() == pytest.approx(11_000)
    assert clock.ms_at(clocks.wall_s - 0.25) == pytest.approx(10_750)


def test_a_snapshot_pages_through_the_whole_call() -> None:
    timeline = Timeline(Clocks().call_clock())
    for number in range(300):
        timeline.emit(EventType.PARTIAL_TRANSCRIPT, text=f"word {number} " * 12)
    seen: list[int] = []
    next_seq: int | None = 1
    while next_seq is not None:
        page = snapshot(timeline.events, json.dumps({"from_seq": next_seq}))
        assert len(page.encode()) <= SNAPSHOT_BYTES + 100
        answer = json.loads(page)
        seen += [event["seq"] for event in answer["events"]]
        next_seq = answer["next_seq"]
    assert seen == list(range(1, 301))


def test_a_snapshot_request_that_is_no_json_gets_one_clear_error() -> None:
    with pytest.raises(rtc.RpcError, match="from_seq"):
        snapshot([], "give me all")
