"""A call's events as a tree of spans."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from agent.telemetry.spans import Span, TurnSpans
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline
from agent.timeline.waterfall import PARTS
from tests.agent.timeline.test_events import Clocks

SAID = "A double room for Priya Raman"
WATERFALL: dict[str, float | None] = {
    **dict.fromkeys(PARTS, 0.0),
    "end_of_speech": 250.0,
    "end_of_turn": 300.0,
    "first_token": None,
    "first_audio": 108.5,
    "network": 22.0,
    "unexplained": 20.0,
}
GAP_MS = 700.5


class Call:
    """A timeline whose spans are kept."""

    def __init__(self) -> None:
        self.timeline = Timeline(Clocks().call_clock())
        spans = TurnSpans()
        self.over: list[Span] = []
        self.timeline.subscribe(lambda event: self.over.extend(spans.read(event)))

    def emit(self, kind: EventType, t_ms: float, turn: int, **fields: Any) -> None:
        self.timeline.emit(kind, t_ms=t_ms, turn=turn, **fields)

    def turn(self, turn: int, at_ms: float, *, stops: bool = True) -> None:
        """A turn that takes four seconds, and its reply."""
        self.emit(EventType.SPEECH_STARTED, at_ms, turn)
        self.emit(EventType.PARTIAL_TRANSCRIPT, at_ms + 500, turn, text=SAID)
        self.emit(EventType.SPEECH_ENDED, at_ms + 1_000, turn)
        self.emit(EventType.FINAL_TRANSCRIPT, at_ms + 1_300, turn, text=SAID)
        self.emit(EventType.REPLY_STARTED, at_ms + 1_500, turn, source="code")
        self.emit(
            EventType.AGENT_SPEAKING,
            at_ms + 1_700,
            turn,
            final_to_speech_ms=400.0,
            gap_ms=GAP_MS,
            waterfall=WATERFALL,
        )
        if stops:
            self.emit(EventType.AGENT_STOPPED, at_ms + 4_000, turn, text=SAID, interrupted=False)


def child(span: Span, name: str) -> Span:
    (found,) = (one for one in span.children if one.name == name)
    return found


def everything(span: Span) -> list[Span]:
    return [span, *(below for one in span.children for below in everything(one))]


def test_the_parts_of_a_gap_lie_end_to_end_and_add_up_to_it() -> None:
    call = Call()
    call.turn(1, 2_000)
    call.emit(EventType.CALL_ENDED, 9_000, 1, reason="user_initiated")
    (turn,) = call.over
    gap = child(turn, "gap")
    assert gap.end - gap.start == timedelta(milliseconds=GAP_MS)
    assert [part.name for part in gap.children] == [
        *(name for name in PARTS if name not in ("first_token", "network")),
        "network",
    ]
    begins = gap.start
    for part in gap.children:
        assert part.start == begins
        begins = part.end
    assert begins == gap.end
    # The worker's own moment of its first sound: what the network adds comes after it.
    spoke = call.timeline.clock.wall_at(3_700)
    assert child(gap, "network").start == spoke


def test_a_turn_holds_its_speech_its_gap_and_its_reply() -> None:
    call = Call()
    call.turn(1, 2_000)
    call.emit(EventType.CALL_ENDED, 9_000, 1, reason="user_initiated")
    (turn,) = call.over
    assert turn.attributes == {"turn": 1, "final_to_speech_ms": 400.0, "gap_ms": GAP_MS}
    wall = call.timeline.clock.wall_at
    assert (turn.start, turn.end) == (wall(2_000), wall(6_000))
    assert [one.name for one in turn.children] == ["speech", "gap", "reply"]
    assert (child(turn, "speech").start, child(turn, "speech").end) == (wall(2_000), wall(3_000))
    assert [mark.name for mark in turn.marks] == [
        *("partial_transcript", "final_transcript", "reply_started"),
        *("agent_speaking", "agent_stopped"),
    ]


def test_a_reply_that_was_broken_off_belongs_to_its_own_turn() -> None:
    call = Call()
    call.turn(1, 2_000, stops=False)
    call.emit(EventType.SPEECH_STARTED, 5_000, 2)
    call.emit(EventType.INTERRUPTED, 5_400, 1)
    call.emit(EventType.AGENT_STOPPED, 5_400, 1, text=SAID, interrupted=True)
    assert call.over == []
    call.turn(2, 5_000)
    (first,) = call.over
    assert child(first, "reply").attributes == {"interrupted": True}
    assert "interrupted" in [mark.name for mark in first.marks]
    call.emit(EventType.CALL_ENDED, 12_000, 2, reason="user_initiated")
    assert [span.attributes["turn"] for span in call.over] == [1, 2]


def test_nobodys_words_are_in_a_span() -> None:
    call = Call()
    call.turn(1, 2_000)
    call.emit(EventType.REPLY_REPLACED, 3_500, 1, reason="wrong_date", text=SAID)
    call.emit(EventType.BOOKING_UPDATED, 3_600, 1, booking={"name": SAID}, missing=[])
    call.emit(EventType.CALL_ENDED, 9_000, 1, reason="user_initiated")
    spans = [one for span in call.over for one in everything(span)]
    told = [value for span in spans for value in span.attributes.values()]
    told += [value for span in spans for mark in span.marks for value in mark.attributes.values()]
    assert "wrong_date" in told
    assert SAID not in str(call.over)


def test_a_turn_without_an_answer_has_no_gap() -> None:
    call = Call()
    call.emit(EventType.SPEECH_STARTED, 1_000, 1)
    call.emit(EventType.SPEECH_ENDED, 1_500, 1)
    call.emit(EventType.CALL_ENDED, 9_000, 1, reason="user_initiated")
    (turn,) = call.over
    assert [one.name for one in turn.children] == ["speech"]
