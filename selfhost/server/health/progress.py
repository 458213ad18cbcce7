"""Whether a model's thread is idle, at work, or hung: told by its progress, never by its load.

A thread with a thousand requests waiting is busy for as long as it finishes one after the other; a
thread with a single one is hung once nothing has moved for longer than any one step can take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    IDLE = "idle"
    BUSY = "busy"
    HUNG = "hung"


@dataclass(frozen=True)
class Progress:
    """What one model's thread has before it.

    Args:
        model: its id.
        in_hand: the kind of the work that is being done; None between two pieces of work.
        waiting: how many pieces of work wait.
        moved_at_s: when work was last begun, advanced or finished, or came to an idle thread.
    """

    model: str
    in_hand: str | None
    waiting: int
    moved_at_s: float

    def state(self, now_s: float, hung_after_s: float) -> State:
        """
        Args:
            now_s: on the clock of `moved_at_s`.
            hung_after_s: longer than the longest single step, even on a crowded machine.
        """
        if self.in_hand is None and not self.waiting:
            return State.IDLE
        return State.HUNG if now_s - self.moved_at_s > hung_after_s else State.BUSY


def why_hung(threads: Sequence[Progress], now_s: float, hung_after_s: float) -> str | None:
    """What is hung, for people, or None if everything is idle or moves."""
    hung = [one for one in threads if one.state(now_s, hung_after_s) is State.HUNG]
    if not hung:
        return None
    return "; ".join(
        f"{one.model} has not moved for {now_s - one.moved_at_s:.0f} s "
        f"({one.in_hand or 'nothing'} in hand, {one.waiting} waiting)"
        for one in hung
    )
