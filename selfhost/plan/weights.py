"""How many bytes the weights take on each card.

Parameters times bytes of their precision, with the scales of quantised layers, and with what
tensor parallelism keeps on every rank. Engines add padding and buffers of their own: in the
published start-up logs that the tests hold this to, they print 0.1 % less to 1.4 % more.
"""

from __future__ import annotations

from selfhost.plan.architecture import Architecture, Split, Tensor
from selfhost.plan.estimate import Estimate
from selfhost.plan.precision import Quantisation

VOCABULARY_PADDING = 64  # vLLM's vocab_parallel_embedding.py: DEFAULT_VOCAB_PADDING_SIZE
# The error band; what the logs show is within half of it.
ENGINE_LESS, ENGINE_EXTRA = 0.002, 0.03


def per_rank(
    architecture: Architecture,
    *,
    ranks: int = 1,
    quantisation: Quantisation | None = None,
) -> Estimate:
    """The weights on one card.

    Args:
        architecture: the model.
        ranks: cards that share it by tensor parallelism.
        quantisation: of the linear layers; None for the 16 bits of the checkpoint.

    Returns:
        Bytes. Exact for a GGUF file, whose weights are its size.

    Raises:
        SetupError: its heads cannot be laid over so many cards.
    """
    architecture.check_tensor_parallel(ranks)
    if architecture.weights_bytes is not None:
        return Estimate.exact(-(-architecture.weights_bytes // ranks))
    expected = sum(
        _tensor_bytes(tensor, architecture, ranks, quantisation) for tensor in architecture.tensors
    )
    return Estimate(expected, int(expected * (1 - ENGINE_LESS)), int(expected * (1 + ENGINE_EXTRA)))


def _tensor_bytes(
    tensor: Tensor, architecture: Architecture, ranks: int, quantisation: Quantisation | None
) -> int:
    rows = rows_on_rank(tensor, architecture.kv_heads, ranks)
    if tensor.is_linear and quantisation is not None:
        return tensor.count * quantisation.matrix_bytes(tensor.inputs, rows)
    return tensor.count * tensor.inputs * rows * architecture.bytes_per_weight


def rows_on_rank(tensor: Tensor, kv_heads: int, ranks: int) -> int:
    """How many rows of a tensor one rank holds.

    A row-parallel matrix is split along its inputs; the bytes are the same, and the few scales
    that it has more or fewer are below what is printed.
    """
    if tensor.split is Split.NONE or ranks == 1:
        return tensor.outputs
    if tensor.split is Split.KV_HEADS:
        # Fewer heads than ranks: each head is kept by several of them.
        return -(-tensor.outputs // min(ranks, kv_heads))
    if tensor.split is Split.VOCABULARY:
        padded = -(-tensor.outputs // VOCABULARY_PADDING) * VOCABULARY_PADDING
        return -(-padded // ranks)
    return -(-tensor.outputs // ranks)
