"""The libraries' own ways of running the four models, with nothing of the server around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from selfhost import models
from selfhost.load.model_bench.task import (
    ANSWER_TOKENS,
    EMBEDDING,
    EXTRACTION,
    GENERATION,
    LABELS,
    PASSAGES,
    Question,
)

Ask = Callable[[Question], Any]


def load_embedder() -> Ask:
    """Sentence embeddings by onnxruntime: the mean of the tokens' vectors."""
    vectors = _token_vectors()

    def ask(asked: Question) -> Any:
        hidden, mask = vectors([asked.text])
        mean = (hidden * mask).sum(axis=1) / mask.sum(axis=1)
        return (mean / np.linalg.norm(mean, axis=1, keepdims=True)).tolist()

    return ask


def load_reranker() -> Ask:
    """Late interaction: each word of the question finds its nearest in a passage."""
    vectors = _token_vectors()

    def ask(asked: Question) -> Any:
        hidden, mask = vectors([asked.text, *PASSAGES])
        unit = hidden / np.linalg.norm(hidden, axis=2, keepdims=True) * mask
        likeness = np.einsum("qd,ptd->pqt", unit[0], unit[1:])
        scores = likeness.max(axis=2).sum(axis=1)
        return np.argsort(-scores).tolist()

    return ask


def load_extractor() -> Ask:
    """Entities by spaCy."""
    from selfhost.server.extraction.spacy_pipeline import SpacyExtractor

    pipeline = SpacyExtractor(models.path(EXTRACTION))
    return lambda asked: pipeline.extract([asked.text], LABELS, 0.0)[0]


def load_generator() -> Ask:
    """An answer by llama.cpp."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(models.weights(GENERATION))
    params.n_ctx = 4096
    params.n_parallel = 1
    params.offline = True
    params.ui = False
    params.port = 0
    engine = xllamacpp.Server(params)

    def ask(asked: Question) -> Any:
        body = {"messages": asked.prompt(), "max_tokens": ANSWER_TOKENS, "temperature": 0}
        return engine.handle_chat_completions(body)["choices"]

    return ask


def _token_vectors() -> Callable[[list[str]], tuple[Any, Any]]:
    import onnxruntime
    from tokenizers import Tokenizer

    folder = models.path(EMBEDDING)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
    )

    def vectors(texts: list[str]) -> tuple[Any, Any]:
        encoded = tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return session.run(None, fed)[0], mask[..., None]

    return vectors


LOADERS = (load_embedder, load_reranker, load_extractor, load_generator)
