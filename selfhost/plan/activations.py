"""What one step of an engine needs besides weights and cache: activations and workspace.

vLLM measures it with a step of `max_num_batched_tokens` tokens and `max_num_seqs` sequences, and
takes the peak away from the cache (`determine_available_memory` in its `gpu_worker.py`). The peak
is in the widest layer or in the sampler, whichever is larger, over the residual stream:

    tokens x hidden x 2 bytes x 3                       residual, its norm, and a layer's output
    tokens x (MLP width / ranks) x 2 bytes x 3          gate, up and their product
    sequences x vocabulary x 4 bytes x copies           scores, sorted scores, indices, their sums

The sampler's copies are between 6 (1,024 sequences of 248,320 tokens: 5.66 GiB printed by a current
version) and 10 (256 of 128,256: 1.26 GiB printed by version 0.6, the same on one card and on two),
which is most of the error band.
"""

from __future__ import annotations

from selfhost.errors import SetupError
from selfhost.plan.architecture import Architecture
from selfhost.plan.estimate import Estimate

ACTIVATION_BYTES = 2
RESIDUAL_COPIES = 3
MLP_COPIES = 3
SCORE_BYTES = 4
SAMPLER_COPIES = 6
BAND_LOW, BAND_HIGH = 0.6, 1.75


def peak(
    architecture: Architecture, *, batched_tokens: int, sequences: int, ranks: int = 1
) -> Estimate:
    """The peak of one step on one card.

    Args:
        architecture: the model.
        batched_tokens: `max_num_batched_tokens`.
        sequences: `max_num_seqs`.
        ranks: cards that share it by tensor parallelism.

    Raises:
        SetupError: it takes images; its encoder's step depends on their number and size.
    """
    if architecture.has_vision:
        raise SetupError(
            f"{architecture.name} takes images, and what its encoder needs for them depends on the "
            "engine's version and on how many come at once (36 GiB were seen beside 20 GiB of "
            "weights). Give the activations that the engine printed: "
            f"{architecture.name},activations_gib=NUMBER."
        )
    residual = batched_tokens * architecture.hidden_size * ACTIVATION_BYTES * RESIDUAL_COPIES
    mlp = batched_tokens * (architecture.mlp_width / ranks) * ACTIVATION_BYTES * MLP_COPIES
    sampler = sequences * architecture.vocabulary * SCORE_BYTES * SAMPLER_COPIES
    expected = residual + max(mlp, sampler)
    return Estimate(int(expected), int(expected * BAND_LOW), int(expected * BAND_HIGH))
