"""The plan of a card: rows, verdicts, shares, savings, order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from selfhost.errors import SetupError
from selfhost.plan import cards, flags, overhead, product
from selfhost.plan.architecture import Architecture
from selfhost.plan.cards import Card
from selfhost.plan.estimate import GIB, Estimate
from selfhost.plan.find import find
from selfhost.plan.flags import LlamaCppFlags, VllmFlags
from selfhost.plan.outcome import Generation, Plan, Verdict, verdict
from selfhost.plan.plan import plan
from selfhost.plan.start_order import Starter, order
from selfhost.plan.wanted import Engine, Wanted


def wanted(name: str, **workload: Any) -> Wanted:
    return Wanted(find(name), **workload)


def generation(made: Plan, row: int = 0) -> Generation:
    found = made.rows[row].generation
    assert found is not None
    return found


def used_flags(made: Plan, row: int = 0) -> VllmFlags:
    found = generation(made, row).flags
    assert isinstance(found, VllmFlags)
    return found


def test_the_models_may_fit_where_the_workload_does_not() -> None:
    card = cards.named("RTX 4090")
    small = plan(card, [wanted("Llama-3.1-8B", context_tokens=8192, sequences=2)])
    assert (small.models_fit, small.workload_fits) == (Verdict.YES, Verdict.YES)
    large = plan(card, [wanted("Llama-3.1-8B", context_tokens=131072, sequences=2)])
    assert (large.models_fit, large.workload_fits) == (Verdict.YES, Verdict.NO)
    too_large = plan(card, [wanted("Llama-3.1-70B", context_tokens=1024, sequences=1)])
    assert (too_large.models_fit, too_large.workload_fits) == (Verdict.NO, Verdict.NO)
    assert generation(too_large).flags is None
    assert generation(too_large).sequences_fit == 0


def test_a_need_inside_the_error_band_is_neither_yes_nor_no() -> None:
    need = Estimate(100, 80, 130)
    assert [verdict(need, room) for room in (99, 100, 129, 130)] == [
        *(Verdict.NO, Verdict.LIKELY, Verdict.LIKELY, Verdict.YES),
    ]


def test_a_share_that_the_user_set_decides_what_fits() -> None:
    card = cards.named("H100")
    chosen = plan(card, [wanted("Llama-3.1-8B", context_tokens=8192, sequences=32)])
    tight = plan(card, [wanted("Llama-3.1-8B", context_tokens=8192, sequences=32, utilisation=0.3)])
    assert (chosen.workload_fits, tight.workload_fits) == (Verdict.YES, Verdict.NO)
    assert generation(tight).sequences_fit == int(generation(tight).concurrency) < 32
    # What the share leaves, and not what the card would.
    assert generation(tight).sequences_fit < generation(chosen).sequences_fit // 4
    assert used_flags(tight).gpu_memory_utilization == 0.3


def test_rows_and_their_sum() -> None:
    made = plan(
        cards.named("RTX 4090"), [wanted("Qwen3-4B"), wanted("bge-m3"), wanted("kokoro-82m-fp32")]
    )
    assert [row.name for row in made.rows] == [
        *("Qwen3-4B", "bge-m3", "kokoro-82m-fp32", "model server itself"),
    ]
    assert made.all.bytes == sum(row.all.bytes for row in made.rows)
    assert made.rows[0].weights.bytes / GIB == pytest.approx(7.49, abs=0.01)
    assert made.fixed.bytes + made.rows[0].cache.bytes == made.all.bytes


def test_the_share_leaves_the_others_their_memory() -> None:
    others = [wanted("bge-m3"), wanted("whisper-large-v3-turbo")]
    card = cards.named("RTX 4090")
    alone, shared = plan(card, [wanted("Qwen3-4B")]), plan(card, [wanted("Qwen3-4B"), *others])
    share_alone = used_flags(alone).gpu_memory_utilization
    share = used_flags(shared).gpu_memory_utilization
    assert share_alone is not None
    assert share is not None
    taken = sum(row.all.bytes for row in shared.rows[1:])
    assert (share_alone - share) * card.total_bytes == pytest.approx(taken, rel=0.02)
    assert share * card.total_bytes + taken + overhead.CONTEXT.bytes <= card.total_bytes


def test_flags_for_a_model_are_those_of_its_plan() -> None:
    card = cards.named("RTX 4090")
    model = find("Qwen3-4B")
    assert isinstance(model, Architecture)
    made = plan(card, [Wanted(model, context_tokens=4096, sequences=8), wanted("bge-m3")])
    others = sum(row.all.bytes for row in made.rows[1:])
    alone = flags.vllm_on_gpu(model, card, context_tokens=4096, sequences=8, others_bytes=others)
    planned = used_flags(made)
    assert alone.gpu_memory_utilization == pytest.approx(planned.gpu_memory_utilization, abs=0.001)
    assert replace(alone, gpu_memory_utilization=None) == replace(
        planned, gpu_memory_utilization=None
    )
    with pytest.raises(SetupError, match="does not fit on RTX 4090"):
        flags.vllm_on_gpu(model, card, context_tokens=4096, sequences=8, others_bytes=20 * GIB)


def test_the_product_starts_vllm_with_what_its_plan_leaves_it() -> None:
    card = cards.named("RTX 4090")
    model = "Qwen/Qwen3-4B-Instruct-2507"
    alone = product.vllm_flags(model, card, shares_card=False)
    shared = product.vllm_flags(model, card)
    assert alone.gpu_memory_utilization is not None
    assert shared.gpu_memory_utilization is not None
    assert shared.gpu_memory_utilization < alone.gpu_memory_utilization - 0.2
    assert product.vllm_flags(model, card, utilisation=0.5).gpu_memory_utilization == 0.5
    with pytest.raises(SetupError, match="does not fit on T4"):
        product.vllm_flags(model, cards.named("T4"))
    with pytest.raises(SetupError, match="is no language model"):
        product.vllm_flags("bge-m3", card)


def test_what_the_engines_are_told() -> None:
    made = plan(
        cards.named("H100"),
        [
            wanted(
                "Llama-3.1-70B",
                context_tokens=16384,
                sequences=8,
                ranks=4,
                precision="fp8",
                kv_dtype="fp8",
                enforce_eager=True,
            )
        ],
    )
    told = used_flags(made).arguments()
    share = told[told.index("--gpu-memory-utilization") + 1]
    assert told == (
        *("--max-model-len", "16384", "--max-num-seqs", "8", "--max-num-batched-tokens", "2048"),
        *("--gpu-memory-utilization", share, "--tensor-parallel-size", "4"),
        *("--kv-cache-dtype", "fp8", "--quantization", "fp8", "--enforce-eager"),
    )
    assert used_flags(made).environment() == {}


def test_vllm_on_cpu_is_told_its_cache_by_its_environment() -> None:
    made = plan(
        Card("memory", 24 * GIB, is_cpu=True),
        [wanted("Qwen2.5-0.5B", context_tokens=4096, sequences=22)],
    )
    # 22 sequences of 32 blocks of 1.5 MiB and the engine's own block are more than one GiB.
    assert used_flags(made).environment() == {"VLLM_CPU_KVCACHE_SPACE": "2"}
    assert "--gpu-memory-utilization" not in used_flags(made).arguments()


def test_vllm_on_cpu_is_never_told_more_than_there_is() -> None:
    workload = {"context_tokens": 4096, "sequences": 200}
    tight = plan(Card("memory", 7 * GIB, is_cpu=True), [wanted("Qwen2.5-0.5B", **workload)])
    assert tight.workload_fits is Verdict.NO
    told = used_flags(tight).cpu_kv_cache_gib
    assert told is not None
    assert told >= 1
    assert tight.fixed.bytes + told * GIB <= tight.room_bytes
    small = plan(Card("memory", 4 * GIB, is_cpu=True), [wanted("Qwen2.5-0.5B", **workload)])
    assert generation(small).flags is None


def test_llama_cpp_gets_a_slot_for_each_sequence() -> None:
    made = plan(
        Card("memory", 8 * GIB, is_cpu=True),
        [wanted("qwen2.5-coder-1.5b-instruct", context_tokens=4096, sequences=4)],
    )
    found = generation(made)
    assert found.engine is Engine.LLAMA_CPP
    assert found.flags == LlamaCppFlags(slots=4, context_tokens_per_slot=4096)
    assert found.flags.arguments() == ("--ctx-size", "16384", "--parallel", "4")
    # 28 layers of two vectors of 2 heads of 128 in 16 bits, for each token.
    assert made.rows[0].cache.bytes == 4 * 4096 * 28 * 2 * 2 * 128 * 2
    # 1.9 GB were measured with it loaded.
    assert made.rows[0].all.bytes == pytest.approx(1.9e9, rel=0.1)


def test_fewer_bits_free_memory_for_sequences() -> None:
    made = plan(cards.named("RTX 4090"), [wanted("Llama-3.1-8B", sequences=4)])
    int8, int4 = generation(made).savings
    assert (int8.precision, int4.precision) == ("int8", "int4")
    assert 0 < int8.frees_bytes < int4.frees_bytes < made.rows[0].weights.bytes
    then = plan(cards.named("RTX 4090"), [wanted("Llama-3.1-8B", sequences=4, precision="int4")])
    assert made.rows[0].weights.bytes - then.rows[0].weights.bytes == int4.frees_bytes
    assert generation(then).sequences_fit == int4.sequences_then
    assert not generation(then).savings


def test_what_others_hold_now_is_left_to_them() -> None:
    card = Card("RTX 4090", 24 * GIB, free_bytes=14 * GIB)
    made = plan(card, [wanted("Qwen3-4B")])
    assert made.in_use_bytes == 10 * GIB
    assert made.room_bytes == 14 * GIB - flags.MARGIN_BYTES
    assert "Others have 10.00 GiB" in " ".join(made.notes)


def test_two_engines_start_one_by_one_and_the_plan_says_why() -> None:
    made = plan(
        cards.named("RTX 5090"),
        [
            wanted("Qwen3-0.6B", context_tokens=4096, sequences=4),
            wanted("Qwen3-4B", context_tokens=4096, sequences=4),
            wanted("bge-m3"),
        ],
    )
    assert [(step.name, step.waits_for) for step in made.start_order] == [
        ("vLLM (Qwen3-4B)", ()),
        ("vLLM (Qwen3-0.6B)", ("vLLM (Qwen3-4B)",)),
        ("model server", ("vLLM (Qwen3-0.6B)",)),
    ]
    shares = [used_flags(made, row).gpu_memory_utilization for row in (0, 1)]
    assert sum(share for share in shares if share is not None) < 1
    assert all(one.worst_bytes < one.in_order_bytes for one in made.started_together)


def test_on_a_cpu_nothing_waits() -> None:
    made = plan(
        Card("memory", 24 * GIB, is_cpu=True),
        [wanted("qwen2.5-coder-1.5b-instruct"), wanted("whisper-base"), wanted("piper-joe")],
    )
    assert all(step.waits_for == () for step in made.start_order)
    assert made.started_together == ()


def test_a_process_beside_the_card_does_not_wait_for_it() -> None:
    engine = Starter("generation", measures_the_card=True, on_card=True)
    beside = Starter("model server", measures_the_card=False, on_card=False)
    assert [(step.name, step.waits_for) for step in order([beside, engine])] == [
        ("generation", ()),
        ("model server", ()),
    ]


def test_a_precision_that_vllm_cannot_make_is_said() -> None:
    made = plan(cards.named("RTX 4090"), [wanted("Llama-3.1-8B", precision="int4")])
    assert any("quantised so" in note for note in made.notes)


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ({"context_tokens": -4096}, "a context of 1 or more tokens, got -4096"),
        ({"sequences": 0}, "1 or more sequences at once, got 0"),
        ({"context_tokens": 1_000_000}, "made for 40,960 tokens"),
        ({"precision": "int3"}, "a precision out of bf16"),
        ({"kv_dtype": "int8"}, "a KV cache type out of auto"),
        ({"ranks": 3}, "which 3 cards cannot share"),
        ({"ranks": 0}, "got 0"),
        ({"engine": Engine.LLAMA_CPP}, "llama.cpp runs GGUF files"),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(workload: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        plan(cards.named("H100"), [wanted("Qwen3-8B", **workload)])


def test_a_gguf_file_keeps_its_precision() -> None:
    with pytest.raises(SetupError, match="is a GGUF file"):
        plan(cards.named("L4"), [wanted("qwen2.5-coder-1.5b-instruct", precision="int8")])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("RTX 4090", "RTX 4090"),
        ("4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("nvidia l4", "L4"),
        ("A100-80GB", "A100-80"),
        ("A100", "A100-80"),
        ("H100 NVL", "H100 NVL"),
        ("rtx a6000", "A6000"),
        ("h200", "H200"),
    ],
)
def test_cards_are_found_as_people_write_them(name: str, known: str) -> None:
    assert cards.parse(name).name == known


def test_a_card_may_be_given_by_its_memory() -> None:
    assert cards.parse("24GiB").total_bytes == 24 * GIB
    assert cards.parse("24 GB").total_bytes == 24_000_000_000


@pytest.mark.parametrize("name", ["RTX 9999", "", "0GiB", "-5GiB", "lotsGB"])
def test_an_unknown_card_is_refused(name: str) -> None:
    with pytest.raises(SetupError):
        cards.parse(name)


def test_this_machine_is_a_card_of_its_memory() -> None:
    machine = cards.parse("cpu")
    assert machine.is_cpu
    assert machine.free_bytes is not None
    assert 0 < machine.free_bytes <= machine.total_bytes
