"""Late interaction keeps the vectors of the passages that it has read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from selfhost import models
from selfhost.server.batching import Row
from selfhost.server.reranking import scorers
from selfhost.server.reranking.scorers import LateInteraction
from selfhost.server.text_model import TextTokenizer

QUESTION = "When is breakfast?"
PASSAGES = ("Breakfast is from seven.", "Parking is under the hotel.", "Dogs are welcome.")


class Counting:
    """Runs rows at once, and counts them."""

    def __init__(self, scorer: LateInteraction) -> None:
        self._scorer = scorer
        self.rows = 0

    async def __call__(self, rows: Sequence[Row[Any]]) -> list[Any]:
        self.rows += len(rows)
        return list(self._scorer.compute([row.given for row in rows])) if rows else []


@pytest.fixture
def scorer() -> LateInteraction:
    folder = models.ensure("minilm")
    tokenizer = TextTokenizer(folder / "tokenizer.json", 256)
    return LateInteraction(folder / "model.onnx", tokenizer, device="cpu", threads=1)


async def test_a_passage_is_read_once_and_scored_the_same(scorer: LateInteraction) -> None:
    run = Counting(scorer)
    first = await scorer.score(QUESTION, PASSAGES, run)
    assert run.rows == 1 + len(PASSAGES)
    again = await scorer.score(QUESTION, PASSAGES[::-1], run)
    assert run.rows == 2 + len(PASSAGES)  # the question alone
    assert again.values == pytest.approx(first.values[::-1], abs=1e-6)
    assert again.tokens == first.tokens


async def test_another_question_to_a_kept_passage_is_scored_by_its_own_words(
    scorer: LateInteraction,
) -> None:
    run = Counting(scorer)
    await scorer.score(QUESTION, PASSAGES, run)
    other = await scorer.score("Can I bring my dog?", PASSAGES, run)
    assert int(np.argmax(other.values)) == 2


async def test_what_is_kept_stays_within_its_bytes(scorer: LateInteraction) -> None:
    run = Counting(scorer)
    for number in range(0, 600, 20):
        many = [f"Room {number + place} has a bed." for place in range(20)]
        await scorer.score(QUESTION, many, run)
    assert 0 < scorer._kept.currsize <= scorers.KEPT_BYTES


async def test_vectors_that_are_no_numbers_are_not_kept(
    scorer: LateInteraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Counting(scorer)
    whole = scorer._graph.run

    def spoilt(rows: Any) -> Any:
        hidden, rest = whole(rows)
        return hidden * np.nan, rest

    monkeypatch.setattr(scorer._graph, "run", spoilt)
    broken = await scorer.score(QUESTION, PASSAGES, run)
    assert np.isnan(broken.values).all()
    monkeypatch.undo()
    mended = await scorer.score(QUESTION, PASSAGES, run)
    assert np.isfinite(mended.values).all()
