"""Who starts when, among those that share a card.

vLLM decides on its cache once, when it starts: it takes what the whole card lost of free memory
while it loaded and tried itself out (`total_consumed` in its `gpu_worker.py`) away from its share.
What a neighbour takes in that time is charged to it as if it were its own, so that two engines that
fit one after the other can starve each other when they start together: with shares of 35 and 20 %
of a card, 4.7 and 2.8 GiB of cache one after the other became 1.8 and -3.2 together, and the second
crashed. So they start one by one, the largest first, and each waits for the health of the one
before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selfhost.plan.estimate import gib


@dataclass(frozen=True)
class Starter:
    """A process that loads models.

    Args:
        name: of the process.
        measures_the_card: it sizes a cache by what it finds free, as vLLM does on a GPU.
        on_card: it takes memory of the card that the others use.
        fixed_bytes: what it takes there besides a cache.
        share_bytes: of the card that it was given; None where it has no share.
    """

    name: str
    measures_the_card: bool
    on_card: bool
    fixed_bytes: int = 0
    share_bytes: int | None = None


@dataclass(frozen=True)
class Step:
    """A process and those that must be healthy before it starts."""

    name: str
    waits_for: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class CacheRange:
    """The cache that an engine ends up with when all start together.

    Args:
        name: of the engine.
        in_order_bytes: when each waits for the one before it; also the best case together.
        worst_bytes: when every neighbour loads while this one measures. Negative: it crashes.
    """

    name: str
    in_order_bytes: int
    worst_bytes: int


def order(starters: Sequence[Starter]) -> tuple[Step, ...]:
    """The order, engines that measure the card first, the largest of them first.

    Args:
        starters: in the order in which they are to start where nothing speaks against it.
    """
    engines = [one for one in starters if one.on_card and one.measures_the_card]
    engines.sort(key=lambda one: -one.fixed_bytes)
    others = [one for one in starters if one not in engines]
    steps: list[Step] = []
    for index, engine in enumerate(engines):
        before = tuple(one.name for one in engines[:index])
        reason = (
            "sizes its cache by what the whole card loses while it loads, so it starts alone"
            if not before
            else f"shares the card with {before[-1]} and would be charged for its loading"
        )
        steps.append(Step(engine.name, before[-1:], reason))
    for other in others:
        if other.on_card and engines:
            last = engines[-1].name
            reason = (
                f"shares the card: what it loads{_size(other)} while {last} measures it would be "
                "taken from that one's cache"
            )
            steps.append(Step(other.name, (last,), reason))
        else:
            steps.append(Step(other.name, (), "shares no card with an engine that measures it"))
    return tuple(steps)


def _size(starter: Starter) -> str:
    return f" ({gib(starter.fixed_bytes)})" if starter.fixed_bytes else ""


def started_together(starters: Sequence[Starter]) -> tuple[CacheRange, ...]:
    """What each engine's cache can come to without an order.

    Args:
        starters: those on one card; the ones with a share get a range.
    """
    on_card = [one for one in starters if one.on_card]
    ranges = []
    for one in on_card:
        if one.share_bytes is None:
            continue
        in_order = one.share_bytes - one.fixed_bytes
        neighbours = sum(other.fixed_bytes for other in on_card if other is not one)
        ranges.append(CacheRange(one.name, in_order, in_order - neighbours))
    return tuple(ranges)
