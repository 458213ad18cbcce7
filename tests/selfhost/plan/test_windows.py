"""Sliding windows beside full attention, as vLLM's own planner lays them out.

The expected figures are what the functions of vLLM 0.32's `kv_cache_utils` returned for such layers
and 1 GiB of cache.
"""

from __future__ import annotations

from typing import Any

import pytest

from selfhost.plan import config, kv_cache
from selfhost.plan.estimate import GIB
from selfhost.plan.public_models import PUBLIC_MODELS


def layers(full: int, sliding: int, window: int, kv_heads: int, head_size: int) -> dict[str, Any]:
    return {
        "model_type": "qwen3",
        "hidden_size": 512,
        "num_hidden_layers": full + sliding,
        "num_attention_heads": 8,
        "num_key_value_heads": kv_heads,
        "head_dim": head_size,
        "intermediate_size": 512,
        "vocab_size": 4096,
        "sliding_window": window,
        "layer_types": ["full_attention"] * full + ["sliding_attention"] * sliding,
    }


@pytest.mark.parametrize(
    ("shape", "block", "context", "in_flight", "blocks", "groups", "tokens"),
    [
        ((4, 22, 512, 2, 64), 128, 4096, 4096, 4096, 7, 72_944),
        ((6, 6, 1024, 2, 64), 128, 5000, 4096, 2730, 2, 168_518),
        ((0, 8, 1024, 2, 64), 128, 8192, 2048, 2048, 1, 671_088),
        ((13, 12, 128, 8, 64), 16, 8192, 8192, 2520, 2, 20_140),
        ((5, 4, 512, 2, 64), 16, 3000, 1024, 26_214, 2, 275_936),
        ((10, 14, 512, 4, 128), 16, 32_768, 16_384, 2340, 2, 24_694),
        ((10, 16, 512, 4, 128), 16, 32_768, 2048, 3276, 3, 45_294),
        ((7, 20, 512, 1, 256), 16, 131_072, 4096, 9362, 4, 135_456),
        ((6, 0, 1, 2, 64), 128, 3000, 1024, 2730, 1, 341_250),
    ],
)
def test_layers_are_grouped_as_vllm_groups_them(
    shape: tuple[int, int, int, int, int],
    block: int,
    context: int,
    in_flight: int,
    blocks: int,
    groups: int,
    tokens: int,
) -> None:
    model = config.read(layers(*shape), "windows")
    cache = kv_cache.shape(model, block_tokens=block)
    assert (cache.blocks(GIB), len(cache.groups)) == (blocks, groups)
    assert cache.printed_tokens(GIB, context, in_flight) == tokens


@pytest.mark.parametrize(
    ("name", "full", "sliding"),
    [
        ("mistral-7b-v0.1", 0, 32),
        ("gemma-2-9b", 21, 21),
        ("gemma-3-1b-it", 4, 22),
        ("qwen2.5-7b", 28, 0),
    ],
)
def test_which_layers_have_a_window(name: str, full: int, sliding: int) -> None:
    model = config.read(PUBLIC_MODELS[name].config, name)
    found = {group.kind.value: group.count for group in model.attention}
    assert found.get("full", 0) == full
    assert found.get("sliding window", 0) == sliding


def test_a_window_that_is_switched_off_is_none() -> None:
    qwen = {
        **PUBLIC_MODELS["qwen2.5-7b"].config,
        "sliding_window": 131072,
        "use_sliding_window": False,
    }
    assert not config.read(qwen, "q").has_windows


def test_a_window_that_is_switched_on_leaves_the_first_layers_full() -> None:
    qwen = {
        **PUBLIC_MODELS["qwen2.5-7b"].config,
        "sliding_window": 4096,
        "use_sliding_window": True,
        "max_window_layers": 21,
    }
    found = {one.kind.value: one.count for one in config.read(qwen, "q").attention}
    assert found == {"full": 21, "sliding window": 7}


def test_latent_attention_keeps_one_vector_a_token_on_every_card() -> None:
    model = config.read(PUBLIC_MODELS["deepseek-v2-lite"].config, "latent")
    alone, shared = kv_cache.shape(model), kv_cache.shape(model, ranks=4)
    # 512 of the latent and 64 of the rotary part, in 16 bits, for 27 layers.
    assert alone.bytes_per_block == 64 * 27 * (512 + 64) * 2
    assert shared == alone
