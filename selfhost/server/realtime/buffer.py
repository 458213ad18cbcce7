"""The sound of one realtime session that may still be decoded."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from selfhost.server.transcription.audio import as_audio
from selfhost.server.transcription.whisper import Audio


class SoundBuffer:
    """Samples at 16 kHz by their position in the session, from the oldest that is still needed.

    The connection appends while the model's thread reads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples = np.zeros(0, np.int16)
        self._start = 0

    @property
    def end(self) -> int:
        """The position after the newest sample."""
        with self._lock:
            return self._start + len(self._samples)

    def __len__(self) -> int:
        with self._lock:
            return len(self._samples)

    def append(self, samples: NDArray[np.int16]) -> None:
        with self._lock:
            self._samples = np.concatenate([self._samples, samples])

    def forget_before(self, position: int) -> None:
        with self._lock:
            count = min(max(0, position - self._start), len(self._samples))
            # A copy, so that the larger array behind the slice is let go.
            self._samples = self._samples[count:].copy()
            self._start += count

    def read(self, start: int, end: int) -> Audio:
        """The samples from `start` to before `end`, as far as they are here."""
        with self._lock:
            first = max(0, start - self._start)
            last = max(first, end - self._start)
            return as_audio(self._samples[first:last])
