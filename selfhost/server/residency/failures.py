"""Models that failed lately: they are not loaded again at once, or a broken one would keep the
machine busy with loading and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 30.0


@dataclass(frozen=True)
class Failure:
    reason: str
    seconds_left: int  # until it may be tried again; at least 1


@dataclass(frozen=True)
class _Record:
    reason: str
    count: int
    until_s: float


def pause_s(count: int) -> float:
    """How long to wait after so many failures in a row: twice as long each time."""
    return min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(count - 1, 16))


class Failures:
    """What failed, by model id. Times are seconds on the caller's clock."""

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}

    def add(self, model: str, reason: str, now_s: float) -> Failure:
        before = self._records.get(model)
        count = before.count + 1 if before else 1
        self._records[model] = _Record(reason, count, now_s + pause_s(count))
        return Failure(reason, math.ceil(pause_s(count)))

    def recent(self, model: str, now_s: float) -> Failure | None:
        """The failure that still keeps the model from being tried, or None."""
        record = self._records.get(model)
        if record is None or now_s >= record.until_s:
            return None
        return Failure(record.reason, max(1, math.ceil(record.until_s - now_s)))

    def clear(self, model: str) -> None:
        self._records.pop(model, None)
