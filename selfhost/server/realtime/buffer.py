"""The sound of one realtime session that may still be decoded."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from selfhost.server.transcription.audio import as_audio
from selfhost.server.transcription.whisper import Audio

_BYTES = 2  # of a sample


class SoundBuffer:
    """Samples at 16 kHz by their position in the session, from the oldest that is still needed.

    The connection appends while the model's thread reads. The samples lie in a bytearray, which
    grows at its end and shrinks at its front without copying the rest.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data = bytearray()
        self._start = 0

    @property
    def end(self) -> int:
        """The position after the newest sample."""
        with self._lock:
            return self._start + len(self._data) // _BYTES

    def __len__(self) -> int:
        with self._lock:
            return len(self._data) // _BYTES

    def append(self, samples: NDArray[np.int16]) -> None:
        with self._lock:
            self._data += samples.astype(np.int16).tobytes()

    def forget_before(self, position: int) -> None:
        with self._lock:
            count = min(max(0, position - self._start), len(self._data) // _BYTES)
            del self._data[: count * _BYTES]
            self._start += count

    def read(self, start: int, end: int) -> Audio:
        """The samples from `start` to before `end`, as far as they are here."""
        with self._lock:
            first = max(0, start - self._start)
            last = max(first, end - self._start)
            part = bytes(self._data[first * _BYTES : last * _BYTES])
        return as_audio(np.frombuffer(part, np.int16))
