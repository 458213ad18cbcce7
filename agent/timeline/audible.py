"""What counts as audible, and when sound of one side was last and first heard.

The same rule holds at the caller's end, where the gap is measured in the sound of both sides: it is
what makes the worker's figure the caller's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FRAME_MS = 10
SILENCE_DBFS = -120.0

# The quietest speech lies near −45 dBFS and a line's noise near −65. A click is over within two
# frames; the pauses between words and before plosives are shorter than the release.
THRESHOLD_DBFS = -45.0
ONSET_FRAMES = 3  # this many audible frames …
ONSET_WINDOW = 5  # … among this many begin a stretch of sound
RELEASE_MS = 200.0  # this much quiet ends it

# In a noisy room speech stands out of the noise by more than this; the noise itself is the quietest
# moment of a few seconds, since nobody speaks for long without a breath.
OVER_NOISE_DB = 12.0
NOISE_WINDOW_MS = 4000.0
NOISE_BLOCK_MS = 200.0

Samples = NDArray[np.int16]


def levels_dbfs(samples: Samples, sample_rate: int) -> NDArray[np.float64]:
    """The RMS level of each whole 10 ms frame of mono 16-bit samples, in dB of full scale."""
    size = sample_rate * FRAME_MS // 1000
    frames = samples[: len(samples) // size * size].reshape(-1, size).astype(np.float64)
    power = np.mean(np.square(frames / 32768.0), axis=1)
    return 10 * np.log10(np.maximum(power, 10 ** (SILENCE_DBFS / 10)))


class NoiseFloor:
    """The level below which a line never falls, over the last seconds."""

    def __init__(self) -> None:
        blocks = round(NOISE_WINDOW_MS / NOISE_BLOCK_MS)
        self._quietest: deque[float] = deque(maxlen=blocks)
        self._block: list[float] = []

    @property
    def dbfs(self) -> float:
        """The floor; digital silence until the first block is whole."""
        return min(self._quietest, default=SILENCE_DBFS)

    def hear(self, level_dbfs: float) -> None:
        """Take the next frame's level."""
        self._block.append(level_dbfs)
        if len(self._block) * FRAME_MS >= NOISE_BLOCK_MS:
            # The median, so that a dropped packet's silence is not taken for the room's.
            self._quietest.append(float(np.median(self._block)))
            self._block.clear()


@dataclass(frozen=True)
class Sound:
    """One stretch of audible sound, in milliseconds; `end_ms` is where its last audible frame
    ended.
    """

    start_ms: float
    end_ms: float


class Ear:
    """A streaming detector of audible sound. Time comes with each frame.

    Args:
        over_noise: whether what counts as audible rises with a line's noise.
    """

    def __init__(self, *, over_noise: bool) -> None:
        self._floor = NoiseFloor() if over_noise else None
        self._recent: deque[tuple[float, bool]] = deque(maxlen=ONSET_WINDOW)
        self._goes_on = False
        self.sound: Sound | None = None
        """The last stretch so far; one that goes on ends at its last audible frame."""

    @property
    def audible(self) -> bool:
        """Whether a stretch goes on: sound, or a pause shorter than `RELEASE_MS`."""
        return self._goes_on

    def hear(self, level_dbfs: float, at_ms: float) -> None:
        """Take the next frame.

        Args:
            level_dbfs: its RMS level.
            at_ms: when it began, on any clock that does not go back.
        """
        threshold = THRESHOLD_DBFS
        if self._floor is not None:
            self._floor.hear(level_dbfs)
            threshold = max(threshold, self._floor.dbfs + OVER_NOISE_DB)
        loud = level_dbfs >= threshold
        if self._goes_on and self.sound is not None:
            if loud:
                self.sound = Sound(self.sound.start_ms, at_ms + FRAME_MS)
            elif at_ms + FRAME_MS - self.sound.end_ms >= RELEASE_MS:
                self._goes_on = False
                self._recent.clear()
            return
        self._recent.append((at_ms, loud))
        audible = [moment for moment, was_loud in self._recent if was_loud]
        if len(audible) >= ONSET_FRAMES:
            self.sound = Sound(audible[0], at_ms + FRAME_MS)
            self._goes_on = True
