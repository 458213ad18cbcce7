"""The transcription models of the server's catalogue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from selfhost.server.health.hearing import check_hearing
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.scheduling import Worker
from selfhost.server.settings import ServerSettings
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import Whisper

MB = 1_000_000

MEMORY_BYTES = {"whisper-base": 200 * MB, "whisper-tiny": 115 * MB}
"""With int8 weights on a CPU, after a first decode; measured."""

# Names that clients use by default, or must use to get a protocol's features.
ALIASES = ("gpt-live-transcribe", "gpt-realtime-whisper", "whisper-1")


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[TranscriptionModel]]:
    """The Whisper models; the aliases mean the one that the settings name."""

    def load(name: str) -> TranscriptionModel:
        whisper = Whisper(
            folder(name),
            threads=settings.transcription_threads,
            device=settings.device,
            compute_type=settings.compute_type,
        )
        worker = Worker(name, max_queued=settings.max_queued, metrics=metrics)
        return TranscriptionModel(name, whisper, worker, metrics)

    return [
        Entry(
            id=name,
            job=Job.TRANSCRIPTION,
            memory_bytes=memory_bytes,
            load=partial(load, name),
            self_test=check_hearing,
            aliases=ALIASES if name == settings.transcription_model else (),
        )
        for name, memory_bytes in MEMORY_BYTES.items()
    ]
