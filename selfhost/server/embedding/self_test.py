"""The test of an embedder: does it tell like from unlike, as its own weights should?"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from selfhost.server.embedding.model import EmbeddingModel
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority


@dataclass(frozen=True)
class KnownCosine:
    """Two texts whose likeness is known, and one that is unlike the first.

    Args:
        cosine: of `first` and `second`, from the model's published weights.
        tolerance: how far off a right copy may be, in its own precision.
        max_unlike: the cosine of `first` and `unlike` is less.
    """

    first: str
    second: str
    unlike: str
    cosine: float
    tolerance: float
    max_unlike: float


async def check_embedding(model: EmbeddingModel, known: KnownCosine) -> None:
    """Let `model` embed three texts, after everything that clients wait for.

    Raises:
        SelfTestError: the vectors are equal, or not as like as they are known to be.
        BrokenModelError: they are no vectors.
    """
    embedded = await model.embed(
        [known.first, known.second, known.unlike],
        owner=f"self-test-{uuid.uuid4().hex}",
        priority=Priority.BACKGROUND,
        kind="self-test",
        may_refuse=False,
    )
    first, second, unlike = embedded.vectors
    cosine, other = float(first @ second), float(first @ unlike)
    if other > 1 - 1e-4 and cosine > 1 - 1e-4:
        raise SelfTestError(f"{model.id} makes the same vector of every text")
    if abs(cosine - known.cosine) > known.tolerance:
        raise SelfTestError(
            f"{model.id} finds two known texts alike by {cosine:.3f}; its weights give "
            f"{known.cosine:.3f}"
        )
    if other > known.max_unlike:
        raise SelfTestError(f"{model.id} finds unlike texts alike by {other:.3f}")
