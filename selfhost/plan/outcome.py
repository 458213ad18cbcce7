"""What a plan says: rows, verdicts, and what each generator can serve."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from selfhost.plan.cards import Card
from selfhost.plan.estimate import Estimate, total
from selfhost.plan.flags import LlamaCppFlags, VllmFlags
from selfhost.plan.start_order import CacheRange, Step
from selfhost.plan.wanted import Engine


class Verdict(StrEnum):
    """Whether something fits, from the worst answer to the best."""

    NO = "no"
    LIKELY = "likely (within the error band)"
    YES = "yes"


def verdict(need: Estimate, room_bytes: int) -> Verdict:
    """Whether so much fits into so much."""
    if need.high <= room_bytes:
        return Verdict.YES
    return Verdict.LIKELY if need.bytes <= room_bytes else Verdict.NO


@dataclass(frozen=True)
class Saving:
    """What another precision of the weights would free on each card."""

    precision: str
    frees_bytes: int
    sequences_then: int


@dataclass(frozen=True)
class Generation:
    """What a generator can serve.

    Args:
        engine: that runs it.
        precision: of its linear layers, for people.
        context_tokens: longest sequence.
        sequences: asked for at once.
        sequences_fit: that would fit with all the room that is left; `least` and `most` at the
            ends of the error band.
        cache_bytes: that the flags give it on each card.
        cache_tokens: what the engine should print for them.
        concurrency: likewise.
        savings: by precision.
        flags: for the engine; None where it does not fit.
        ranks: cards that share it.
    """

    engine: Engine
    precision: str
    context_tokens: int
    sequences: int
    sequences_fit: int
    sequences_fit_least: int
    sequences_fit_most: int
    cache_bytes: int
    cache_tokens: int
    concurrency: float
    savings: tuple[Saving, ...]
    flags: VllmFlags | LlamaCppFlags | None
    ranks: int


@dataclass(frozen=True)
class Row:
    """A model, or a process, on the card.

    Args:
        name: of the model.
        process: that holds it.
        weights: in memory.
        cache: for the workload; none for models without one.
        activations: and workspace.
        overhead: contexts, libraries, graphs.
        generation: for a generator.
    """

    name: str
    process: str
    weights: Estimate
    cache: Estimate
    activations: Estimate
    overhead: Estimate
    generation: Generation | None = None

    @property
    def fixed(self) -> Estimate:
        """All but the cache."""
        return self.weights + self.activations + self.overhead

    @property
    def all(self) -> Estimate:
        return self.fixed + self.cache


@dataclass(frozen=True)
class Plan:
    """What all models take on a card.

    Args:
        card: each of them, where models are shared over several.
        in_use_bytes: what others have of it now; 0 for a card that was only named.
        room_bytes: what the models may take.
        rows: a model or a process each.
        models_fit: without any cache.
        workload_fits: with the cache for all sequences.
        start_order: of the processes.
        started_together: what becomes of the caches without that order.
        notes: what a reader must know besides.
    """

    card: Card
    in_use_bytes: int
    room_bytes: int
    rows: tuple[Row, ...]
    models_fit: Verdict
    workload_fits: Verdict
    start_order: tuple[Step, ...]
    started_together: tuple[CacheRange, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fixed(self) -> Estimate:
        return total([row.fixed for row in self.rows])

    @property
    def all(self) -> Estimate:
        return total([row.all for row in self.rows])
