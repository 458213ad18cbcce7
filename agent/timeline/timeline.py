"""The timeline of one call: numbers the events, keeps them, and hands them to who listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.timeline.clock import CallClock
from agent.timeline.events import Event, EventType
from agent.timeline.replies import Replies


class Timeline:
    """Every event of a call so far, in order; `seq` has no gaps.

    `turn` is 0 for the greeting and counts the caller's turns from 1. `replies` takes down how far
    the replies to them have got.
    """

    def __init__(self, clock: CallClock) -> None:
        self.clock = clock
        self.turn = 0
        self.events: list[Event] = []
        self.replies = Replies(clock)
        self._listeners: list[Callable[[Event], None]] = []

    def subscribe(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with each event from now on; it must not block."""
        self._listeners.append(listener)

    def emit(
        self, kind: EventType, *, t_ms: float | None = None, turn: int | None = None, **fields: Any
    ) -> Event:
        """Record that something happened.

        Args:
            kind: what happened.
            t_ms: when, if not now; milliseconds since the call began.
            turn: which turn it belongs to, if not the present one.
            fields: the type's own fields, as JSON types.
        """
        at_ms = max(0.0, self.clock.now_ms() if t_ms is None else t_ms)
        event = Event(
            seq=len(self.events) + 1,
            turn=self.turn if turn is None else turn,
            type=kind,
            t_ms=at_ms,
            wall=self.clock.wall_at(at_ms),
            fields=fields,
        )
        self.events.append(event)
        for listener in self._listeners:
            listener(event)
        return event
