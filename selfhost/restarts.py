"""When a part that ended is started again, and when it is given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RestartPolicy:
    """Each failure within the window doubles the wait; too many of them end it.

    Args:
        window_s: failures longer ago than this no longer count.
        max_failures: as many within the window, and the part is given up.
    """

    first_delay_s: float = 0.5
    max_delay_s: float = 8.0
    window_s: float = 120.0
    max_failures: int = 5

    def delay_s(self, failed_at_s: Sequence[float], now_s: float) -> float | None:
        """How long to wait before the next start.

        Args:
            failed_at_s: when the part failed so far, the last failure included.
            now_s: on the same clock.

        Returns:
            Seconds, or None to give the part up.
        """
        recent = sum(now_s - failed <= self.window_s for failed in failed_at_s)
        if recent >= self.max_failures:
            return None
        return float(min(self.max_delay_s, self.first_delay_s * 2 ** max(0, recent - 1)))
