"""A sentence embedder: a transformer's token vectors, pooled to one vector of length 1 a text."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfhost.server.text_model import TextGraph, Tokens

Vectors = NDArray[np.float32]
"""A row for each text."""

# What exporters call the token vectors, the last layer's output.
TOKEN_VECTORS = ("last_hidden_state", "token_embeddings")


class Pooling(StrEnum):
    """How the vectors of a text's tokens become one; each model is trained for one way."""

    MEAN = "mean"
    CLS = "cls"  # the first token's, a mark that stands for the whole text


def pool(hidden: Vectors, mask: NDArray[np.int64], pooling: Pooling) -> Vectors:
    """One vector of length 1 for each text (Reimers and Gurevych 2019, Sentence-BERT, section 3).

    Args:
        hidden: token vectors, [texts, tokens, dimensions].
        mask: 1 where a token is, [texts, tokens].

    Returns:
        [texts, dimensions]. A text without length stays so: what is no vector is not made up.
    """
    # Numbers that are none stay so in the answer, where they are noticed.
    with np.errstate(invalid="ignore"):
        if pooling is Pooling.CLS:
            pooled = hidden[:, 0]
        else:
            # Chosen and not multiplied by 0: what is computed of the filling may be anything.
            kept = np.where(mask[..., None] == 1, hidden, np.float32(0))
            pooled = kept.sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        vectors: Vectors = pooled / np.where(norms == 0, 1, norms)
    return vectors.astype(np.float32)


class SentenceEncoder:
    """Vectors of texts. Not for two threads at once.

    Args:
        file: the ONNX graph.
        pad_id, device, threads: as for `TextGraph`.

    Raises:
        SetupError: the graph cannot be loaded.
    """

    def __init__(
        self, file: Path, *, pooling: Pooling, pad_id: int, device: str, threads: int
    ) -> None:
        self._graph = TextGraph(
            file, outputs=TOKEN_VECTORS, pad_id=pad_id, device=device, threads=threads
        )
        self._pooling = pooling

    def __call__(self, batch: Sequence[Tokens]) -> Vectors:
        hidden, mask = self._graph.run(batch)
        return pool(hidden, mask, self._pooling)
