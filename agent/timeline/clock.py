"""A call's two clocks, set together once: monotonic for durations, wall for people."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime


class CallClock:
    """Milliseconds since the call began, and the same moment on the wall clock.

    The framework stamps its events with `time.time()`. Those stamps are placed on the monotonic
    scale by their age, so that a wall clock that is set during a call moves no duration by more
    than the age of one event.
    """

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._began = monotonic()

    def now_ms(self) -> float:
        """Milliseconds since the call began."""
        return (self._monotonic() - self._began) * 1000

    def ms_at(self, wall_s: float) -> float:
        """Milliseconds from the call's begin to a recent moment of the wall clock, in seconds."""
        age_s = max(0.0, self._wall() - wall_s)
        return self.now_ms() - age_s * 1000

    def wall_at(self, t_ms: float) -> datetime:
        """The wall clock's time at `t_ms` after the call began."""
        age_s = (self.now_ms() - t_ms) / 1000
        return datetime.fromtimestamp(self._wall() - age_s, UTC)
