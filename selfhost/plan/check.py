"""The plan against what an engine found when it started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from selfhost.errors import SetupError
from selfhost.plan import activations, flags, kv_cache, overhead, weights
from selfhost.plan.architecture import Architecture
from selfhost.plan.boot_log import BootLog, parse
from selfhost.plan.comparison import Check, Comparison
from selfhost.plan.estimate import Estimate, gib
from selfhost.plan.precision import by_name

# What the plan promises, as shares of what the engine found.
CACHE_TOLERANCE = 0.02
WEIGHTS_TOLERANCE = 0.03
# The engine's own defaults where its log does not say what it was given.
DEFAULT_SEQUENCES = 256


def check(text: str, find: Callable[[str], Architecture], model: str | None = None) -> Check:
    """Compare a start-up log with the plan.

    Args:
        text: of the log.
        find: from a name or path to an architecture.
        model: its name, where the log's own is none that the plan knows.

    Raises:
        SetupError: it is no start-up log of vLLM, or its model is not known.
    """
    log = parse(text)
    if not log.says_something:
        raise SetupError(
            "This log says nothing of weights or of a KV cache. Expected the start-up log of vLLM, "
            "from its first line until it serves."
        )
    name = model or log.model
    if name is None:
        raise SetupError("The log does not name its model: name it with --model NAME or PATH.")
    try:
        architecture = find(name)
    except SetupError as error:
        if model is not None:
            raise
        raise SetupError(
            f"The log's model is {name}. {error} Name it with --model NAME or PATH."
        ) from None
    return compare(log, _as_loaded(architecture, log))


def _as_loaded(architecture: Architecture, log: BootLog) -> Architecture:
    """As the engine loaded it, where it was told to quantise."""
    if log.precision == "fp8" and architecture.quantisation is None:
        return replace(architecture, quantisation=by_name("fp8"))
    return architecture


def compare(log: BootLog, architecture: Architecture) -> Check:
    """Each figure of a log with what the plan says from what stands before it.

    Args:
        log: what was read.
        architecture: of its model.
    """
    comparisons: list[Comparison] = []
    missing: list[str] = []
    sequences = log.max_num_seqs or DEFAULT_SEQUENCES
    batched = log.batched_tokens or flags.BATCHED_TOKENS
    weights_now = weights.per_rank(
        architecture, ranks=log.ranks, quantisation=architecture.quantisation
    )
    _weights(log, weights_now, comparisons, missing)
    estimated = overhead.vllm_on_gpu(log.ranks, log.enforce_eager)
    if not log.on_cpu:
        _gpu_parts(log, architecture, batched, sequences, comparisons, missing)
        _cache_bytes(
            log,
            architecture,
            weights_now,
            estimated.inside,
            batched,
            sequences,
            comparisons,
            missing,
        )
    _cache_tokens(log, architecture, batched, comparisons, missing)
    return Check(architecture.name, log, tuple(comparisons), tuple(missing))


def _weights(
    log: BootLog, expected: Estimate, comparisons: list[Comparison], missing: list[str]
) -> None:
    actual, what = log.weights_bytes, "weights on each card"
    if actual is None and log.on_cpu:
        # vLLM on CPU prints no size of the loaded weights, but that of the files.
        actual, what = log.checkpoint_bytes, "weights (size of files)"
    if actual is None:
        missing.append("the size of the weights")
        return
    comparisons.append(
        Comparison(what, expected.bytes, actual, "bytes", tolerance=WEIGHTS_TOLERANCE)
    )


def _gpu_parts(
    log: BootLog,
    architecture: Architecture,
    batched: int,
    sequences: int,
    comparisons: list[Comparison],
    missing: list[str],
) -> None:
    if log.activations_bytes is None:
        missing.append("the activations of the trial step")
    elif not architecture.has_vision:
        estimate = activations.peak(
            architecture, batched_tokens=batched, sequences=sequences, ranks=log.ranks
        )
        if log.batched_tokens is None or log.max_num_seqs is None:
            given = f"{batched} tokens a step and {sequences} sequences, the log does not say"
        else:
            given = ""
        comparisons.append(
            Comparison(
                "activations",
                estimate.bytes,
                log.activations_bytes,
                "bytes",
                band=estimate,
                given=given,
            )
        )
    if log.graphs_bytes is not None:
        comparisons.append(
            Comparison(
                "captured graphs",
                overhead.GRAPHS.bytes,
                log.graphs_bytes,
                "bytes",
                band=overhead.GRAPHS,
            )
        )
    if log.non_torch_bytes is not None:
        outside = overhead.NON_TORCH
        if log.ranks > 1:
            outside = outside + overhead.COLLECTIVES
        comparisons.append(
            Comparison("outside PyTorch", outside.bytes, log.non_torch_bytes, "bytes", band=outside)
        )


def _cache_bytes(
    log: BootLog,
    architecture: Architecture,
    weights_now: Estimate,
    inside: Estimate,
    batched: int,
    sequences: int,
    comparisons: list[Comparison],
    missing: list[str],
) -> None:
    """The cache by the start-up formula: share of the card, less what the log prints besides."""
    actual = log.least_cache_bytes
    if actual is None:
        missing.append("the size of the KV cache")
        return
    if log.total_bytes is None or log.utilisation is None:
        missing.append("the card's memory and vLLM's share of it, so its cache is not predicted")
        return
    requested = log.total_bytes * log.utilisation
    parts, given = _printed_parts(log, weights_now)
    if parts is not None:
        comparisons.append(
            Comparison(
                "KV cache on each card",
                requested - parts,
                actual,
                "bytes",
                tolerance=CACHE_TOLERANCE,
                given=given,
            )
        )
        return
    if architecture.has_vision:
        missing.append("the activations, which the plan does not estimate for images")
        return
    fixed = (
        weights_now
        + inside
        + activations.peak(
            architecture, batched_tokens=batched, sequences=sequences, ranks=log.ranks
        )
    )
    band = Estimate(
        max(0, int(requested - fixed.bytes)),
        max(0, int(requested - fixed.high)),
        max(0, int(requested - fixed.low)),
    )
    comparisons.append(
        Comparison(
            "KV cache on each card",
            requested - fixed.bytes,
            actual,
            "bytes",
            band=band,
            given="the share of the card alone",
        )
    )


def _printed_parts(log: BootLog, weights_now: Estimate) -> tuple[float | None, str]:
    """What the engine printed of its share besides the cache."""
    if log.activations_bytes is None:
        return None, ""
    if log.consumed_bytes is not None:
        # Newer versions add the graphs that they expect to the activations that they print.
        return log.consumed_bytes + log.activations_bytes, "the share, consumed and activations"
    if log.non_torch_bytes is None:
        return None, ""
    printed = log.non_torch_bytes + log.activations_bytes
    return weights_now.bytes + printed, "the share, activations and non-torch memory as printed"


def _cache_tokens(
    log: BootLog,
    architecture: Architecture,
    batched: int,
    comparisons: list[Comparison],
    missing: list[str],
) -> None:
    """Blocks, tokens and sequences from the cache as printed, or from each other without it."""
    cache, context = log.least_cache_bytes, log.max_model_len
    if cache is None:
        if log.on_cpu:
            missing.append("the size of the KV cache")
        _from_each_other(log, comparisons)
        return
    shape = kv_cache.shape(
        architecture,
        ranks=log.ranks,
        kv_dtype=log.kv_dtype,
        block_tokens=log.block_tokens,
        on_cpu=log.on_cpu,
    )
    tolerance: float | None = CACHE_TOLERANCE
    given = f"{gib(cache)} of cache as printed"
    if len(log.cache_bytes) < log.ranks:
        # The card with the least decides, and it may be one that the log leaves out.
        missing.append(
            f"the cache of {log.ranks - len(log.cache_bytes)} of {log.ranks} cards: the engine "
            "takes the smallest, so what is predicted from the others promises nothing"
        )
        tolerance = None
    in_flight = flags.in_flight(batched, on_cpu=log.on_cpu)

    def add(what: str, predicted: float, actual: float | None, unit: str) -> None:
        if actual is not None:
            comparisons.append(
                Comparison(what, predicted, actual, unit, tolerance=tolerance, given=given)
            )

    add("KV cache", shape.blocks(cache), log.blocks, "blocks")
    if context:
        tokens = shape.printed_tokens(cache, context, in_flight)
        concurrency = round(shape.concurrency(cache, context, in_flight), 2)
        add("KV cache", tokens, log.cache_tokens, "tokens")
        add("full sequences at once", concurrency, log.concurrency, "x")
    elif architecture.has_windows:
        missing.append("the longest sequence, without which windows cannot be counted")
    else:
        add("KV cache", shape.blocks(cache) * shape.block_tokens, log.cache_tokens, "tokens")
    if log.cache_tokens is None and log.blocks is None:
        missing.append("the tokens or blocks of the KV cache")


def _from_each_other(log: BootLog, comparisons: list[Comparison]) -> None:
    if log.concurrency is None or log.max_model_len is None:
        return
    if log.cache_tokens is not None:
        tokens, given = log.cache_tokens, "the tokens as printed"
    elif log.blocks is not None:
        tokens = log.blocks * (log.block_tokens or kv_cache.GPU_BLOCK_TOKENS)
        given = "the blocks as printed"
    else:
        return
    predicted = round(tokens / log.max_model_len, 2)
    comparisons.append(
        Comparison(
            "full sequences at once",
            predicted,
            log.concurrency,
            "x",
            tolerance=CACHE_TOLERANCE,
            given=given,
        )
    )
