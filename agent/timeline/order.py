"""Whether events can have followed each other: what cannot is named and left out, never drawn."""

from __future__ import annotations

from collections.abc import Sequence

from agent.timeline.events import Event, EventType

BACKDATED_MS = 5_000.0
"""How far an event may lie before the one that was written down earlier: a detector says some time
afterwards when speech began or ended."""

# These belong to the turn in which they happen. The end of a reply belongs to the turn that it
# answers, which an interruption has ended by then.
_OF_THEIR_TURN = frozenset(
    {
        EventType.SPEECH_STARTED,
        EventType.PARTIAL_TRANSCRIPT,
        EventType.SPEECH_ENDED,
        EventType.FINAL_TRANSCRIPT,
        EventType.REPLY_STARTED,
    }
)


def in_order(events: Sequence[Event]) -> tuple[list[Event], list[str]]:
    """Those of a call's events that can be true one after the other.

    Args:
        events: in order of `seq`, each plausible by itself.

    Returns:
        The believable events, and what is wrong with the others, for people.
    """
    kept: list[Event] = []
    problems: list[str] = []
    latest_ms, turn, speaking = 0.0, 0, False
    seq = 0  # of the event before
    for event, following in zip(events, [*events[1:], None], strict=True):
        unbroken, seq = event.seq == seq + 1, event.seq
        name = f"event {event.seq} ({event.type.value})"
        if event.t_ms < latest_ms - BACKDATED_MS:
            problems.append(f"{name} at {event.t_ms:.0f} ms: before those that it follows")
        elif following is not None and (
            latest_ms - BACKDATED_MS <= following.t_ms < event.t_ms - BACKDATED_MS
        ):
            problems.append(f"{name} at {event.t_ms:.0f} ms: after those that follow it")
        elif event.type in _OF_THEIR_TURN and event.turn < turn:
            problems.append(f"{name} of turn {event.turn}: turn {turn} had begun")
        elif unbroken and event.turn > turn + 1:
            problems.append(f"{name} of turn {event.turn}: turn {turn + 1} had not begun")
        elif event.type is EventType.AGENT_STOPPED and unbroken and not speaking:
            problems.append(f"{name}: the agent was not speaking")
        else:
            kept.append(event)
            latest_ms = max(latest_ms, event.t_ms)
            turn = max(turn, event.turn)
            speaking = event.type is EventType.AGENT_SPEAKING or (
                speaking and event.type is not EventType.AGENT_STOPPED
            )
    return kept, problems
