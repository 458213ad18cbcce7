"""When the samples of a stream were there, told from when its frames were handed over."""

from __future__ import annotations

from collections import deque

WINDOW_MS = 2000.0


class SampleClock:
    """Places samples of a steady stream on a clock.

    A frame is handed over late when the event loop is busy, but never early. So the least delay of
    the last seconds is the stream's own, and what is beyond it is only the loop's.
    """

    def __init__(self) -> None:
        self._heard_ms = 0.0
        self._offsets: deque[tuple[float, float]] = deque()

    def frame(self, duration_ms: float, now_ms: float) -> float:
        """Take the next frame of the stream.

        Args:
            duration_ms: how long it is.
            now_ms: when it was handed over, on a clock that does not go back.

        Returns:
            When its last sample was there, in milliseconds of that clock; never after `now_ms`.
        """
        self._heard_ms += duration_ms
        self._offsets.append((now_ms, now_ms - self._heard_ms))
        while self._offsets[0][0] < now_ms - WINDOW_MS:
            self._offsets.popleft()
        return self._heard_ms + min(offset for _, offset in self._offsets)
