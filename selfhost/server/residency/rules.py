"""Who may take memory, and who must give it up. Pure: the pool does what is decided here.

Every model holds bytes of one budget from the moment that its load is allowed until its memory is
really free: a load in flight holds what it was promised, and one that is being closed holds what it
had. So two loads at once can never be promised the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Where a model in memory stands."""

    LOADING = "loading"
    LOADED = "loaded"
    DRAINING = "draining"  # takes no new requests; those that it has may end
    CLOSING = "closing"  # nobody uses it any more; its memory is being freed


@dataclass(frozen=True)
class Resident:
    """A model that holds memory.

    Args:
        memory_bytes: what it holds of the budget.
        users: requests in flight that use it.
        idle_since_s: when its last answer ended, or its load if it has given none; on the clock
            that all residents share.
    """

    id: str
    memory_bytes: int
    phase: Phase
    users: int = 0
    is_pinned: bool = False
    idle_since_s: float = 0.0

    @property
    def is_evictable(self) -> bool:
        return self.phase is Phase.LOADED and self.users == 0 and not self.is_pinned


@dataclass(frozen=True)
class Reserve:
    """The bytes are free: the load may begin, and holds them from now on."""


@dataclass(frozen=True)
class Evict:
    """Close these; the bytes that they free are promised to this load."""

    victims: tuple[str, ...]


@dataclass(frozen=True)
class Wait:
    """Not now.

    Args:
        is_promised: enough is being freed already, and no later load may take it.
    """

    is_promised: bool


@dataclass(frozen=True)
class Refuse:
    """It will not fit, however long it waits."""

    reason: str


Decision = Reserve | Evict | Wait | Refuse


def decide(
    wanted_bytes: int,
    residents: Sequence[Resident],
    *,
    budget_bytes: int,
    promised_bytes: int = 0,
) -> Decision:
    """What a load of `wanted_bytes` has to do for its memory.

    Args:
        promised_bytes: what is promised to other loads that wait for models to close.
    """
    if wanted_bytes > budget_bytes:
        return Refuse(
            f"it takes {_mb(wanted_bytes)}, and all models together may take "
            f"{_mb(budget_bytes)} (MODEL_SERVER_MEMORY_BYTES)"
        )
    free_bytes = budget_bytes - held_bytes(residents)
    closing_bytes = held_bytes(one for one in residents if one.phase is Phase.CLOSING)
    spare_bytes = free_bytes + closing_bytes - promised_bytes
    if wanted_bytes <= spare_bytes:
        return Reserve() if wanted_bytes <= free_bytes else Wait(is_promised=True)
    victims = choose_victims(wanted_bytes - spare_bytes, residents)
    if victims:
        return Evict(victims)
    pinned = [one for one in residents if one.is_pinned and one.phase is Phase.LOADED]
    if wanted_bytes > budget_bytes - held_bytes(pinned):
        names = ", ".join(sorted(one.id for one in pinned))
        return Refuse(
            f"it takes {_mb(wanted_bytes)}, and what is pinned ({names}) leaves "
            f"{_mb(budget_bytes - held_bytes(pinned))}"
        )
    return Wait(is_promised=False)


def choose_victims(needed_bytes: int, residents: Iterable[Resident]) -> tuple[str, ...]:
    """The models to evict so that `needed_bytes` come free; () if all that may go are too few.

    As few as suffice: what is evicted beyond need must be loaded again, which costs more than a
    wrong guess of who is needed next. Among equally few those that have been idle longest, judged
    by the one of them that was used last.
    """
    oldest_first = sorted(
        (one for one in residents if one.is_evictable), key=lambda one: (one.idle_since_s, one.id)
    )
    count = _fewest(needed_bytes, oldest_first)
    if count is None:
        return ()
    victims: list[str] = []
    candidates = oldest_first
    for left in range(count, 0, -1):
        # The shortest run of the longest idle in which `left` models suffice; the last of the run
        # must be one of them, or a shorter run would do.
        end = next(
            end
            for end in range(left, len(candidates) + 1)
            if _largest(candidates[:end], left) >= needed_bytes
        )
        victim = candidates[end - 1]
        victims.append(victim.id)
        needed_bytes -= victim.memory_bytes
        candidates = candidates[: end - 1]
    return tuple(reversed(victims))


def after_measuring(
    residents: Sequence[Resident], *, budget_bytes: int, promised_bytes: int = 0
) -> tuple[str, ...] | None:
    """Whom to evict once a load has turned out larger than it was thought to be.

    Returns:
        The victims, () if there is room; None if the new model cannot stay: the others are in use.
    """
    staying = [one for one in residents if one.phase is not Phase.CLOSING]
    excess_bytes = held_bytes(staying) + promised_bytes - budget_bytes
    if excess_bytes <= 0:
        return ()
    return choose_victims(excess_bytes, residents) or None


def idle_too_long(
    residents: Iterable[Resident], *, now_s: float, limit_s: float
) -> tuple[str, ...]:
    """The models that nobody has used for `limit_s`, counted from the end of the last use."""
    return tuple(
        one.id for one in residents if one.is_evictable and now_s - one.idle_since_s >= limit_s
    )


def held_bytes(residents: Iterable[Resident]) -> int:
    return sum(one.memory_bytes for one in residents)


def _fewest(needed_bytes: int, candidates: Sequence[Resident]) -> int | None:
    return next(
        (
            count
            for count in range(1, len(candidates) + 1)
            if _largest(candidates, count) >= needed_bytes
        ),
        None,
    )


def _largest(candidates: Iterable[Resident], count: int) -> int:
    """What the `count` largest hold together."""
    return sum(sorted((one.memory_bytes for one in candidates), reverse=True)[:count])


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB"
