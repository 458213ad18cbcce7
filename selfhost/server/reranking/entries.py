"""The rerankers that the server offers, and how each is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from selfhost.server.batching import BatchingWorker, BatchLimits
from selfhost.server.metrics import Metrics
from selfhost.server.reranking.model import RerankingModel
from selfhost.server.reranking.scorers import CrossEncoder, LateInteraction
from selfhost.server.reranking.self_test import KnownScores, check_reranking
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.settings import ServerSettings
from selfhost.server.text_model import TextTokenizer


@dataclass(frozen=True)
class RerankerSpec:
    """One reranker.

    Args:
        id: what clients ask for.
        files: what its files are called; two models may be made of the same.
        graph: the ONNX file in their folder.
        max_tokens: the longest text, or pair for a cross-encoder, that it was made for.
        memory_bytes: expected until a load has measured it.
        only_on_cpu: its weights are in a form that a GPU gains nothing from.
    """

    id: str
    files: str
    graph: str
    scorer: type[CrossEncoder] | type[LateInteraction]
    max_tokens: int
    memory_bytes: int
    limits: BatchLimits
    known: KnownScores
    only_on_cpu: bool = False


# The scores are those of the embedder's published float32 weights.
MINILM_MAXSIM = RerankerSpec(
    id="minilm-maxsim",
    files="minilm",
    graph="model.onnx",
    scorer=LateInteraction,
    max_tokens=256,
    memory_bytes=180_000_000,
    limits=BatchLimits(max_rows=16, max_tokens=256),
    known=KnownScores(
        question="Is breakfast included in the room rate?",
        passages=(
            "Yes, a breakfast buffet is part of every booking.",
            "The train leaves from platform four at noon.",
        ),
        scores=(0.5735, 0.2309),
        tolerance=0.02,
    ),
    only_on_cpu=True,
)

# The scores are those of its model card: half precision, logits of -8.1875 and 5.2617.
BGE_RERANKER = RerankerSpec(
    id="bge-reranker-v2-m3",
    files="bge-reranker-v2-m3",
    graph="onnx/model.onnx",
    scorer=CrossEncoder,
    max_tokens=1024,  # its card recommends no more
    memory_bytes=3_000_000_000,
    limits=BatchLimits(max_rows=64, max_tokens=16_384),
    known=KnownScores(
        question="what is panda?",
        passages=(
            "hi",
            "The giant panda (Ailuropoda melanoleuca), sometimes called a panda bear or simply "
            "panda, is a bear species endemic to China.",
        ),
        scores=(0.000278, 0.99484),
        tolerance=0.005,
    ),
)

RERANKERS = (MINILM_MAXSIM, BGE_RERANKER)


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[RerankingModel]]:
    """The catalogue's lines.

    Args:
        folder: finds a model's files by their name, such as `selfhost.models.path`.
    """
    return [entry(spec, settings, metrics, folder) for spec in RERANKERS]


def entry(
    spec: RerankerSpec, settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> Entry[RerankingModel]:
    """The line of one reranker."""
    return Entry(
        id=spec.id,
        job=Job.RERANKING,
        memory_bytes=spec.memory_bytes,
        load=partial(load, spec, settings, metrics, folder),
        self_test=partial(check_reranking, known=spec.known),
    )


def load(
    spec: RerankerSpec, settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> RerankingModel:
    """The reranker in memory.

    Raises:
        SetupError: its files are missing or are of another kind, or its device cannot be had.
    """
    where = folder(spec.files)
    tokenizer = TextTokenizer(where / "tokenizer.json", spec.max_tokens)
    scorer = spec.scorer(
        where / spec.graph,
        tokenizer,
        device="cpu" if spec.only_on_cpu else settings.device,
        threads=settings.reranking_threads,
    )
    worker = BatchingWorker(
        spec.id,
        scorer.compute,
        limits=spec.limits,
        max_queued=settings.max_queued,
        metrics=metrics,
    )
    return RerankingModel(spec.id, scorer, worker)
