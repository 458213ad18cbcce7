"""The extractors that the server offers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from selfhost.server.extraction.entity import Extractor
from selfhost.server.extraction.model import ExtractionModel, self_test
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.scheduling import Worker
from selfhost.server.settings import ServerSettings

MB = 1_000_000

SPACY = "en-core-web-sm"
GLINER = "gliner-medium-v2.1"


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[ExtractionModel]]:
    """The server's extractors.

    Args:
        folder: finds a model's files by its name, such as `selfhost.models.path`.
    """

    def load(name: str, make: Callable[[], Extractor]) -> ExtractionModel:
        extractor = make()
        worker = Worker(name, max_queued=settings.max_queued, metrics=metrics)
        return ExtractionModel(name, extractor, worker)

    def spacy() -> Extractor:
        # Imported when it is first used: half a second that a server without it need not spend.
        from selfhost.server.extraction.spacy_pipeline import SpacyExtractor

        return SpacyExtractor(folder(SPACY))

    def gliner() -> Extractor:
        from selfhost.server.extraction.gliner import GlinerExtractor

        return GlinerExtractor(
            folder(GLINER), device=settings.device, threads=settings.extraction_threads
        )

    return [
        Entry(
            id=SPACY,
            job=Job.EXTRACTION,
            memory_bytes=100 * MB,  # measured; with spaCy itself, which comes with it
            load=partial(load, SPACY, spacy),
            self_test=self_test,
        ),
        Entry(
            id=GLINER,
            job=Job.EXTRACTION,
            # Its 195 M parameters of 4 bytes, and half as much again for the work; an estimate.
            memory_bytes=1_200 * MB,
            load=partial(load, GLINER, gliner),
            self_test=self_test,
            aliases=("gliner",),
        ),
    ]
