"""What of a model decides its memory: its weight tensors and its kinds of attention layers.

The shapes come from the model's `config.json`, as transformers writes it. A model type that is not
described here is refused by name: a wrong plan is worse than none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from selfhost.errors import SetupError
from selfhost.plan.precision import Quantisation


class Split(StrEnum):
    """How tensor parallelism lays a tensor over the ranks."""

    EVEN = "even"  # each rank holds its share
    VOCABULARY = "vocabulary"  # each rank holds its share of rows, padded
    KV_HEADS = "kv heads"  # whole heads, so that a head is repeated where there are more ranks
    NONE = "none"  # each rank holds all of it


@dataclass(frozen=True)
class Tensor:
    """Weight tensors of one shape.

    Args:
        name: for people.
        inputs: columns; 1 for a vector.
        outputs: rows.
        count: how many of them the model has.
        split: over tensor-parallel ranks.
        is_linear: whether quantisation applies to it; embeddings, norms and routers keep 16 bits.
        is_copy: the engine keeps it besides the checkpoint's, so it is no parameter of the model.
    """

    name: str
    inputs: int
    outputs: int
    count: int
    split: Split
    is_linear: bool = False
    is_copy: bool = False

    @property
    def elements(self) -> int:
        return self.inputs * self.outputs * self.count


class Attention(StrEnum):
    """What a layer keeps of the tokens that it has seen."""

    FULL = "full"  # keys and values of every token
    SLIDING = "sliding window"  # keys and values of the last tokens
    LATENT = "multi-head latent"  # one compressed vector a token, shared by all heads


@dataclass(frozen=True)
class AttentionLayers:
    """Layers that keep the same for each token.

    Args:
        kind: full, sliding or latent.
        count: how many layers.
        kv_heads: key-value heads; 1 for latent attention.
        elements_per_head: of one token's key and value together.
        window_tokens: of a sliding window; None elsewhere.
    """

    kind: Attention
    count: int
    kv_heads: int
    elements_per_head: int
    window_tokens: int | None = None


@dataclass(frozen=True)
class Architecture:
    """A generator, as far as memory goes.

    Args:
        name: for people.
        model_type: as in `config.json`.
        hidden_size: of the residual stream.
        vocabulary: tokens that the output layer scores.
        mlp_width: the widest intermediate size that one token meets.
        heads: query heads.
        kv_heads: key-value heads.
        max_context_tokens: what it was trained for; None where its config does not say.
        tensors: every weight tensor.
        attention: its layers by kind.
        quantisation: of the checkpoint; None for 16 bits.
        bytes_per_weight: of the tensors that are not quantised.
        weights_bytes: of the file, where that is the weights' exact size (GGUF); else None.
        has_vision: it takes images too, so that its activations cannot be told from its text part.
    """

    name: str
    model_type: str
    hidden_size: int
    vocabulary: int
    mlp_width: int
    heads: int
    kv_heads: int
    max_context_tokens: int | None
    tensors: tuple[Tensor, ...]
    attention: tuple[AttentionLayers, ...]
    quantisation: Quantisation | None = None
    bytes_per_weight: int = 2
    weights_bytes: int | None = None
    has_vision: bool = False

    @property
    def parameters(self) -> int:
        """As the model's page counts them."""
        return sum(tensor.elements for tensor in self.tensors if not tensor.is_copy)

    @property
    def layers(self) -> int:
        return sum(group.count for group in self.attention)

    @property
    def is_latent(self) -> bool:
        return any(group.kind is Attention.LATENT for group in self.attention)

    @property
    def has_windows(self) -> bool:
        return any(group.kind is Attention.SLIDING for group in self.attention)

    def check_tensor_parallel(self, ranks: int) -> None:
        """That its heads can be laid over so many ranks; engines demand the same.

        Raises:
            SetupError: they cannot.
        """
        if ranks < 1:
            raise SetupError(f"Expected tensor parallelism over 1 or more cards, got {ranks}.")
        kv_fits = self.is_latent or self.kv_heads % ranks == 0 or ranks % self.kv_heads == 0
        if self.heads % ranks or not kv_fits:
            raise SetupError(
                f"{self.name} has {self.heads} query heads and {self.kv_heads} key-value heads, "
                f"which {ranks} cards cannot share evenly. Take a number of cards that divides "
                f"{self.heads}."
            )
