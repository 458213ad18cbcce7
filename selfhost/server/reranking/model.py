"""A reranker that is loaded, with the thread that it works on."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from selfhost.server.batching import BatchingWorker
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.reranking.scorers import Scorer, Scores
from selfhost.server.scheduling import Priority


@dataclass
class RerankingModel:
    id: str
    scorer: Scorer
    worker: BatchingWorker[Any, Any]

    async def score(
        self,
        question: str,
        passages: Sequence[str],
        *,
        owner: Hashable,
        priority: Priority = Priority.FINAL,
        kind: str = "reranking",
        may_refuse: bool = True,
    ) -> Scores:
        """How well each of `passages` answers `question`; more is better. What is beyond the
        model's longest text is left out.

        Args:
            owner, priority, kind, may_refuse: as for `Worker.run`.

        Raises:
            ApiError: too much work waits already.
            BrokenModelError: what the model makes are no scores.
        """
        run = partial(
            self.worker.run_rows, owner=owner, priority=priority, kind=kind, may_refuse=may_refuse
        )
        scores = await self.scorer.score(question, passages, run)
        if not all(map(math.isfinite, scores.values)):
            raise BrokenModelError(f"{self.id} made scores that are no numbers (NaN or infinite)")
        return scores

    def close(self) -> None:
        self.worker.close()
