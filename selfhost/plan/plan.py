"""The plan: what each model takes on a card, what all take together, and whether that fits.

Pure. "The models fit" and "the workload fits" are two answers: weights, activations and overhead
say the first, and the cache for so many sequences of such a length the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from selfhost.errors import SetupError
from selfhost.plan import activations, flags, kv_cache, overhead, precision, small_models, weights
from selfhost.plan.architecture import Architecture
from selfhost.plan.cards import Card
from selfhost.plan.estimate import GIB, Estimate, gib, total
from selfhost.plan.flags import LlamaCppFlags, VllmFlags
from selfhost.plan.small_models import SmallModel
from selfhost.plan.start_order import CacheRange, Starter, Step, order, started_together

MODEL_SERVER = "model server"


class Engine(StrEnum):
    """What runs a generator."""

    VLLM = "vLLM"
    LLAMA_CPP = "llama.cpp"


class Verdict(StrEnum):
    """Whether something fits."""

    YES = "yes"
    LIKELY = "likely (within the error band)"
    NO = "no"


@dataclass(frozen=True)
class Wanted:
    """A model to plan for; all but the first hold for generators only.

    Args:
        model: what the plan knows of it.
        context_tokens: longest sequence.
        sequences: of that length at once.
        precision: of the linear layers, such as "int4"; None for what the checkpoint has.
        kv_dtype: "auto" for 16 bits, or "fp8".
        ranks: cards that share it by tensor parallelism.
        engine: None for llama.cpp where it is a GGUF file and vLLM elsewhere.
        enforce_eager: capture no graphs.
        utilisation: vLLM's share of the card; None to let the plan choose it.
        activations_bytes: as an engine printed them; None to have them estimated.
        overhead_bytes: of vLLM inside its share, as it printed it (non-torch); None to estimate.
    """

    model: Architecture | SmallModel
    context_tokens: int = 8192
    sequences: int = 4
    precision: str | None = None
    kv_dtype: str = "auto"
    ranks: int = 1
    engine: Engine | None = None
    enforce_eager: bool = False
    utilisation: float | None = None
    activations_bytes: int | None = None
    overhead_bytes: int | None = None


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
    notes: tuple[str, ...] = field(default=())

    @property
    def fixed(self) -> Estimate:
        return total([row.fixed for row in self.rows])

    @property
    def all(self) -> Estimate:
        return total([row.all for row in self.rows])


@dataclass(frozen=True)
class _Generator:
    """A generator while its share is being worked out."""

    wanted: Wanted
    architecture: Architecture
    engine: Engine
    shape: kv_cache.CacheShape
    batched_tokens: int
    in_flight_tokens: int
    weights: Estimate
    activations: Estimate
    inside: Estimate  # overhead in the engine's share
    outside: Estimate  # and beside it

    @property
    def needed_bytes(self) -> int:
        wanted = self.wanted
        return self.shape.sequence_bytes(
            wanted.context_tokens, wanted.sequences, self.in_flight_tokens
        )

    @property
    def fixed_inside(self) -> Estimate:
        return self.weights + self.activations + self.inside

    def sequences(self, cache_bytes: int) -> int:
        return self.shape.sequences(cache_bytes, self.wanted.context_tokens, self.in_flight_tokens)


def plan(
    card: Card,
    wanted: Sequence[Wanted],
    *,
    others: Sequence[tuple[str, int]] = (),
) -> Plan:
    """Plan a card, or a machine's memory.

    Args:
        card: what there is.
        wanted: the models.
        others: further processes with what they take, in bytes.

    Raises:
        SetupError: a model or its workload makes no sense.
    """
    generators = [_generator(one, card) for one in wanted if isinstance(one.model, Architecture)]
    small = [one.model for one in wanted if isinstance(one.model, SmallModel)]
    in_use = max(0, card.total_bytes - card.free_bytes) if card.free_bytes is not None else 0
    room = max(0, card.total_bytes - in_use - flags.MARGIN_BYTES)
    other_rows = [*_small_rows(small, card), *_other_rows(others)]
    fixed = total(
        [row.fixed for row in other_rows] + [one.fixed_inside + one.outside for one in generators]
    )
    needed = total([Estimate.exact(one.needed_bytes) for one in generators])
    rows = [
        *(_row(one, card, room, fixed, needed.bytes) for one in generators),
        *other_rows,
    ]
    starters = _starters(rows, card, generators)
    return Plan(
        card=card,
        in_use_bytes=in_use,
        room_bytes=room,
        rows=tuple(rows),
        models_fit=verdict(fixed, room),
        workload_fits=verdict(fixed + needed, room),
        start_order=order(starters),
        started_together=started_together(starters) if len(starters) > 1 else (),
        notes=_notes(generators, small, card),
    )


def process_name(engine: Engine, architecture: Architecture) -> str:
    """What the process that runs a generator is called."""
    return f"{engine} ({architecture.name})"


def verdict(need: Estimate, room_bytes: int) -> Verdict:
    """Whether so much fits into so much."""
    if need.high <= room_bytes:
        return Verdict.YES
    return Verdict.LIKELY if need.bytes <= room_bytes else Verdict.NO


def _generator(wanted: Wanted, card: Card) -> _Generator:
    architecture = wanted.model
    assert isinstance(architecture, Architecture)
    flags.check_workload(wanted.context_tokens, wanted.sequences, architecture)
    engine = wanted.engine or (
        Engine.LLAMA_CPP if architecture.weights_bytes is not None else Engine.VLLM
    )
    if engine is Engine.LLAMA_CPP and architecture.weights_bytes is None:
        raise SetupError(
            f"llama.cpp runs GGUF files, and {architecture.name} is not one. Give the path of its "
            "GGUF file, or plan for vLLM."
        )
    if wanted.ranks > 1 and (card.is_cpu or engine is Engine.LLAMA_CPP):
        raise SetupError("Only vLLM on GPUs shares a model over several cards.")
    quantisation = _quantisation(wanted, architecture)
    batched = flags.batched_tokens_for(wanted.sequences)
    shape = kv_cache.shape(
        architecture,
        ranks=wanted.ranks,
        kv_dtype=wanted.kv_dtype,
        on_cpu=card.is_cpu,
        block_tokens=1 if engine is Engine.LLAMA_CPP else None,
    )
    if engine is Engine.LLAMA_CPP:
        shape = replace(shape, reserved_blocks=0)
    inside, outside = _overhead(wanted, engine, card)
    return _Generator(
        wanted=wanted,
        architecture=architecture,
        engine=engine,
        shape=shape,
        batched_tokens=batched,
        in_flight_tokens=flags.in_flight(batched, on_cpu=card.is_cpu),
        weights=weights.per_rank(architecture, ranks=wanted.ranks, quantisation=quantisation),
        activations=_activations(wanted, architecture, engine, batched),
        inside=inside,
        outside=outside,
    )


def _quantisation(wanted: Wanted, architecture: Architecture) -> precision.Quantisation | None:
    if wanted.precision is None:
        return architecture.quantisation
    if architecture.weights_bytes is not None:
        raise SetupError(
            f"{architecture.name} is a GGUF file, whose precision is what it is; give another file."
        )
    return precision.by_name(wanted.precision)


def _activations(
    wanted: Wanted, architecture: Architecture, engine: Engine, batched_tokens: int
) -> Estimate:
    if wanted.activations_bytes is not None:
        return Estimate.exact(wanted.activations_bytes)
    if engine is Engine.LLAMA_CPP:
        return Estimate.exact(0)  # its compute buffer is in what was measured for its process
    return activations.peak(
        architecture,
        batched_tokens=batched_tokens,
        sequences=wanted.sequences,
        ranks=wanted.ranks,
    )


def _overhead(wanted: Wanted, engine: Engine, card: Card) -> tuple[Estimate, Estimate]:
    none = Estimate.exact(0)
    if engine is Engine.LLAMA_CPP:
        return none, overhead.LLAMA_CPP if card.is_cpu else overhead.CONTEXT
    if card.is_cpu:
        return none, overhead.CPU_ENGINE
    estimated = overhead.vllm_on_gpu(wanted.ranks, wanted.enforce_eager)
    if wanted.overhead_bytes is not None:
        return Estimate.exact(wanted.overhead_bytes), estimated.outside
    return estimated.inside, estimated.outside


def _row(
    generator: _Generator, card: Card, room_bytes: int, fixed: Estimate, all_needed_bytes: int
) -> Row:
    """A generator with its part of what the others leave, in proportion to what it needs."""
    part = generator.needed_bytes / all_needed_bytes

    def cache_with(fixed_bytes: int) -> int:
        spare = room_bytes - fixed_bytes - all_needed_bytes
        return int(generator.needed_bytes + spare * part)

    cache_room = cache_with(fixed.bytes)
    wanted, shape = generator.wanted, generator.shape
    engine_flags, cache_bytes = _flags(generator, card, cache_room)
    context, in_flight = wanted.context_tokens, generator.in_flight_tokens
    return Row(
        name=generator.architecture.name,
        process=process_name(generator.engine, generator.architecture),
        weights=generator.weights,
        cache=Estimate.exact(generator.needed_bytes),
        activations=generator.activations,
        overhead=generator.inside + generator.outside,
        generation=Generation(
            engine=generator.engine,
            precision=_precision_name(generator),
            context_tokens=context,
            sequences=wanted.sequences,
            sequences_fit=generator.sequences(cache_room),
            sequences_fit_least=generator.sequences(cache_with(fixed.high)),
            sequences_fit_most=generator.sequences(cache_with(fixed.low)),
            cache_bytes=cache_bytes,
            cache_tokens=shape.printed_tokens(cache_bytes, context, in_flight),
            concurrency=shape.concurrency(cache_bytes, context, in_flight),
            savings=_savings(generator, cache_room),
            flags=engine_flags,
            ranks=wanted.ranks,
        ),
    )


def _precision_name(generator: _Generator) -> str:
    if generator.architecture.weights_bytes is not None:
        bits = 8 * generator.architecture.weights_bytes / generator.architecture.parameters
        return f"GGUF, {bits:.1f} bits"
    used = _quantisation(generator.wanted, generator.architecture)
    return used.name if used else "16 bits"


def _flags(
    generator: _Generator, card: Card, cache_room: int
) -> tuple[VllmFlags | LlamaCppFlags | None, int]:
    """The engine's flags, and the cache that they give it on each card."""
    wanted = generator.wanted
    context, sequences = wanted.context_tokens, wanted.sequences
    if generator.engine is Engine.LLAMA_CPP:
        fits = cache_room >= generator.needed_bytes
        cache = generator.needed_bytes
        return (LlamaCppFlags(sequences, context) if fits else None), cache
    common = VllmFlags(
        max_model_len=context,
        max_num_seqs=sequences,
        max_num_batched_tokens=generator.batched_tokens,
        tensor_parallel_size=wanted.ranks,
        kv_cache_dtype=wanted.kv_dtype,
        quantization=_on_load(wanted, generator.architecture),
        enforce_eager=wanted.enforce_eager,
    )
    one = generator.shape.sequence_bytes(context, 1, generator.in_flight_tokens)
    if card.is_cpu:
        space_gib = math.ceil(generator.needed_bytes / GIB)
        fits = cache_room >= one
        return (replace(common, cpu_kv_cache_gib=space_gib) if fits else None), space_gib * GIB
    if wanted.utilisation is not None:
        utilisation = wanted.utilisation
    else:
        share = (generator.fixed_inside.bytes + cache_room) / card.total_bytes
        utilisation = min(flags.MOST_UTILISATION, math.floor(1000 * share) / 1000)
    cache = int(card.total_bytes * utilisation) - generator.fixed_inside.bytes
    if cache < one:
        return None, cache
    return replace(common, gpu_memory_utilization=utilisation), cache


def _on_load(wanted: Wanted, architecture: Architecture) -> str | None:
    """What vLLM can make of a 16-bit checkpoint by itself."""
    return "fp8" if wanted.precision == "fp8" and architecture.quantisation is None else None


def _savings(generator: _Generator, cache_room: int) -> tuple[Saving, ...]:
    architecture = generator.architecture
    if architecture.weights_bytes is not None:
        return ()
    savings = []
    for name in ("int8", "int4"):
        then = weights.per_rank(
            architecture,
            ranks=generator.wanted.ranks,
            quantisation=precision.by_name(name),
        )
        freed = generator.weights.bytes - then.bytes
        if freed > 0.02 * generator.weights.bytes:
            savings.append(Saving(name, freed, generator.sequences(cache_room + freed)))
    return tuple(savings)


def _small_rows(models: Sequence[SmallModel], card: Card) -> list[Row]:
    none = Estimate.exact(0)
    on_gpu = not card.is_cpu
    rows = [
        Row(
            name=model.name,
            process=MODEL_SERVER,
            weights=small_models.weights(model, on_gpu=on_gpu),
            cache=none,
            activations=small_models.scratch(model, on_gpu=on_gpu),
            overhead=none,
        )
        for model in models
    ]
    if rows:
        process = overhead.CONTEXT if on_gpu else overhead.MODEL_SERVER
        rows.append(Row("model server itself", MODEL_SERVER, none, none, none, process))
    return rows


def _other_rows(others: Sequence[tuple[str, int]]) -> list[Row]:
    none = Estimate.exact(0)
    return [
        Row(name, name, none, none, none, Estimate.within(size_bytes, 0.3))
        for name, size_bytes in others
    ]


def _starters(
    rows: Sequence[Row], card: Card, generators: Sequence[_Generator]
) -> tuple[Starter, ...]:
    on_card = not card.is_cpu
    starters = [
        Starter(
            name=process_name(one.engine, one.architecture),
            measures_the_card=on_card and one.engine is Engine.VLLM,
            on_card=on_card,
            fixed_bytes=one.fixed_inside.bytes,
            share_bytes=_share_bytes(row, card),
        )
        for one, row in zip(generators, rows, strict=False)
    ]
    server = [row for row in rows if row.process == MODEL_SERVER]
    if server:
        starters.append(
            Starter(
                MODEL_SERVER,
                measures_the_card=False,
                on_card=on_card,
                fixed_bytes=total([row.fixed for row in server]).bytes,
            )
        )
    return tuple(starters)


def _share_bytes(row: Row, card: Card) -> int | None:
    used = row.generation.flags if row.generation else None
    if not isinstance(used, VllmFlags) or used.gpu_memory_utilization is None:
        return None
    return int(card.total_bytes * used.gpu_memory_utilization)


def _notes(
    generators: Sequence[_Generator], small: Sequence[SmallModel], card: Card
) -> tuple[str, ...]:
    notes = []
    shared = [one for one in generators if one.wanted.ranks > 1]
    if shared:
        notes.append(
            "Sizes are those of each card. The engine takes the smallest cache over its cards, so "
            "the other models belong on the card with the most room."
        )
    for one in generators:
        name = one.wanted.precision
        if name in ("int8", "w8a8", "int4") and one.architecture.quantisation is None:
            notes.append(
                f"vLLM makes no {name} of {one.architecture.name} while it loads: serve a "
                "checkpoint that is quantised so."
            )
    if small and not card.is_cpu:
        notes.append(
            "What the model server's models need besides their weights was not measured on a card."
        )
    if card.free_bytes is not None:
        used = gib(card.total_bytes - card.free_bytes)
        notes.append(
            f"Others have {used} of it now, which the plan leaves them. If that is this product "
            "itself, stop it and plan again."
        )
    if any(one.engine is Engine.VLLM for one in generators) and card.is_cpu:
        notes.append(
            "vLLM takes its cache on CPU in whole GiB, and touches it only as sequences come."
        )
    return tuple(notes)
