"""The test of a reranker: does it score known passages as its own weights should?"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from selfhost.server.reranking.model import RerankingModel
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority


@dataclass(frozen=True)
class KnownScores:
    """Passages whose scores are known.

    Args:
        scores: of each of `passages`, from the model's published weights.
        tolerance: how far off a right copy may be, in its own precision. The scores lie further
            apart than that.
    """

    question: str
    passages: tuple[str, ...]
    scores: tuple[float, ...]
    tolerance: float


async def check_reranking(model: RerankingModel, known: KnownScores) -> None:
    """Let `model` score the known passages, after everything that clients wait for.

    Raises:
        SelfTestError: the scores are others than those known.
        BrokenModelError: they are no scores.
    """
    found = await model.score(
        known.question,
        known.passages,
        owner=f"self-test-{uuid.uuid4().hex}",
        priority=Priority.BACKGROUND,
        kind="self-test",
        may_refuse=False,
    )
    for value, score in zip(found.values, known.scores, strict=True):
        if abs(value - score) > known.tolerance:
            raise SelfTestError(
                f"{model.id} gives a known passage {value:.4f}; its weights give {score:.4f}"
            )
