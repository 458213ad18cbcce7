"""Whether an engine is hung or only busy: told by its progress, never by its load.

An engine that works on many requests, or reads a long prompt, is slow to answer anything, and
ending it would only add to the load. One that has requests and finishes no step for longer than any
step can take does no work any more, whatever its health address says.

Pure: from what the engine was seen to do, on a clock that is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Reading:
    """What an engine's metrics say.

    Args:
        running: requests that it works on, or that wait inside it.
        steps: how many steps (of reading or of writing) it has finished since it started.
    """

    running: int
    steps: float


@dataclass(frozen=True)
class Heartbeat:
    """What is known of one engine's progress.

    Args:
        moved_at_s: when it was last seen to have moved, or to have nothing to do.
        steps: as it last told; None before it first did.
    """

    moved_at_s: float
    steps: float | None = None

    def after(self, reading: Reading | None, in_flight: int, now_s: float) -> Heartbeat:
        """What is known after asking once more.

        Args:
            reading: None if the engine did not answer. That alone proves nothing: it may be busy.
            in_flight: requests that were sent to it and are not answered. It may not know of them
                itself, where the process that takes requests lives on after the one that works.
            now_s: on the clock of `moved_at_s`.
        """
        if reading is None:
            return self
        has_moved = self.steps is None or reading.steps != self.steps
        has_work = in_flight > 0 or reading.running > 0
        if has_moved or not has_work:
            return Heartbeat(now_s, reading.steps)
        return replace(self, steps=reading.steps)

    def is_hung(self, now_s: float, hung_after_s: float) -> bool:
        """
        Args:
            hung_after_s: longer than the longest step takes, even on a crowded machine.
        """
        return now_s - self.moved_at_s > hung_after_s
