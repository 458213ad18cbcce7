"""One figure of a start-up log beside what the plan says of it."""

from __future__ import annotations

from dataclasses import dataclass

from selfhost.plan.boot_log import BootLog
from selfhost.plan.estimate import Estimate


@dataclass(frozen=True)
class Comparison:
    """One figure.

    Args:
        what: it is.
        predicted: by the plan.
        actual: as the engine printed it.
        unit: "bytes", "tokens", "blocks" or "x".
        tolerance: within which the two must agree; None where the plan promises only a band.
        band: of the estimate; None where the figure follows from shapes.
        given: what of the log the prediction was made from.
    """

    what: str
    predicted: float
    actual: float
    unit: str
    tolerance: float | None = None
    band: Estimate | None = None
    given: str = ""

    @property
    def difference(self) -> float | None:
        """As a share of the actual one; None where that is 0."""
        return None if self.actual == 0 else self.predicted / self.actual - 1

    @property
    def holds(self) -> bool:
        """Whether the plan kept what it promises for this figure."""
        if self.tolerance is not None:
            return self.difference is not None and abs(self.difference) <= self.tolerance
        if self.band is not None:
            return self.band.low <= self.actual <= self.band.high
        return True


@dataclass(frozen=True)
class Check:
    """A log against the plan.

    Args:
        model: its name.
        log: what was read.
        comparisons: figure by figure.
        not_found: what the log does not say.
    """

    model: str
    log: BootLog
    comparisons: tuple[Comparison, ...]
    not_found: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every figure is where the plan promises it, bands of overhead apart."""
        return all(one.holds for one in self.comparisons if one.tolerance is not None)
