"""Who said what in each turn, worked out from what was received during the call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.timeline.events import EventType
from selfhost.load.measure import Window
from selfhost.load.observed import Observed, Segment, Stamped

GREETING = -1  # the turn before the caller's first


@dataclass
class TurnWords:
    """The words of one turn, and when they were received in seconds of the call."""

    heard: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    partials_s: list[float] = field(default_factory=list)
    finals_s: list[float] = field(default_factory=list)
    interrupted: bool | None = None
    finished: bool | None = None  # whether a reply came to its end
    replies_s: list[float] | None = None  # each time that the agent said it began to speak
    replies: list[Stamped] = field(default_factory=list)  # the agent's own events of that


def _turn_at(at_s: float, windows: Sequence[Window]) -> int:
    """The turn that was going on at a moment: the last one that had begun."""
    return sum(window.start_s <= at_s for window in windows) - 1


def words_by_turn(observed: Observed, windows: Sequence[Window]) -> dict[int, TurnWords]:
    """The words of every turn, and of the greeting under `GREETING`.

    The timeline is used where the agent sends one, else LiveKit's own transcriptions and states,
    which say nothing of interruptions.
    """
    turns = {index: TurnWords() for index in range(GREETING, len(windows))}
    if timeline := observed.timeline:
        _from_timeline(timeline, windows, turns)
    else:
        _from_segments(observed.segments, windows, turns)
        _from_states(observed.speaking_s, windows, turns)
    return turns


def _from_timeline(
    timeline: Iterable[Stamped], windows: Sequence[Window], turns: dict[int, TurnWords]
) -> None:
    for turn in turns.values():
        turn.interrupted = turn.finished = False
        turn.replies_s = []
    current = speaking = GREETING
    heard_in: int | None = None  # the agent's number of the turn that the last final is of
    for stamped in timeline:
        event, at_s = stamped.event, stamped.at_s
        if at_s is not None:  # one received later belongs where its neighbours do
            current = _turn_at(at_s, windows)
        turn = turns[current]
        match event.type:
            case EventType.PARTIAL_TRANSCRIPT if at_s is not None:
                turn.partials_s.append(at_s)
            case EventType.FINAL_TRANSCRIPT:
                # A final holds its whole turn so far, which a pause may have cut in pieces.
                if turn.heard and event.turn == heard_in:
                    turn.heard.pop()
                turn.heard.append(str(event.fields.get("text", "")))
                heard_in = event.turn
                if at_s is not None:
                    turn.finals_s.append(at_s)
            case EventType.AGENT_SPEAKING:
                # The words come when the reply ends, which may be in the turn that cut it short.
                speaking = current
                turn.replies.append(stamped)
                if at_s is not None and turn.replies_s is not None:
                    turn.replies_s.append(at_s)
            case EventType.AGENT_STOPPED:
                turns[speaking].answered.append(str(event.fields.get("text") or ""))
                interrupted = bool(event.fields.get("interrupted"))
                turn.interrupted = turn.interrupted or interrupted
                turn.finished = turn.finished or not interrupted
            case EventType.INTERRUPTED:
                turn.interrupted = True


def _from_segments(
    segments: Iterable[Segment], windows: Sequence[Window], turns: dict[int, TurnWords]
) -> None:
    spoken: dict[str, Segment] = {}
    for segment in segments:
        turn = turns[_turn_at(segment.at_s, windows)]
        if not segment.by_caller:
            spoken[segment.segment_id] = segment
        elif segment.final:
            turn.heard.append(segment.text)
            turn.finals_s.append(segment.at_s)
        else:
            turn.partials_s.append(segment.at_s)
    for segment in spoken.values():
        turns[_turn_at(segment.at_s, windows)].answered.append(segment.text)


def _from_states(
    speaking_s: Sequence[float], windows: Sequence[Window], turns: dict[int, TurnWords]
) -> None:
    if not speaking_s:
        return  # an agent without states: how often it began to speak is not known
    for turn in turns.values():
        turn.replies_s = []
    for at_s in speaking_s:
        if (replies_s := turns[_turn_at(at_s, windows)].replies_s) is not None:
            replies_s.append(at_s)


def last_booking(observed: Observed) -> dict[str, Any] | None:
    """The booking as the agent last published it; None if it never did."""
    bookings = [
        stamped.event.fields.get("booking")
        for stamped in observed.timeline
        if stamped.event.type is EventType.BOOKING_UPDATED
    ]
    return bookings[-1] if bookings and isinstance(bookings[-1], dict) else None
