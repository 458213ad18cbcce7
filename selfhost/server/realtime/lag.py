"""How far the words are behind the sound of a session."""

from __future__ import annotations

from collections import deque


class Lag:
    """Knows when each stretch of sound came in, until its words are known.

    Positions are samples since the session began; times are seconds on the caller's clock.
    """

    def __init__(self) -> None:
        self._arrivals: deque[tuple[int, float]] = deque()  # end of a stretch, when it came

    def heard(self, end: int, now_s: float) -> None:
        """Sound up to before `end` has come in."""
        self._arrivals.append((end, now_s))

    def decoded(self, end: int, now_s: float) -> float | None:
        """The words in the sound up to before `end` are known now.

        Returns:
            How long ago the last of that sound came in; None if words of later sound were known
            before.
        """
        came_s = None
        while self._arrivals and self._arrivals[0][0] <= end:
            came_s = self._arrivals.popleft()[1]
        return None if came_s is None else now_s - came_s

    def forget_before(self, position: int) -> None:
        """Nothing before `position` will be decoded any more."""
        while self._arrivals and self._arrivals[0][0] <= position:
            self._arrivals.popleft()
