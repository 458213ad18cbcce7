"""An embedder that is loaded, with the thread that it works on."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from selfhost.server.batching import BatchingWorker, Row
from selfhost.server.embedding.encoder import Vectors
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.scheduling import Priority
from selfhost.server.text_model import TextTokenizer, Tokens

MAX_NORM_ERROR = 1e-3


@dataclass(frozen=True)
class Embedded:
    """Vectors of length 1 in the texts' order, and how many tokens were read for them."""

    vectors: Vectors
    tokens: int


@dataclass
class EmbeddingModel:
    """
    Args:
        dimensions: of each vector.
    """

    id: str
    tokenizer: TextTokenizer
    worker: BatchingWorker[Tokens, Vectors]
    dimensions: int

    async def embed(
        self,
        texts: Sequence[str],
        *,
        owner: Hashable,
        priority: Priority = Priority.FINAL,
        kind: str = "embedding",
        may_refuse: bool = True,
    ) -> Embedded:
        """The vectors of `texts`. What is beyond the model's longest text is left out.

        Args:
            owner, priority, kind, may_refuse: as for `Worker.run`.

        Raises:
            ApiError: too much work waits already.
            BrokenModelError: what the model makes are no vectors.
        """
        tokens = await asyncio.to_thread(self.tokenizer.texts, texts)
        rows = [Row(one, len(one)) for one in tokens]
        answers = await self.worker.run_rows(
            rows, owner=owner, priority=priority, kind=kind, may_refuse=may_refuse
        )
        vectors = np.stack(answers)
        check_vectors(self.id, vectors)
        return Embedded(vectors, sum(row.tokens for row in rows))

    def close(self) -> None:
        self.worker.close()


def check_vectors(model: str, vectors: Vectors) -> None:
    """
    Raises:
        BrokenModelError: one of the vectors has a number that is none, or is not of length 1.
    """
    if not np.isfinite(vectors).all():
        raise BrokenModelError(f"{model} made vectors with numbers that are none (NaN or infinite)")
    worst = float(np.abs(np.linalg.norm(vectors, axis=1) - 1).max())
    if worst > MAX_NORM_ERROR:
        raise BrokenModelError(f"{model} made a vector whose length is not 1 but {worst:g} off")
