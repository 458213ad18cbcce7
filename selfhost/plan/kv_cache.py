"""The KV cache: how many bytes a block takes on each card, and how many sequences that makes.

A layer keeps two vectors (key and value) of each token for every key-value head, so that one token
takes `2 x layers x (kv_heads / ranks) x head_size x bytes` on a rank, with at least one head on
each (vLLM's `AttentionSpec.page_size_bytes`). Blocks are whole: `floor(bytes / bytes_per_block)`,
and the engine takes the smallest count over its ranks, which the plan cannot know for ranks with
less memory free than it was told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from selfhost.errors import SetupError
from selfhost.plan.architecture import Architecture, Attention, AttentionLayers

GPU_BLOCK_TOKENS = 16
LATENT_BLOCK_TOKENS = 64  # what FlashMLA demands
CPU_BLOCK_TOKENS = 128
CPU_LATENT_BLOCK_TOKENS = 16  # the only size that vLLM's CPU decode kernel for it is built for

KV_BYTES = {"auto": 2, "bf16": 2, "fp16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}


@dataclass(frozen=True)
class Group:
    """Layers that share one block table: a sequence takes blocks for each group."""

    window_tokens: int | None  # None: it keeps every token


@dataclass(frozen=True)
class CacheShape:
    """The cache of one rank.

    Args:
        block_tokens: tokens in a block.
        bytes_per_block: over the layers of one group.
        groups: of layers; one for a model whose layers are all alike.
        reserved_blocks: that the engine keeps for itself: vLLM's null block.
    """

    block_tokens: int
    bytes_per_block: int
    groups: tuple[Group, ...]
    reserved_blocks: int = 1

    def blocks(self, cache_bytes: float) -> int:
        """Whole blocks in so many bytes; none in a negative number of them."""
        return max(0, int(cache_bytes // self.bytes_per_block))

    def blocks_per_sequence(self, context_tokens: int, in_flight_tokens: int) -> int:
        """What one sequence of full length holds at most.

        A window holds its last tokens and those of the steps under way, and one block more as it
        need not start at a block's edge (`max_admission_blocks_per_request` of vLLM's
        `SlidingWindowSpec`).

        Args:
            context_tokens: its length.
            in_flight_tokens: scheduled and not settled yet.
        """
        return sum(
            self._group_blocks(group, context_tokens, in_flight_tokens) for group in self.groups
        )

    def _group_blocks(self, group: Group, context_tokens: int, in_flight_tokens: int) -> int:
        if group.window_tokens is None:
            return -(-context_tokens // self.block_tokens)
        held = min(group.window_tokens - 1 + in_flight_tokens, context_tokens)
        return -(-held // self.block_tokens) + 1

    def sequence_bytes(self, context_tokens: int, sequences: int, in_flight_tokens: int) -> int:
        """For so many sequences of full length at once, and what the engine keeps for itself."""
        held = sequences * self.blocks_per_sequence(context_tokens, in_flight_tokens)
        return (held + self.reserved_blocks) * self.bytes_per_block

    def sequences(self, cache_bytes: float, context_tokens: int, in_flight_tokens: int) -> int:
        """Sequences of full length that fit at once."""
        free = max(0, self.blocks(cache_bytes) - self.reserved_blocks)
        return free // self.blocks_per_sequence(context_tokens, in_flight_tokens)

    def concurrency(self, cache_bytes: float, context_tokens: int, in_flight_tokens: int) -> float:
        """As engines print "Maximum concurrency"."""
        blocks = self.blocks(cache_bytes)
        return blocks / self.blocks_per_sequence(context_tokens, in_flight_tokens)

    def printed_tokens(self, cache_bytes: float, context_tokens: int, in_flight_tokens: int) -> int:
        """As engines print "KV cache size": concurrency times context.

        The same as blocks times their tokens where all layers keep every token and the context is
        a whole number of blocks; with windows it counts what the windows save.
        """
        return int(self.concurrency(cache_bytes, context_tokens, in_flight_tokens) * context_tokens)


def kv_bytes(kv_dtype: str) -> int:
    """Bytes of one element.

    Raises:
        SetupError: the engine has no such cache.
    """
    try:
        return KV_BYTES[kv_dtype]
    except KeyError:
        raise SetupError(
            f"Expected a KV cache type out of {', '.join(KV_BYTES)}, got {kv_dtype!r}."
        ) from None


def shape(
    architecture: Architecture,
    *,
    ranks: int = 1,
    kv_dtype: str = "auto",
    block_tokens: int | None = None,
    on_cpu: bool = False,
) -> CacheShape:
    """The cache that vLLM makes for a model.

    Args:
        architecture: the model.
        ranks: cards that share it by tensor parallelism.
        kv_dtype: "auto" for 16 bits, or "fp8".
        block_tokens: of a block; None for the engine's own choice.
        on_cpu: whose blocks are larger.

    Raises:
        SetupError: its heads cannot be laid over so many cards, or there is no such type.
    """
    architecture.check_tensor_parallel(ranks)
    element_bytes = kv_bytes(kv_dtype)
    if architecture.is_latent and element_bytes != 2 and on_cpu:
        raise SetupError(f"{architecture.name}: vLLM on CPU keeps latent attention in 16 bits.")
    tokens = block_tokens or _block_tokens(architecture, on_cpu)
    full, sliding = _by_kind(architecture)
    layers_in_group, groups = _groups(full, sliding)
    any_layer = architecture.attention[0]
    heads = 1 if architecture.is_latent else max(1, any_layer.kv_heads // ranks)
    page = tokens * heads * any_layer.elements_per_head * element_bytes
    return CacheShape(tokens, layers_in_group * page, groups)


def _block_tokens(architecture: Architecture, on_cpu: bool) -> int:
    if on_cpu:
        return CPU_LATENT_BLOCK_TOKENS if architecture.is_latent else CPU_BLOCK_TOKENS
    return LATENT_BLOCK_TOKENS if architecture.is_latent else GPU_BLOCK_TOKENS


def _by_kind(
    architecture: Architecture,
) -> tuple[AttentionLayers | None, AttentionLayers | None]:
    kinds = {layers.kind is Attention.SLIDING: layers for layers in architecture.attention}
    return kinds.get(False), kinds.get(True)


def _groups(
    full: AttentionLayers | None, sliding: AttentionLayers | None
) -> tuple[int, tuple[Group, ...]]:
    """Layers in each group, and the groups.

    All groups have the same number of layers, so that their blocks are of one size: that of the
    rarer kind, or of the commoner where the two are nearly as many (vLLM's
    `_get_kv_cache_groups_uniform_page_size`).
    """
    if sliding is None or full is None:
        only = sliding or full
        assert only is not None
        return only.count, (Group(only.window_tokens),)
    fewer, more = sorted((full.count, sliding.count))
    size = more if more < fewer * 1.5 else fewer
    return size, (
        *([Group(None)] * math.ceil(full.count / size)),
        *([Group(sliding.window_tokens)] * math.ceil(sliding.count / size)),
    )
