"""The flags that make an engine take what the plan gives it, and no more.

The one place where a memory plan becomes a command line, which `selfhost.engines` starts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from selfhost.errors import SetupError
from selfhost.plan import activations, kv_cache, overhead, weights
from selfhost.plan.architecture import Architecture
from selfhost.plan.cards import Card
from selfhost.plan.estimate import GIB, Estimate, gib
from selfhost.plan.precision import Quantisation

# vLLM's own default for its server on most cards; said explicitly, as it differs between cards and
# decides what a step needs.
BATCHED_TOKENS = 2048
# Off the share of a card, as vLLM does it in what it suggests: what it measures is a little low.
MARGIN_BYTES = 150 << 20
MOST_UTILISATION = 0.97


@dataclass(frozen=True)
class VllmFlags:
    """What `vllm serve` is told about memory.

    Args:
        max_model_len: longest sequence, in tokens.
        max_num_seqs: sequences at once.
        max_num_batched_tokens: tokens in one step.
        gpu_memory_utilization: share of the card, in (0, 1]; None where the cache has bytes.
        kv_cache_memory_bytes: of the cache on each card; None where the share decides it.
        cpu_kv_cache_gib: of the cache in the machine's memory, whole GiB; None on a GPU.
        tensor_parallel_size: cards that share the model.
        kv_cache_dtype: "auto" for 16 bits, or "fp8".
        quantization: made while loading ("fp8"); None to take the checkpoint as it is.
        enforce_eager: capture no graphs and compile nothing: quicker to start, slower to answer.
    """

    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    gpu_memory_utilization: float | None = None
    kv_cache_memory_bytes: int | None = None
    cpu_kv_cache_gib: int | None = None
    tensor_parallel_size: int = 1
    kv_cache_dtype: str = "auto"
    quantization: str | None = None
    enforce_eager: bool = False

    def arguments(self) -> tuple[str, ...]:
        """For the command line."""
        arguments = [
            *("--max-model-len", str(self.max_model_len)),
            *("--max-num-seqs", str(self.max_num_seqs)),
            *("--max-num-batched-tokens", str(self.max_num_batched_tokens)),
        ]
        if self.gpu_memory_utilization is not None:
            arguments += ["--gpu-memory-utilization", f"{self.gpu_memory_utilization:g}"]
        if self.kv_cache_memory_bytes is not None:
            arguments += ["--kv-cache-memory-bytes", str(self.kv_cache_memory_bytes)]
        if self.tensor_parallel_size > 1:
            arguments += ["--tensor-parallel-size", str(self.tensor_parallel_size)]
        if self.kv_cache_dtype != "auto":
            arguments += ["--kv-cache-dtype", self.kv_cache_dtype]
        if self.quantization:
            arguments += ["--quantization", self.quantization]
        if self.enforce_eager:
            arguments.append("--enforce-eager")
        return tuple(arguments)

    def environment(self) -> dict[str, str]:
        """For the process; vLLM takes the cache's size on CPU from its environment only."""
        if self.cpu_kv_cache_gib is None:
            return {}
        return {"VLLM_CPU_KVCACHE_SPACE": str(self.cpu_kv_cache_gib)}


@dataclass(frozen=True)
class LlamaCppFlags:
    """What llama.cpp is told about memory.

    Args:
        slots: sequences at once.
        context_tokens_per_slot: longest sequence, in tokens.
    """

    slots: int
    context_tokens_per_slot: int

    @property
    def context_tokens(self) -> int:
        """Over all slots, which is what llama.cpp allocates."""
        return self.slots * self.context_tokens_per_slot

    def arguments(self) -> tuple[str, ...]:
        """For `llama-server`."""
        return ("--ctx-size", str(self.context_tokens), "--parallel", str(self.slots))


def check_workload(context_tokens: int, sequences: int, architecture: Architecture) -> None:
    """That the workload makes sense for the model.

    Raises:
        SetupError: it does not.
    """
    if context_tokens < 1:
        raise SetupError(f"Expected a context of 1 or more tokens, got {context_tokens}.")
    if sequences < 1:
        raise SetupError(f"Expected 1 or more sequences at once, got {sequences}.")
    longest = architecture.max_context_tokens
    if longest is not None and context_tokens > longest:
        raise SetupError(
            f"{architecture.name} was made for {longest:,} tokens of context, and "
            f"{context_tokens:,} were asked for. Ask for fewer with --context."
        )


def batched_tokens_for(sequences: int, batched_tokens: int = BATCHED_TOKENS) -> int:
    """Tokens in one step: vLLM wants at least one for each sequence."""
    return max(batched_tokens, sequences)


def vllm_on_cpu(
    architecture: Architecture,
    *,
    context_tokens: int,
    sequences: int,
    batched_tokens: int = BATCHED_TOKENS,
    enforce_eager: bool = True,
) -> VllmFlags:
    """vLLM on the CPU: a cache of whole GiB that holds so many sequences of full length.

    Args:
        architecture: the model.
        context_tokens: longest sequence.
        sequences: at once.
        batched_tokens: in one step; on a few cores many keep everyone waiting.
        enforce_eager: compile nothing; a start takes a minute less.

    Raises:
        SetupError: the workload makes no sense for the model.
    """
    check_workload(context_tokens, sequences, architecture)
    shape = kv_cache.shape(architecture, on_cpu=True)
    batched = batched_tokens_for(sequences, batched_tokens)
    needed = shape.sequence_bytes(context_tokens, sequences, in_flight(batched, on_cpu=True))
    return VllmFlags(
        max_model_len=context_tokens,
        max_num_seqs=sequences,
        max_num_batched_tokens=batched,
        cpu_kv_cache_gib=math.ceil(needed / GIB),
        enforce_eager=enforce_eager,
    )


def in_flight(batched_tokens: int, *, on_cpu: bool) -> int:
    """Tokens scheduled and not settled: a step's, or two steps' where steps overlap.

    vLLM overlaps two on a GPU (`VllmConfig.max_in_flight_tokens`, asynchronous scheduling) and none
    on a CPU.
    """
    return batched_tokens if on_cpu else 2 * batched_tokens


def vllm_on_gpu(
    architecture: Architecture,
    card: Card,
    *,
    context_tokens: int,
    sequences: int,
    others_bytes: int = 0,
    ranks: int = 1,
    kv_dtype: str = "auto",
    quantisation: Quantisation | None = None,
    quantise_on_load: bool = False,
    enforce_eager: bool = False,
) -> VllmFlags:
    """vLLM on a card that it may share: all that the others leave, as a share of the card.

    A share and not a size of the cache, as vLLM then takes what it measures of its own activations
    away from the cache, and a wrong estimate costs cache instead of a crash.

    Args:
        architecture: the model.
        card: each of the cards.
        context_tokens: longest sequence.
        sequences: at once.
        others_bytes: what other processes will take on the card, their contexts included.
        ranks: cards that share the model.
        kv_dtype: "auto" or "fp8".
        quantisation: of the linear layers.
        quantise_on_load: the checkpoint is not quantised; vLLM does it (fp8 only).
        enforce_eager: capture no graphs.

    Raises:
        SetupError: the workload makes no sense, or not even one sequence would fit.
    """
    check_workload(context_tokens, sequences, architecture)
    batched = batched_tokens_for(sequences)
    utilisation = largest_share(card, others_bytes)
    fixed = inside_share(
        architecture,
        batched_tokens=batched,
        sequences=sequences,
        ranks=ranks,
        quantisation=quantisation,
        enforce_eager=enforce_eager,
    )
    shape = kv_cache.shape(architecture, ranks=ranks, kv_dtype=kv_dtype)
    left = int(card.total_bytes * utilisation) - fixed.bytes
    needed = shape.sequence_bytes(context_tokens, 1, in_flight(batched, on_cpu=False))
    if left < needed:
        raise SetupError(
            f"{architecture.name} does not fit on {card.name}: beside the other models vLLM may "
            f"have {gib(card.total_bytes * utilisation)}, its weights, activations and overhead "
            f"are about {gib(fixed.bytes)}, and one sequence of {context_tokens:,} tokens needs "
            f"{gib(needed)} more. Take a smaller context or precision, or a larger card; "
            "`python -m selfhost plan` shows what each would free."
        )
    return VllmFlags(
        max_model_len=context_tokens,
        max_num_seqs=sequences,
        max_num_batched_tokens=batched,
        gpu_memory_utilization=utilisation,
        tensor_parallel_size=ranks,
        kv_cache_dtype=kv_dtype,
        quantization="fp8" if quantise_on_load else None,
        enforce_eager=enforce_eager,
    )


def largest_share(card: Card, others_bytes: int) -> float:
    """The share of a card that vLLM may take, rounded down to a thousandth.

    Args:
        card: the card.
        others_bytes: of other processes, their contexts included. vLLM's own context comes on top
            of its share, so it is taken off here.
    """
    free = card.total_bytes - others_bytes - overhead.CONTEXT.bytes - MARGIN_BYTES
    return max(0.0, min(MOST_UTILISATION, math.floor(1000 * free / card.total_bytes) / 1000))


def inside_share(
    architecture: Architecture,
    *,
    batched_tokens: int,
    sequences: int,
    ranks: int = 1,
    quantisation: Quantisation | None = None,
    enforce_eager: bool = False,
) -> Estimate:
    """Everything in vLLM's share of a card but the cache.

    Args: as those of `vllm_on_gpu`.
    """
    return (
        weights.per_rank(architecture, ranks=ranks, quantisation=quantisation)
        + activations.peak(
            architecture, batched_tokens=batched_tokens, sequences=sequences, ranks=ranks
        )
        + overhead.vllm_on_gpu(ranks, enforce_eager).inside
    )


def llama_cpp(architecture: Architecture, *, context_tokens: int, sequences: int) -> LlamaCppFlags:
    """llama.cpp with a slot for each sequence.

    Args:
        architecture: the model.
        context_tokens: longest sequence.
        sequences: at once.

    Raises:
        SetupError: the workload makes no sense for the model.
    """
    check_workload(context_tokens, sequences, architecture)
    return LlamaCppFlags(sequences, context_tokens)
