"""The generators that the server offers, and how each is loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotInTimeError
from functools import partial
from pathlib import Path

from selfhost.catalogue import CATALOGUE
from selfhost.engines.choice import SMALL_MODEL
from selfhost.engines.gate import Gate
from selfhost.engines.llama import LlamaCpp
from selfhost.engines.placement import placements
from selfhost.engines.process import EngineEndedError, EngineProcess
from selfhost.errors import SetupError
from selfhost.plan.flags import LlamaCppFlags
from selfhost.plan.product import CONTEXT_TOKENS
from selfhost.server.generation.model import GenerationModel, check_generation
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.settings import ServerSettings

SLOTS = 2
MEMORY_BYTES = 900_000_000


def entries(
    settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
) -> list[Entry[GenerationModel]]:
    """The catalogue's lines.

    Args:
        folder: finds a model's files by its name, such as `selfhost.models.path`.
    """
    return [
        Entry(
            id=SMALL_MODEL,
            job=Job.GENERATION,
            memory_bytes=MEMORY_BYTES,
            load=partial(load, SMALL_MODEL, settings, folder),
            self_test=check_generation,
        )
    ]


def load(name: str, settings: ServerSettings, folder: Callable[[str], Path]) -> GenerationModel:
    """The generator, its engine up and warm.

    Raises:
        SetupError: its files are missing, or its engine does not start.
    """
    weights = folder(name) / CATALOGUE[name].files[0].name
    slot_folder = Path(tempfile.mkdtemp(prefix="hotel-voice-slots-"))
    engine = LlamaCpp(weights, name, slot_folder, LlamaCppFlags(SLOTS, CONTEXT_TOKENS))
    process = EngineProcess(engine, hung_after_s=settings.hung_after_s)
    gate = Gate(process, placements(engine, slot_folder))
    model = GenerationModel(name, process, gate, slot_folder)
    process.start()
    try:
        process.next_life().result(engine.start_timeout_s)
    except (EngineEndedError, NotInTimeError) as error:
        model.close()
        raise SetupError(f"{name}: its engine did not start: {error or 'not in time'}") from error
    except BaseException:
        model.close()
        raise
    return model
