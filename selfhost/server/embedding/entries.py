"""The embedders that the server offers, and how each is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from selfhost.server.batching import BatchingWorker, BatchLimits
from selfhost.server.embedding.encoder import Pooling, SentenceEncoder
from selfhost.server.embedding.model import EmbeddingModel
from selfhost.server.embedding.self_test import KnownCosine, check_embedding
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.settings import ServerSettings
from selfhost.server.text_model import TextTokenizer


@dataclass(frozen=True)
class EmbedderSpec:
    """One embedder.

    Args:
        id: what clients ask for, and what its files are called.
        graph: the ONNX file in its folder.
        max_tokens: the longest text that it was made for.
        memory_bytes: expected until a load has measured it.
        only_on_cpu: its weights are in a form that a GPU gains nothing from.
    """

    id: str
    graph: str
    pooling: Pooling
    max_tokens: int
    memory_bytes: int
    limits: BatchLimits
    known: KnownCosine
    only_on_cpu: bool = False


# The cosine is that of the published float32 weights; their int8 form gives 0.5715.
MINILM = EmbedderSpec(
    id="minilm",
    graph="model.onnx",
    pooling=Pooling.MEAN,
    max_tokens=256,  # it was trained on no longer texts
    memory_bytes=180_000_000,
    limits=BatchLimits(max_rows=16, max_tokens=256),
    known=KnownCosine(
        first="Is breakfast included in the room rate?",
        second="Yes, a breakfast buffet is part of every booking.",
        unlike="The train leaves from platform four at noon.",
        cosine=0.5696,
        tolerance=0.02,
        max_unlike=0.3,
    ),
    only_on_cpu=True,
)

# The cosine is that of its model card (half precision).
BGE_M3 = EmbedderSpec(
    id="bge-m3",
    graph="onnx/model.onnx",
    pooling=Pooling.CLS,
    max_tokens=8192,
    memory_bytes=3_000_000_000,
    limits=BatchLimits(max_rows=64, max_tokens=16_384),
    known=KnownCosine(
        first="What is BGE M3?",
        second=(
            "BGE M3 is an embedding model supporting dense retrieval, lexical matching and "
            "multi-vector interaction."
        ),
        unlike=(
            "BM25 is a bag-of-words retrieval function that ranks a set of documents based on the "
            "query terms appearing in each document"
        ),
        cosine=0.6265,
        tolerance=0.02,
        max_unlike=0.45,
    ),
)

EMBEDDERS = (MINILM, BGE_M3)


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[EmbeddingModel]]:
    """The catalogue's lines.

    Args:
        folder: finds a model's files by its name, such as `selfhost.models.path`.
    """
    return [entry(spec, settings, metrics, folder) for spec in EMBEDDERS]


def entry(
    spec: EmbedderSpec, settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> Entry[EmbeddingModel]:
    """The line of one embedder."""
    return Entry(
        id=spec.id,
        job=Job.EMBEDDING,
        memory_bytes=spec.memory_bytes,
        load=partial(load, spec, settings, metrics, folder),
        self_test=partial(check_embedding, known=spec.known),
    )


def load(
    spec: EmbedderSpec, settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> EmbeddingModel:
    """The embedder in memory.

    Raises:
        SetupError: its files are missing or are of another kind, or its device cannot be had.
    """
    where = folder(spec.id)
    tokenizer = TextTokenizer(where / "tokenizer.json", spec.max_tokens)
    encoder = SentenceEncoder(
        where / spec.graph,
        pooling=spec.pooling,
        pad_id=tokenizer.pad_id,
        device="cpu" if spec.only_on_cpu else settings.device,
        threads=settings.embedding_threads,
    )
    # The first run of a graph is slow, and it tells how long the vectors are.
    dimensions = encoder(tokenizer.texts(["warm"])).shape[1]
    worker = BatchingWorker(
        spec.id,
        encoder,
        limits=spec.limits,
        max_queued=settings.max_queued,
        metrics=metrics,
    )
    return EmbeddingModel(spec.id, tokenizer, worker, dimensions)
