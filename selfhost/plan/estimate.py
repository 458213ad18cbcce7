"""Sizes in bytes, and how sure the plan is of them."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Estimate:
    """A size that was not measured.

    Args:
        bytes: what is expected.
        low: it is hardly ever less.
        high: it is hardly ever more.
    """

    bytes: int
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.bytes <= self.high:
            raise ValueError(f"0 <= {self.low} <= {self.bytes} <= {self.high} does not hold")

    def __add__(self, other: Estimate) -> Estimate:
        """The sum; as if both erred the same way at once, which is the cautious reading."""
        return Estimate(self.bytes + other.bytes, self.low + other.low, self.high + other.high)

    @classmethod
    def exact(cls, size_bytes: int) -> Estimate:
        """A size that follows from shapes, or that the caller measured."""
        return cls(size_bytes, size_bytes, size_bytes)

    @classmethod
    def within(cls, size_bytes: float, share: float) -> Estimate:
        """A size that may be wrong by this share either way, 0.3 being 30 %."""
        return cls(
            int(size_bytes), int(size_bytes * max(0.0, 1 - share)), int(size_bytes * (1 + share))
        )


def total(estimates: list[Estimate]) -> Estimate:
    """The sum of any number of estimates."""
    return sum(estimates, start=Estimate.exact(0))


def gib(size_bytes: float) -> str:
    """For people: two decimals, as engines print them."""
    return f"{size_bytes / GIB:.2f} GiB"
