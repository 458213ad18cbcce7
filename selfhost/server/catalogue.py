"""The models that this server serves: every kind brings its own lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from selfhost.errors import SetupError
from selfhost.server.embedding.entries import entries as embedding_entries
from selfhost.server.extraction.entries import entries as extraction_entries
from selfhost.server.generation.entries import entries as generation_entries
from selfhost.server.metrics import Metrics
from selfhost.server.reranking.entries import entries as reranking_entries
from selfhost.server.residency.entry import Entry
from selfhost.server.settings import ServerSettings
from selfhost.server.speech.entries import entries as speech_entries
from selfhost.server.transcription.entries import entries as transcription_entries

Offer = Callable[[ServerSettings, Metrics, Callable[[str], Path]], Sequence[Entry[Any]]]
"""Settings, metrics, and what finds a model's files by its name: the models of one kind."""

KINDS: tuple[Offer, ...] = (
    transcription_entries,
    speech_entries,
    embedding_entries,
    reranking_entries,
    extraction_entries,
    generation_entries,
)


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[Any]]:
    """Every model that can be asked for.

    Raises:
        SetupError: two models have the same name.
    """
    found = [entry for offer in KINDS for entry in offer(settings, metrics, folder)]
    names: set[str] = set()
    for entry in found:
        for name in (entry.id, *entry.aliases):
            if name in names:
                raise SetupError(f"Two models are named {name}. Give one of them another name.")
            names.add(name)
    return found


def check_start(
    offered: Iterable[Entry[Any]],
    *,
    preload: Sequence[str],
    pinned: Sequence[str],
    budget_bytes: int,
) -> None:
    """
    Raises:
        SetupError: a model to load at the start or to pin is unknown, or all of them together do
            not fit.
    """
    by_name = {name: entry for entry in offered for name in (entry.id, *entry.aliases)}
    for setting, names in (("MODEL_SERVER_PRELOAD", preload), ("MODEL_SERVER_PINNED", pinned)):
        for name in names:
            if name not in by_name:
                raise SetupError(
                    f"{setting} names {name}, which is no model of this server. Expected one or "
                    f"more of: {', '.join(by_name)}."
                )
    wanted = list({by_name[name].id: by_name[name] for name in (*preload, *pinned)}.values())
    needed_bytes = sum(entry.memory_bytes for entry in wanted)
    if needed_bytes > budget_bytes:
        each = ", ".join(f"{entry.id} {entry.memory_bytes / 1e6:,.0f}" for entry in wanted)
        raise SetupError(
            f"The models to load at the start take about {needed_bytes / 1e6:,.0f} MB ({each}), "
            f"and all models together may take {budget_bytes / 1e6:,.0f} MB. Name fewer in "
            "MODEL_SERVER_PRELOAD and MODEL_SERVER_PINNED, or set MODEL_SERVER_MEMORY_BYTES to "
            "more if the machine has it."
        )
