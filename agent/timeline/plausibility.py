"""Whether an event can be true: what cannot is named and left out, never drawn."""

from __future__ import annotations

from agent.timeline.events import Event
from agent.timeline.waterfall import contradiction

MAX_DELAY_MS = 120_000.0
"""No caller waits two minutes for an answer: a longer delay is a clock that was set, or a stamp of
another call."""

_DELAYS = ("silence_to_final_ms", "final_to_speech_ms", "gap_ms")
_DURATIONS = (*_DELAYS, "speech_to_final_ms")


def implausible(event: Event) -> str | None:
    """Why an event cannot be true; None if it can.

    An unknown duration, null, is plausible. `speech_to_final_ms` has no upper bound, since it
    holds the time that somebody spoke.
    """
    if event.seq < 1 or event.turn < 0:
        return f"event {event.seq} of turn {event.turn}: both count up from their first"
    if not 0 <= event.t_ms < float("inf"):
        return f"event {event.seq} at {event.t_ms} ms: before the call began, or no time at all"
    for name in _DURATIONS:
        value = event.fields.get(name)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            return f"event {event.seq}: {name} is {type(value).__name__}, expected milliseconds"
        if not 0 <= value < float("inf"):
            return f"event {event.seq}: {name} is {value}, an end before its beginning"
        if name in _DELAYS and value > MAX_DELAY_MS:
            return f"event {event.seq}: {name} is {value}, more than {MAX_DELAY_MS:.0f}"
    reason = contradiction(event.fields.get("gap_ms"), event.fields.get("waterfall"))
    return f"event {event.seq}: {reason}" if reason else None
