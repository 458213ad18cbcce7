"""The transcription models of the server's catalogue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from selfhost.server.health.hearing import check_hearing
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.settings import ServerSettings
from selfhost.server.transcription.model import TranscriptionModel, transcription_worker
from selfhost.server.transcription.whisper import Whisper, default_compute_type

MB = 1_000_000

MEMORY_BYTES = {"whisper-base": 200 * MB, "whisper-tiny": 115 * MB}
"""With int8 weights on a CPU, after a first decode; measured."""

TURBO = "whisper-large-v3-turbo"
TURBO_PARAMETERS = 809_000_000
TURBO_WORK_BYTES = 500 * MB
"""For the encoder's activations, the decoder's cache and CUDA's own buffers; an estimate."""

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
        worker = transcription_worker(
            name, whisper, max_queued=settings.max_queued, metrics=metrics
        )
        return TranscriptionModel(name, whisper, worker, metrics)

    sizes = MEMORY_BYTES | {TURBO: _turbo_bytes(settings)}
    return [
        Entry(
            id=name,
            job=Job.TRANSCRIPTION,
            memory_bytes=memory_bytes,
            load=partial(load, name),
            self_test=check_hearing,
            aliases=ALIASES if name == settings.transcription_model else (),
        )
        for name, memory_bytes in sizes.items()
    ]


def _turbo_bytes(settings: ServerSettings) -> int:
    """Its parameters in the form in which it computes, and room for the work."""
    compute_type = settings.compute_type or default_compute_type(settings.device)
    width = 1 if compute_type.startswith("int8") else 4 if compute_type == "float32" else 2
    return TURBO_PARAMETERS * width + TURBO_WORK_BYTES
