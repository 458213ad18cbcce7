"""Two ways to score how well a passage answers a question, each with a graph in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from cachetools import LRUCache

from selfhost.server.batching import Row
from selfhost.server.embedding.encoder import TOKEN_VECTORS, Vectors
from selfhost.server.text_model import TextGraph, TextTokenizer, Tokens

LOGITS = ("logits",)
KEPT_BYTES = 8 << 20  # the token vectors of about 170 passages of a sentence

Run = Callable[[Sequence[Row[Any]]], Awaitable[list[Any]]]
"""Computes rows on the model's thread, in turn with those of others."""


@dataclass(frozen=True)
class Scores:
    """A score for each passage, in their order, and how many tokens were read for them."""

    values: list[float]
    tokens: int


class Scorer(Protocol):
    async def score(self, question: str, passages: Sequence[str], run: Run) -> Scores:
        """How well each of `passages` answers `question`; more is better."""

    def compute(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The work of a batch of the rows that `score` gave to `run`. On the model's thread."""


class CrossEncoder:
    """Reads question and passage together and gives one number (Nogueira and Cho 2019, Passage
    Re-ranking with BERT). Scores are from 0 to 1.

    Args:
        file: the graph of a sequence classifier with one label.
        device, threads: as for `open_session`.

    Raises:
        SetupError: the graph cannot be loaded.
    """

    def __init__(self, file: Path, tokenizer: TextTokenizer, *, device: str, threads: int) -> None:
        self._tokenizer = tokenizer
        self._graph = TextGraph(
            file, outputs=LOGITS, pad_id=tokenizer.pad_id, device=device, threads=threads
        )

    async def score(self, question: str, passages: Sequence[str], run: Run) -> Scores:
        pairs = await asyncio.to_thread(self._tokenizer.pairs, question, passages)
        values = await run([Row(pair, len(pair)) for pair in pairs])
        return Scores(values, sum(map(len, pairs)))

    def compute(self, rows: Sequence[Tokens]) -> list[float]:
        logits, _ = self._graph.run(rows)
        with np.errstate(over="ignore"):  # a very low logit is a score of 0
            scores = 1 / (1 + np.exp(-logits.reshape(len(rows)).astype(np.float64)))
        return [float(score) for score in scores]


@dataclass(frozen=True)
class Passage:
    """A row of `LateInteraction`.

    Args:
        question: the question's token vectors of length 1, to score the passage with; None to get
            the vectors of `tokens` themselves.
    """

    tokens: Tokens
    question: Vectors | None

    @property
    def key(self) -> bytes:
        return self.tokens.ids.tobytes()


class LateInteraction:
    """Lets each token of the question find its best match among the passage's tokens; the score is
    the mean of these cosines (Khattab and Zaharia 2020, ColBERT, section 3.2: MaxSim, here as a
    mean so that it does not grow with the question). Scores are from -1 to 1, and seldom below 0.

    It needs nothing but an embedder. Over one whose tokens were trained only through their mean it
    is no better than the cosine of the whole texts as long as passages are a sentence; the longer
    they are, the more the mean loses of a single answer in them, and this does not.

    A passage's vectors do not depend on the question. Those of the last passages are kept, so that
    a hotel's facts are not read anew for every question about them.

    Args:
        file: the graph of a transformer that gives its last layer.
        device, threads: as for `open_session`.

    Raises:
        SetupError: the graph cannot be loaded.
    """

    def __init__(self, file: Path, tokenizer: TextTokenizer, *, device: str, threads: int) -> None:
        self._tokenizer = tokenizer
        self._graph = TextGraph(
            file, outputs=TOKEN_VECTORS, pad_id=tokenizer.pad_id, device=device, threads=threads
        )
        self._kept: LRUCache[bytes, Vectors] = LRUCache(KEPT_BYTES, getsizeof=_held_bytes)
        self._kept_lock = Lock()  # the model's thread keeps, the event loop finds

    async def score(self, question: str, passages: Sequence[str], run: Run) -> Scores:
        asked, *read = await asyncio.to_thread(self._tokenizer.texts, [question, *passages])
        (vectors,) = await run([Row(Passage(asked, None), len(asked))])
        rows = [Passage(one, vectors) for one in read]
        kept = [self._kept_score(row) for row in rows]
        unknown = [row for row, score in zip(rows, kept, strict=True) if score is None]
        computed = iter(await run([Row(row, len(row.tokens)) for row in unknown]))
        values = [next(computed) if score is None else score for score in kept]
        return Scores(values, len(asked) + sum(map(len, read)))

    def _kept_score(self, passage: Passage) -> float | None:
        """The passage's score if its vectors are kept: microseconds of arithmetic."""
        with self._kept_lock:
            vectors = self._kept.get(passage.key)
        if vectors is None or passage.question is None:
            return None
        return _mean_best(passage.question, vectors)

    def compute(self, rows: Sequence[Passage]) -> list[Vectors | float]:
        hidden, _ = self._graph.run([row.tokens for row in rows])
        answers: list[Vectors | float] = []
        for row, padded in zip(rows, hidden, strict=True):
            vectors = padded[: len(row.tokens)]
            with np.errstate(invalid="ignore"):  # a vector without length makes the score no number
                vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            if row.question is None:
                answers.append(vectors)
            else:
                answers.append(_mean_best(row.question, vectors))
                self._keep(row, vectors)
        return answers

    def _keep(self, passage: Passage, vectors: Vectors) -> None:
        # What is no number is never kept: it would outlive the fault that made it.
        if vectors.nbytes > KEPT_BYTES or not np.isfinite(vectors).all():
            return
        with self._kept_lock:
            # A copy: a view would hold the whole batch in memory.
            self._kept[passage.key] = vectors.copy()


def _mean_best(question: Vectors, passage: Vectors) -> float:
    return float((question @ passage.T).max(axis=1).mean())


def _held_bytes(vectors: Vectors) -> int:
    return int(vectors.nbytes)
