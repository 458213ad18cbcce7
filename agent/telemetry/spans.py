"""One call as a tree of spans, from its events. Pure.

The call is the root; below it is a `turn` for each turn, and below that the caller's `speech`, the
`gap` with the parts of its waterfall, and the agent's `reply`. Attributes have the names of the
events' fields. What anybody said is in none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agent.timeline.events import Event, EventType
from agent.timeline.plausibility import implausible
from agent.timeline.waterfall import PARTS

Value = str | bool | int | float

_WORDLESS: Mapping[EventType, tuple[str, ...]] = {
    EventType.PARTIAL_TRANSCRIPT: (),
    EventType.FINAL_TRANSCRIPT: ("speech_to_final_ms", "silence_to_final_ms"),
    EventType.REPLY_STARTED: ("source",),
    EventType.AGENT_SPEAKING: ("final_to_speech_ms", "gap_ms"),
    EventType.AGENT_STOPPED: ("interrupted",),
    EventType.INTERRUPTED: (),
    EventType.REPLY_REPLACED: ("reason",),
    EventType.COMPONENT_ERROR: ("component", "message", "recoverable"),
}
"""What a turn's span tells of its events, and which of their fields: those that nobody said."""

_BETWEEN = {
    "speech": (EventType.SPEECH_STARTED, EventType.SPEECH_ENDED),
    "reply": (EventType.AGENT_SPEAKING, EventType.AGENT_STOPPED),
}


@dataclass(frozen=True)
class Mark:
    """Something that happened at one moment of a span."""

    name: str
    at: datetime
    attributes: Mapping[str, Value]


@dataclass(frozen=True)
class Span:
    """A stretch of a call that is over."""

    name: str
    start: datetime
    end: datetime
    attributes: Mapping[str, Value] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    children: tuple[Span, ...] = ()


class TurnSpans:
    """Collects a call's events until the turns that they belong to are over.

    A reply that is broken off is said to have stopped only when the next turn has begun, so a turn
    is over when a later one is answered, or with the call.
    """

    def __init__(self) -> None:
        self._open: dict[int, list[Event]] = {}

    def read(self, event: Event) -> list[Span]:
        """The turns that this event shows to be over; one that cannot be true shows nothing."""
        if implausible(event) or event.type is EventType.CALL_STARTED:
            return []
        if event.type is EventType.CALL_ENDED:
            return self._close(self._open)
        self._open.setdefault(event.turn, []).append(event)
        if event.type is EventType.AGENT_SPEAKING:
            return self._close(turn for turn in self._open if turn < event.turn)
        return []

    def _close(self, turns: Iterable[int]) -> list[Span]:
        return [turn_span(turn, self._open.pop(turn)) for turn in sorted(turns)]


def turn_span(turn: int, events: list[Event]) -> Span:
    """A turn with all that was timed in it.

    Args:
        turn: its number.
        events: its own, in the order in which they were told; at least one.
    """
    replies = [event for event in events if event.type is EventType.AGENT_SPEAKING]
    gaps = [gap for event in replies if (gap := gap_span(event)) is not None][:1]
    children = [*_stretches("speech", events), *gaps, *_stretches("reply", events)]
    starts = [event.wall for event in events] + [child.start for child in children]
    ends = [event.wall for event in events] + [child.end for child in children]
    marks = tuple(
        Mark(event.type.value, event.wall, _told(event))
        for event in events
        if event.type in _WORDLESS
    )
    answered = _told(replies[0]) if replies else {}
    return Span(
        "turn",
        start=min(starts),
        end=max(ends),
        attributes={"turn": turn, **answered},
        marks=marks,
        children=tuple(children),
    )


def gap_span(reply: Event) -> Span | None:
    """The silence before a reply, divided into its parts; None where it is not known.

    The parts lie end to end, from the caller's last sound as it came in to the agent's first as it
    is heard: what the network adds on both ways stands at its end, since where it fell is unknown.
    """
    gap_ms, parts = reply.fields.get("gap_ms"), reply.fields.get("waterfall")
    if gap_ms is None:
        return None
    known = {part: ms for part in PARTS if (ms := (parts or {}).get(part)) is not None}
    end = reply.wall + timedelta(milliseconds=known.get("network", 0.0))
    begins = start = end - timedelta(milliseconds=gap_ms)
    children = []
    # Heard only after it has left: the network comes last.
    for part in sorted(known, key=lambda name: name == "network"):
        ends = begins + timedelta(milliseconds=known[part])
        children.append(Span(part, begins, ends, {"ms": known[part]}))
        begins = ends
    return Span("gap", start, end, {"gap_ms": gap_ms}, children=tuple(children))


def _stretches(name: str, events: Iterable[Event]) -> list[Span]:
    """From each beginning of a kind to the next end of it; without an end there is none."""
    begins_with, ends_with = _BETWEEN[name]
    found = []
    began: Event | None = None
    for event in sorted(events, key=lambda event: event.t_ms):
        if event.type is begins_with:
            began = began or event
        elif event.type is ends_with and began is not None:
            found.append(Span(name, began.wall, event.wall, _told(event)))
            began = None
    return found


def _told(event: Event) -> dict[str, Value]:
    names = _WORDLESS.get(event.type, ())
    return {name: event.fields[name] for name in names if event.fields.get(name) is not None}
