"""Copies of the real weights with one layer spoilt: what comes out is told from vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from selfhost import models
from selfhost.server.embedding import entries as embedding
from selfhost.server.embedding.self_test import check_embedding
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.metrics import Metrics
from selfhost.server.reranking import entries as reranking
from selfhost.server.reranking.self_test import check_reranking
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.settings import ServerSettings

LAST_LAYER = "inner.encoder.layer.5.output.LayerNorm"
TEXTS = ["a room with a view", "a late breakfast"]

Spoil = Callable[..., Callable[[str], Path]]


@pytest.fixture
def spoilt(tmp_path: Path) -> Spoil:
    """A copy of the embedder whose tensors of those names hold one number."""

    def spoil(**numbers: float) -> Callable[[str], Path]:
        real = models.ensure("minilm")
        graph = (real / "model.onnx").read_bytes()
        for name, number in numbers.items():
            # A tensor's name is followed by its data, and before that by the data's length.
            label = f"{LAST_LAYER}.{name}J".encode()
            start = re.search(re.escape(label) + rb"[\x80-\xff]*[\x00-\x7f]", graph).end()
            data = np.full(384, number, "<f4").tobytes()
            graph = graph[:start] + data + graph[start + len(data) :]
        (tmp_path / "model.onnx").write_bytes(graph)
        (tmp_path / "tokenizer.json").symlink_to(real / "tokenizer.json")
        return lambda _: tmp_path

    return spoil


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        ({"weight": np.nan}, "NaN"),
        ({"bias": np.inf}, "NaN"),
        ({"weight": 0.0, "bias": 0.0}, "length"),
    ],
)
async def test_no_numbers_or_no_length_is_never_an_answer(
    spoilt: Spoil, numbers: dict[str, float], complaint: str
) -> None:
    folder = spoilt(**numbers)
    embedder = embedding.load(embedding.MINILM, ServerSettings(), Metrics(), folder)
    with pytest.raises(BrokenModelError, match=complaint):
        await embedder.embed(TEXTS, owner="a")
    with pytest.raises(BrokenModelError):
        await check_embedding(embedder, embedding.MINILM.known)
    embedder.close()
    reranker = reranking.load(reranking.MINILM_MAXSIM, ServerSettings(), Metrics(), folder)
    with pytest.raises(BrokenModelError, match="no numbers"):
        await reranker.score("a room", TEXTS, owner="a")
    with pytest.raises(BrokenModelError):
        await check_reranking(reranker, reranking.MINILM_MAXSIM.known)
    reranker.close()


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        ({"weight": 0.0, "bias": 0.5}, "same vector"),
        ({"bias": 3.0}, "weights give"),
    ],
)
async def test_vectors_that_mean_nothing_fail_the_test_of_the_model(
    spoilt: Spoil, numbers: dict[str, float], complaint: str
) -> None:
    folder = spoilt(**numbers)
    embedder = embedding.load(embedding.MINILM, ServerSettings(), Metrics(), folder)
    with pytest.raises(SelfTestError, match=complaint):
        await check_embedding(embedder, embedding.MINILM.known)
    embedder.close()
    reranker = reranking.load(reranking.MINILM_MAXSIM, ServerSettings(), Metrics(), folder)
    with pytest.raises(SelfTestError, match="weights give"):
        await check_reranking(reranker, reranking.MINILM_MAXSIM.known)
    reranker.close()


async def test_the_real_weights_pass() -> None:
    embedder = embedding.load(embedding.MINILM, ServerSettings(), Metrics(), models.ensure)
    await check_embedding(embedder, embedding.MINILM.known)
    embedder.close()
    reranker = reranking.load(reranking.MINILM_MAXSIM, ServerSettings(), Metrics(), models.ensure)
    await check_reranking(reranker, reranking.MINILM_MAXSIM.known)
    reranker.close()
