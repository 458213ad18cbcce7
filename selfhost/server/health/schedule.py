"""When a model in use is tested again."""

from __future__ import annotations

from dataclasses import dataclass

IDLE_SHARE = 0.5
BUSY_SHARE = 0.75


@dataclass(frozen=True)
class Schedule:
    """Each loaded model is tested within every interval.

    Half-way through, as soon as nobody needs it: then no caller ever waits behind a test. A model
    that is never idle is tested all the same, early enough for the test to end within the interval.

    Args:
        every_s: the interval.
    """

    every_s: float

    @property
    def look_every_s(self) -> float:
        """How often to see whether a test is due."""
        return min(1.0, self.every_s / 20)

    def is_due(self, *, since_test_s: float, is_idle: bool, is_suspect: bool) -> bool:
        """
        Args:
            since_test_s: how long ago it passed its last test, the one at its load included.
            is_suspect: a request to it has just come to nothing.
        """
        return is_suspect or since_test_s >= self.every_s * (IDLE_SHARE if is_idle else BUSY_SHARE)
