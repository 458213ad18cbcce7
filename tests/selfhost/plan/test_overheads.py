"""What is estimated and not computed: the bands must hold what engines printed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from selfhost.plan import activations, config, overhead
from selfhost.plan.architecture import Architecture
from selfhost.plan.cards import Card
from selfhost.plan.estimate import GIB
from selfhost.plan.plan import plan
from selfhost.plan.public_models import PUBLIC_MODELS
from selfhost.plan.wanted import Wanted


def model(name: str) -> Architecture:
    return config.read(PUBLIC_MODELS[name].config, name)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_trial_step_of_llama_3_8b(ranks: int) -> None:
    # Printed as 1.26 GiB on one card and on two: the sampler's scores are on each.
    found = activations.peak(
        model("meta-llama-3-8b"), batched_tokens=8192, sequences=256, ranks=ranks
    )
    assert found.low / GIB < 1.26 < found.high / GIB


def test_the_trial_step_of_a_large_vocabulary() -> None:
    # Printed as 5.66 GiB by a current version, for 1,024 sequences of 248,320 tokens.
    wide = replace(model("qwen3-30b-a3b"), vocabulary=248_320)
    found = activations.peak(wide, batched_tokens=8192, sequences=1024, ranks=4)
    assert found.bytes / GIB == pytest.approx(5.66, rel=0.1)


def test_fewer_sequences_make_the_trial_step_small() -> None:
    qwen = model("qwen3-4b")
    few = activations.peak(qwen, batched_tokens=2048, sequences=8)
    many = activations.peak(qwen, batched_tokens=2048, sequences=1024)
    assert few.bytes * 10 < many.bytes


@pytest.mark.parametrize("printed_gib", [0.05, 0.08, 0.16, 0.20, 0.26])
def test_memory_outside_pytorch_is_within_its_band(printed_gib: float) -> None:
    assert overhead.NON_TORCH.low / GIB <= printed_gib <= overhead.NON_TORCH.high / GIB


@pytest.mark.parametrize("printed_gib", [0.09, 0.13, 0.14, 0.27, 1.12, 1.34])
def test_graphs_are_within_their_band(printed_gib: float) -> None:
    assert overhead.GRAPHS.low / GIB <= printed_gib <= overhead.GRAPHS.high / GIB


def test_cards_that_share_a_model_need_more_each_and_eager_engines_less() -> None:
    alone = overhead.vllm_on_gpu(1, enforce_eager=False)
    assert overhead.vllm_on_gpu(4, enforce_eager=False).inside.bytes > alone.inside.bytes
    assert overhead.vllm_on_gpu(1, enforce_eager=True).inside.bytes < alone.inside.bytes


def test_vllm_on_cpu_takes_what_was_measured_of_it() -> None:
    # Of its three processes with half a billion parameters and 1 GiB of cache: 5,245 MiB.
    described = {**PUBLIC_MODELS["qwen2.5-0.5b"].config, "tie_word_embeddings": False}
    half_billion = config.read(described, "coder")
    made = plan(
        Card("memory", 24 * GIB, is_cpu=True),
        [Wanted(half_billion, context_tokens=3000, sequences=8)],
    )
    row = made.rows[0]
    assert row.generation is not None
    assert row.cache.bytes == row.generation.cache_bytes == GIB
    assert row.all.bytes == pytest.approx(5245 << 20, rel=0.05)
