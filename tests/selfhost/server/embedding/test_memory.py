"""Texts of every length, for a long time: what the models hold does not grow with them."""

from __future__ import annotations

import random

import psutil

from selfhost import models
from selfhost.server.embedding import entries as embedding
from selfhost.server.metrics import Metrics
from selfhost.server.reranking import entries as reranking
from selfhost.server.settings import ServerSettings

MAX_GROWTH = 1.05


async def test_memory_is_flat_whatever_texts_come() -> None:
    settings = ServerSettings(embedding_threads=2, reranking_threads=2)
    embedder = embedding.load(embedding.MINILM, settings, Metrics(), models.ensure)
    reranker = reranking.load(reranking.MINILM_MAXSIM, settings, Metrics(), models.ensure)
    chance = random.Random(7)

    def text(words: int) -> str:
        return " ".join(chance.choice(("room", "late", "balcony", "42", "é")) for _ in range(words))

    async def work(rounds: int) -> int:
        for _ in range(rounds):
            lengths = [chance.choice((1, 3, 9, 20, 30)) for _ in range(6)]
            await embedder.embed([text(words) for words in lengths], owner="a")
            await reranker.score(text(8), [text(words) for words in lengths[:3]], owner="b")
        return psutil.Process().memory_info().rss

    # The longest first: what one run needs at most is then there from the beginning.
    await embedder.embed([text(400)] * 2, owner="a")
    await reranker.score(text(400), [text(400)] * 2, owner="b")
    early = await work(15)
    late = await work(150)
    assert late < early * MAX_GROWTH
    embedder.close()
    reranker.close()
