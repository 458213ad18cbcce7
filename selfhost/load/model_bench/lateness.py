"""When many streams at once are too many: the rule, and the steps in which it is looked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

STREAMS = (1, 2, 3, 4, 6, 8)

LATE_S = 1.0
"""A caller's first words, counted from the first sound, and an answer's first sound, counted from
the request, are late after this: a screen that shows nothing for a second looks broken, and a
reply that is begun on a partial can no longer be early."""


@dataclass(frozen=True)
class Stream:
    """What one stream got.

    Args:
        first_s: to each utterance's first words, or to an answer's first sound; None where nothing
            came.
        last_s: from the last sound to the final transcript, or to an answer's end.
        starved_s: for speech, how long a listener had nothing to play in mid-answer.
    """

    first_s: list[float | None]
    last_s: list[float | None]
    starved_s: float = 0.0


@dataclass(frozen=True)
class Step:
    """So many streams at once."""

    streams: int
    first_p50_s: float | None
    first_p95_s: float | None
    last_p95_s: float | None
    starved_s: float
    n: int
    missing: int

    @property
    def in_time(self) -> bool:
        """Nothing missing, nothing late, nobody starved."""
        return (
            self.missing == 0
            and self.first_p95_s is not None
            and self.first_p95_s <= LATE_S
            and self.starved_s == 0
        )


def step(streams: Sequence[Stream]) -> Step:
    """The figures of one step."""
    first = [value for stream in streams for value in stream.first_s]
    last = [value for stream in streams for value in stream.last_s]
    known = [value for value in first if value is not None]
    known_last = [value for value in last if value is not None]
    return Step(
        streams=len(streams),
        first_p50_s=_percentile(known, 50),
        first_p95_s=_percentile(known, 95),
        last_p95_s=_percentile(known_last, 95),
        starved_s=round(sum(stream.starved_s for stream in streams), 3),
        n=len(known),
        missing=len(first) - len(known) + len(last) - len(known_last),
    )


def climb(run: Callable[[int], Step]) -> list[Step]:
    """Step up until a step is late. Returns every step taken; the last one may be late."""
    taken = []
    for streams in STREAMS:
        taken.append(run(streams))
        if not taken[-1].in_time:
            break
    return taken


def served_at_once(steps: Sequence[Step]) -> int:
    """The most streams that were all in time; 0 if not even one was."""
    return max((one.streams for one in steps if one.in_time), default=0)


def starved(chunks: Sequence[tuple[float, float]]) -> float:
    """How long a listener had nothing to play, in seconds.

    Args:
        chunks: when each chunk came, and how long it plays, in seconds; the first is played at
            once.
    """
    if not chunks:
        return 0.0
    playing_until_s = chunks[0][0]
    waited_s = 0.0
    for came_s, length_s in chunks:
        waited_s += max(0.0, came_s - playing_until_s)
        playing_until_s = max(playing_until_s, came_s) + length_s
    return waited_s


def _percentile(values: Sequence[float], percent: float) -> float | None:
    return round(float(np.percentile(values, percent)), 3) if values else None
