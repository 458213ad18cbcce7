"""The embedder and the reranker for GPUs: their loaders, on small random weights of the same
architecture, beside what transformers computes with these."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from selfhost import models
from selfhost.errors import SetupError
from selfhost.server.embedding import entries as embedding
from selfhost.server.embedding.encoder import Pooling, SentenceEncoder
from selfhost.server.embedding.self_test import check_embedding
from selfhost.server.metrics import Metrics
from selfhost.server.reranking import entries as reranking
from selfhost.server.reranking.self_test import check_reranking
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.settings import ServerSettings
from selfhost.server.text_model import TextTokenizer
from tests.random_weights import made_by

SCRIPT = Path(__file__).with_name("random_xlm_roberta.py")


@pytest.fixture(scope="module")
def weights() -> Path:
    return made_by(SCRIPT)


@pytest.fixture
def folder(weights: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Finds them as a user's own copies of the hub's files are found."""
    named = ",".join(f"{spec.id}={weights / spec.id}" for spec in (embedding.BGE_M3, BGE_RERANKER))
    monkeypatch.setenv("MODEL_SERVER_MODEL_FOLDERS", named)
    return models.path


BGE_RERANKER = reranking.BGE_RERANKER


async def test_vectors_are_those_of_transformers(folder: Callable[[str], Path]) -> None:
    expected = json.loads((folder("bge-m3") / "expected.json").read_text())
    model = embedding.load(embedding.BGE_M3, ServerSettings(), Metrics(), folder)
    found = await model.embed(expected["texts"], owner="a")
    np.testing.assert_allclose(found.vectors, expected["vectors"], atol=1e-5)
    assert model.dimensions == 48
    model.close()


def test_texts_of_all_lengths_in_one_run_keep_their_vectors(weights: Path) -> None:
    # Positions are counted from the padding mark, so another filling would move them.
    expected = json.loads((weights / "bge-m3" / "expected.json").read_text())
    tokenizer = TextTokenizer(weights / "bge-m3" / "tokenizer.json", 8192)
    encoder = SentenceEncoder(
        weights / "bge-m3" / "onnx" / "model.onnx",
        pooling=Pooling.CLS,
        pad_id=tokenizer.pad_id,
        device="cpu",
        threads=1,
    )
    tokens = tokenizer.texts(expected["texts"])
    assert len({len(one) for one in tokens}) == len(tokens)
    np.testing.assert_allclose(encoder(tokens), expected["vectors"], atol=1e-5)


async def test_scores_are_those_of_transformers(folder: Callable[[str], Path]) -> None:
    expected = json.loads((folder("bge-reranker-v2-m3") / "expected.json").read_text())
    model = reranking.load(BGE_RERANKER, ServerSettings(), Metrics(), folder)
    texts = expected["texts"]
    found = await model.score(texts[0], texts, owner="a")
    np.testing.assert_allclose(found.values, expected["scores"], atol=1e-5)
    model.close()


async def test_a_text_beyond_8192_tokens_is_read_up_to_there(
    folder: Callable[[str], Path],
) -> None:
    model = embedding.load(embedding.BGE_M3, ServerSettings(), Metrics(), folder)
    found = await model.embed(["breakfast " * 9_000], owner="a")
    assert found.tokens == 8192
    assert np.isfinite(found.vectors).all()
    model.close()


async def test_other_weights_than_the_published_fail_the_test_of_the_model(
    folder: Callable[[str], Path],
) -> None:
    embedder = embedding.load(embedding.BGE_M3, ServerSettings(), Metrics(), folder)
    with pytest.raises(SelfTestError, match="bge-m3"):
        await check_embedding(embedder, embedding.BGE_M3.known)
    embedder.close()
    reranker = reranking.load(BGE_RERANKER, ServerSettings(), Metrics(), folder)
    with pytest.raises(SelfTestError, match=r"bge-reranker-v2-m3 gives .* 0\.0003"):
        await check_reranking(reranker, BGE_RERANKER.known)
    reranker.close()


def test_cuda_that_is_not_there_is_an_error_and_not_a_slow_cpu(
    folder: Callable[[str], Path],
) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this machine has CUDA")
    with pytest.raises(SetupError, match="onnxruntime-gpu"):
        embedding.load(embedding.BGE_M3, ServerSettings(device="cuda"), Metrics(), folder)
    # The small embedder is for CPUs whatever the others run on.
    embedding.load(
        embedding.MINILM, ServerSettings(device="cuda"), Metrics(), models.ensure
    ).close()


def test_a_graph_of_another_kind_is_named(folder: Callable[[str], Path]) -> None:
    wrong = replace(embedding.BGE_M3, id="bge-reranker-v2-m3")
    with pytest.raises(SetupError, match=r"gives logits; expected .* last_hidden_state"):
        embedding.load(wrong, ServerSettings(), Metrics(), folder)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"not a graph")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SetupError, match=r"tokenizer\.json"):
        embedding.load(embedding.BGE_M3, ServerSettings(), Metrics(), lambda _: tmp_path)
