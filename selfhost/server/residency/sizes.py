"""How much memory each model takes: an estimate until a load on this machine has been measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from selfhost.server.residency.entry import Entry

MIN_SHARE = 0.5
"""Of the estimate. A load can seem to take less than it does, down to nothing, since memory that
was freed before is used again; then the estimate is the better guess."""


@dataclass(eq=False)
class Change:
    """A load or a closing under way. Where two overlap, neither can be measured."""

    is_alone: bool


class Sizes:
    """The sizes of one server's models."""

    def __init__(self) -> None:
        self._measured_bytes: dict[str, int] = {}
        self._changes: list[Change] = []

    def expected_bytes(self, entry: Entry[Any]) -> int:
        """What the next load of the model will hold."""
        return self._measured_bytes.get(entry.id, entry.memory_bytes)

    def learn(
        self,
        entry: Entry[Any],
        before_bytes: int | None,
        after_bytes: int | None,
        change: Change,
    ) -> None:
        """Take what a load took, unless something else changed the memory meanwhile.

        Args:
            before_bytes, after_bytes: memory held before the load and after; None if unknown.
        """
        if before_bytes is None or after_bytes is None or not change.is_alone:
            return
        if after_bytes > before_bytes:
            floor_bytes = int(entry.memory_bytes * MIN_SHARE)
            self._measured_bytes[entry.id] = max(after_bytes - before_bytes, floor_bytes)

    def forget(self, entry: Entry[Any]) -> bool:
        """Go by the estimate again, since what was measured keeps the model out for good: other
        models' work may have swelled it. Returns whether there was anything measured."""
        return self._measured_bytes.pop(entry.id, None) is not None

    @contextmanager
    def changing(self) -> Iterator[Change]:
        """Around everything that takes or frees much memory."""
        change = Change(is_alone=not self._changes)
        for other in self._changes:
            other.is_alone = False
        self._changes.append(change)
        try:
            yield change
        finally:
            self._changes.remove(change)
