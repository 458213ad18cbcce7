"""What must hold of the plan for any model, any card and any workload."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from selfhost.errors import SetupError
from selfhost.plan import activations, config, flags, kv_cache, weights
from selfhost.plan.architecture import Architecture, Split
from selfhost.plan.cards import Card
from selfhost.plan.estimate import GIB, Estimate
from selfhost.plan.flags import VllmFlags
from selfhost.plan.outcome import Plan, Verdict
from selfhost.plan.plan import plan
from selfhost.plan.precision import BY_NAME
from selfhost.plan.wanted import Wanted

ORDER = {Verdict.NO: 0, Verdict.LIKELY: 1, Verdict.YES: 2}


@st.composite
def models(draw: st.DrawFn) -> Architecture:
    """Decoders of any size: grouped heads, experts, windows, tied or not."""
    kv_heads = draw(st.sampled_from([1, 2, 4, 8]))
    heads = kv_heads * draw(st.sampled_from([1, 2, 4, 7]))
    layers = draw(st.integers(1, 48))
    described: dict[str, Any] = {
        "model_type": "qwen3",
        "hidden_size": 64 * draw(st.integers(1, 64)),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": draw(st.sampled_from([64, 128, 256])),
        "intermediate_size": 64 * draw(st.integers(1, 256)),
        "vocab_size": draw(st.integers(1000, 200_000)),
        "tie_word_embeddings": draw(st.booleans()),
    }
    if draw(st.booleans()):
        kinds = st.sampled_from(["full_attention", "sliding_attention"])
        described["layer_types"] = draw(st.lists(kinds, min_size=layers, max_size=layers))
        described["sliding_window"] = draw(st.sampled_from([512, 1024, 4096]))
    if draw(st.booleans()):
        described |= {
            "model_type": "qwen3_moe",
            "num_experts": draw(st.sampled_from([4, 16, 64])),
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 64 * draw(st.integers(1, 32)),
        }
    return config.read(described, "drawn")


ranks = st.sampled_from([1, 2, 4, 8])
contexts = st.integers(1, 200_000)
some_sequences = st.integers(1, 256)


def can_share(model: Architecture, count: int) -> bool:
    try:
        model.check_tensor_parallel(count)
    except SetupError:
        return False
    return True


@given(models(), contexts, st.integers(0, 100_000), some_sequences, st.booleans())
def test_more_context_never_needs_fewer_bytes(
    model: Architecture, context: int, more: int, sequences: int, on_cpu: bool
) -> None:
    shape = kv_cache.shape(model, on_cpu=on_cpu)
    assert shape.sequence_bytes(context, sequences, 2048) <= shape.sequence_bytes(
        context + more, sequences, 2048
    )


@given(models(), contexts, some_sequences, some_sequences)
def test_more_sequences_always_need_more_bytes(
    model: Architecture, context: int, sequences: int, more: int
) -> None:
    shape = kv_cache.shape(model)
    fewer = shape.sequence_bytes(context, sequences, 2048)
    assert fewer < shape.sequence_bytes(context, sequences + more, 2048)


@given(models(), contexts, some_sequences)
def test_what_a_workload_needs_is_what_holds_it(
    model: Architecture, context: int, sequences: int
) -> None:
    shape = kv_cache.shape(model)
    needed = shape.sequence_bytes(context, sequences, 2048)
    assert shape.sequences(needed, context, 2048) == sequences
    assert shape.sequences(needed - 1, context, 2048) == sequences - 1


@given(models(), ranks, st.sampled_from(sorted(BY_NAME)))
def test_cards_together_never_hold_less_than_one_would(
    model: Architecture, count: int, precision: str
) -> None:
    assume(can_share(model, count))
    quantisation = BY_NAME[precision]
    whole = weights.per_rank(model, quantisation=quantisation).bytes
    each = weights.per_rank(model, ranks=count, quantisation=quantisation).bytes
    # A row that is split has the scales of its pieces: fewer by at most one a row and group.
    slack = 0 if quantisation is None else 0.01 * whole
    assert each * count >= whole - slack
    assert each <= whole * 1.01


@given(models(), ranks)
def test_heads_are_whole_on_each_card(model: Architecture, count: int) -> None:
    assume(can_share(model, count))
    alone, shared = kv_cache.shape(model), kv_cache.shape(model, ranks=count)
    assert shared.bytes_per_block * count >= alone.bytes_per_block
    assert shared.bytes_per_block == alone.bytes_per_block // min(count, model.kv_heads)
    for tensor in model.tensors:
        rows = weights.rows_on_rank(tensor, model.kv_heads, count)
        if tensor.split is Split.NONE:
            assert rows == tensor.outputs
        else:
            assert rows * count >= tensor.outputs


@given(models())
def test_fewer_bits_never_take_more(model: Architecture) -> None:
    sizes = [
        weights.per_rank(model, quantisation=BY_NAME[name]).bytes
        for name in ("bf16", "int8", "int4")
    ]
    assert sizes == sorted(sizes, reverse=True)


@given(models(), contexts)
def test_an_fp8_cache_takes_half(model: Architecture, context: int) -> None:
    sixteen, eight = kv_cache.shape(model), kv_cache.shape(model, kv_dtype="fp8")
    assert eight.bytes_per_block * 2 == sixteen.bytes_per_block
    assert eight.blocks_per_sequence(context, 0) == sixteen.blocks_per_sequence(context, 0)


@given(models(), contexts)
def test_windows_never_hold_more_than_two_blocks_above_full_attention(
    model: Architecture, context: int
) -> None:
    shape = kv_cache.shape(model)
    full = replace(shape, groups=(kv_cache.Group(None),) * len(shape.groups))
    spare = len(shape.groups)
    assert shape.blocks_per_sequence(context, 0) <= full.blocks_per_sequence(context, 0) + spare


@given(models(), st.integers(1, 16384), some_sequences, st.integers(0, 8192))
def test_larger_steps_never_need_less(
    model: Architecture, tokens: int, sequences: int, more: int
) -> None:
    small = activations.peak(model, batched_tokens=tokens, sequences=sequences)
    large = activations.peak(model, batched_tokens=tokens + more, sequences=sequences)
    assert small.bytes <= large.bytes


def planned(model: Architecture, card_gib: float, **workload: Any) -> Plan:
    return plan(Card("any", int(card_gib * GIB)), [Wanted(model, **workload)])


card_sizes = st.floats(0.5, 200)


@given(models(), card_sizes, st.floats(0, 100), st.integers(1, 32768), st.integers(1, 64))
def test_a_larger_card_never_fits_less(
    model: Architecture, card_gib: float, more_gib: float, context: int, sequences: int
) -> None:
    small = planned(model, card_gib, context_tokens=context, sequences=sequences)
    large = planned(model, card_gib + more_gib, context_tokens=context, sequences=sequences)
    assert ORDER[small.models_fit] <= ORDER[large.models_fit]
    assert ORDER[small.workload_fits] <= ORDER[large.workload_fits]
    first, second = small.rows[0].generation, large.rows[0].generation
    assert first is not None
    assert second is not None
    assert first.sequences_fit <= second.sequences_fit


@given(models(), card_sizes, st.integers(1, 32768), st.integers(1, 64))
def test_the_two_verdicts_and_the_count_agree(
    model: Architecture, card_gib: float, context: int, sequences: int
) -> None:
    made = planned(model, card_gib, context_tokens=context, sequences=sequences)
    generation = made.rows[0].generation
    assert generation is not None
    assert ORDER[made.workload_fits] <= ORDER[made.models_fit]
    assert (made.workload_fits is not Verdict.NO) == (generation.sequences_fit >= sequences)
    least, most = generation.sequences_fit_least, generation.sequences_fit_most
    assert least <= generation.sequences_fit <= most


@given(models(), card_sizes, st.integers(1, 32768), st.integers(1, 64))
def test_flags_never_ask_for_more_than_the_room(
    model: Architecture, card_gib: float, context: int, sequences: int
) -> None:
    made = planned(model, card_gib, context_tokens=context, sequences=sequences)
    row = made.rows[0]
    assert row.generation is not None
    used = row.generation.flags
    if used is None:
        return
    assert isinstance(used, VllmFlags)
    assert used.gpu_memory_utilization is not None
    assert used.gpu_memory_utilization * made.card.total_bytes <= made.room_bytes
    assert row.generation.cache_bytes > 0


@given(models(), st.integers(1, 32768), st.integers(1, 64))
def test_vllm_on_cpu_is_given_enough_whole_gigabytes(
    model: Architecture, context: int, sequences: int
) -> None:
    used = flags.vllm_on_cpu(model, context_tokens=context, sequences=sequences)
    assert used.cpu_kv_cache_gib is not None
    shape = kv_cache.shape(model, on_cpu=True)
    batched = used.max_num_batched_tokens
    fits = shape.sequences(used.cpu_kv_cache_gib * GIB, context, batched)
    assert fits >= sequences


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=5))
def test_bands_add_up(parts: list[tuple[int, int, int]]) -> None:
    estimates = [Estimate(*(sorted(part)[index] for index in (1, 0, 2))) for part in parts]
    added = sum(estimates, start=Estimate.exact(0))
    assert added.low <= added.bytes <= added.high
