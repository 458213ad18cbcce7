"""A generator on a card: what it needs, the cache that it gets, and its engine's flags."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from selfhost.errors import SetupError
from selfhost.plan import activations, flags, kv_cache, overhead, precision, weights
from selfhost.plan.architecture import Architecture
from selfhost.plan.cards import Card
from selfhost.plan.estimate import GIB, Estimate
from selfhost.plan.flags import LlamaCppFlags, VllmFlags
from selfhost.plan.outcome import Generation, Row, Saving
from selfhost.plan.wanted import Engine, Wanted


@dataclass(frozen=True)
class Generator:
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
    takes_whole_gib: bool  # of cache, as vLLM on CPU does

    @property
    def needed_bytes(self) -> int:
        """Of cache for the workload, as the engine takes it."""
        wanted = self.wanted
        needed = self.shape.sequence_bytes(
            wanted.context_tokens, wanted.sequences, self.in_flight_tokens
        )
        return math.ceil(needed / GIB) * GIB if self.takes_whole_gib else needed

    @property
    def fixed_inside(self) -> Estimate:
        return self.weights + self.activations + self.inside

    def share_bytes(self, card: Card) -> int | None:
        """Of the card, where the user set it; None where the plan chooses it."""
        share = self.wanted.utilisation
        return None if share is None or card.is_cpu else int(card.total_bytes * share)

    def sequences(self, cache_bytes: int) -> int:
        return self.shape.sequences(cache_bytes, self.wanted.context_tokens, self.in_flight_tokens)


def work_out(wanted: Wanted, card: Card) -> Generator:
    """What a generator needs.

    Args:
        wanted: for a generator.
        card: that it runs on.

    Raises:
        SetupError: its workload makes no sense, or the engine cannot run it there.
    """
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
    return Generator(
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
        takes_whole_gib=card.is_cpu and engine is Engine.VLLM,
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


def row(
    generator: Generator, card: Card, room_bytes: int, fixed: Estimate, all_needed_bytes: int
) -> Row:
    """A generator with its part of what the others leave, in proportion to what it needs.

    Args:
        generator: worked out.
        card: that it runs on.
        room_bytes: for all models together.
        fixed: what all models take without caches, this one included.
        all_needed_bytes: of cache, for the workloads of all generators.
    """
    part = generator.needed_bytes / all_needed_bytes

    def cache_with(fixed_bytes: int, inside_bytes: int) -> int:
        share_bytes = generator.share_bytes(card)
        if share_bytes is not None:
            return share_bytes - inside_bytes
        spare = room_bytes - fixed_bytes - all_needed_bytes
        return int(generator.needed_bytes + spare * part)

    inside = generator.fixed_inside
    cache_room = cache_with(fixed.bytes, inside.bytes)
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
            sequences_fit_least=generator.sequences(cache_with(fixed.high, inside.high)),
            sequences_fit_most=generator.sequences(cache_with(fixed.low, inside.low)),
            cache_bytes=cache_bytes,
            cache_tokens=shape.printed_tokens(cache_bytes, context, in_flight),
            concurrency=shape.concurrency(cache_bytes, context, in_flight),
            savings=_savings(generator, cache_room),
            flags=engine_flags,
            ranks=wanted.ranks,
        ),
    )


def _precision_name(generator: Generator) -> str:
    if generator.architecture.weights_bytes is not None:
        bits = 8 * generator.architecture.weights_bytes / generator.architecture.parameters
        return f"GGUF, {bits:.1f} bits"
    used = _quantisation(generator.wanted, generator.architecture)
    return used.name if used else "16 bits"


def _flags(
    generator: Generator, card: Card, cache_room: int
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
        # It takes all of it at its start, so never more than there is.
        space_gib = max(0, min(generator.needed_bytes, cache_room)) // GIB
        fits = space_gib * GIB >= one
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


def _savings(generator: Generator, cache_room: int) -> tuple[Saving, ...]:
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


def process_name(engine: Engine, architecture: Architecture) -> str:
    """What the process that runs a generator is called."""
    return f"{engine} ({architecture.name})"
