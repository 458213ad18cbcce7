"""A turn's gap as the worker tells it, beside the one that the caller heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.timeline.waterfall import contradiction
from selfhost.load.observed import Stamped


@dataclass(frozen=True)
class WorkerGap:
    """What the worker says of a turn. What it does not know is None.

    Args:
        gap_ms: the caller's last audible sound to the agent's first, the network's share included.
        waterfall: milliseconds by the parts of `agent.timeline.waterfall`; None where it is
            missing, or is no waterfall.
        off_by_ms: how far the sum of the known parts is from `gap_ms`.
    """

    gap_ms: float | None = None
    waterfall: dict[str, float | None] | None = None
    off_by_ms: float | None = None


def worker_gap(replies: Sequence[Stamped], last_s: float | None) -> WorkerGap:
    """The worker's gap of the first reply that the caller got word of after the turn's last sound.

    Args:
        replies: the turn's `agent_speaking` events.
        last_s: when the turn's last sound ended, in seconds of the call; None if it had none.
    """
    for reply in replies:
        gap_ms = reply.event.fields.get("gap_ms")
        if last_s is None or reply.at_s is None or reply.at_s < last_s or gap_ms is None:
            continue
        parts: Any = reply.event.fields.get("waterfall")
        if not isinstance(parts, dict):
            return WorkerGap(float(gap_ms))
        total_ms = sum(ms for ms in parts.values() if isinstance(ms, int | float))
        off_by_ms = round(abs(total_ms - gap_ms), 1)
        believable = contradiction(total_ms, parts) is None
        return WorkerGap(float(gap_ms), parts if believable else None, off_by_ms)
    return WorkerGap()
