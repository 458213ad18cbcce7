"""When somebody is heard to speak: audible spans found in sound, in 10 ms frames.

The same detector listens during the call and reads the recording afterwards, so that both give the
same answer for the same sound.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from agent.timeline.audible import (
    FRAME_MS,
    ONSET_FRAMES,
    ONSET_WINDOW,
    RELEASE_MS,
    THRESHOLD_DBFS,
    Samples,
    levels_dbfs,
)

FRAME_S = FRAME_MS / 1000


@dataclass(frozen=True)
class Hearing:
    """What counts as audible; by default what the timeline's contract says."""

    threshold_dbfs: float = THRESHOLD_DBFS
    onset_frames: int = ONSET_FRAMES  # this many audible frames …
    onset_window: int = ONSET_WINDOW  # … among this many begin a span
    release_s: float = RELEASE_MS / 1000  # this much quiet ends it


HEARING = Hearing()


@dataclass(frozen=True)
class Span:
    """One stretch of audible sound; `end_s` is where its last audible frame ended."""

    start_s: float
    end_s: float


class Ear:
    """A streaming detector of audible spans. Time comes with each frame."""

    def __init__(self, hearing: Hearing = HEARING) -> None:
        self._hearing = hearing
        self._recent: deque[tuple[float, bool]] = deque(maxlen=hearing.onset_window)
        self._start_s: float | None = None
        self._last_s: float | None = None
        self._ended: list[Span] = []

    @property
    def spans(self) -> list[Span]:
        """All spans so far; one that goes on ends at its last audible frame."""
        if self._start_s is None or self._last_s is None:
            return list(self._ended)
        return [*self._ended, Span(self._start_s, self._last_s)]

    @property
    def audible(self) -> bool:
        """Whether a span goes on: sound, or a pause shorter than `release_s`."""
        return self._start_s is not None

    def hear(self, level_dbfs: float, at_s: float) -> None:
        """Take the next frame.

        Args:
            level_dbfs: its RMS level.
            at_s: when it began, on any clock that does not go back.
        """
        loud = level_dbfs >= self._hearing.threshold_dbfs
        if self._start_s is not None and self._last_s is not None:
            if loud:
                self._last_s = at_s + FRAME_S
            elif at_s + FRAME_S - self._last_s >= self._hearing.release_s:
                self._ended.append(Span(self._start_s, self._last_s))
                self._start_s = self._last_s = None
                self._recent.clear()
            return
        self._recent.append((at_s, loud))
        audible = [moment for moment, was_loud in self._recent if was_loud]
        if len(audible) >= self._hearing.onset_frames:
            self._start_s, self._last_s = audible[0], at_s + FRAME_S


def audible_spans(samples: Samples, sample_rate: int, hearing: Hearing = HEARING) -> list[Span]:
    """The audible spans of a whole recording, in seconds from its beginning."""
    ear = Ear(hearing)
    for index, level in enumerate(levels_dbfs(samples, sample_rate)):
        ear.hear(float(level), index * FRAME_S)
    return ear.spans
