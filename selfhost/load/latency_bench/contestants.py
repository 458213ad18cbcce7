"""Who takes the calls: this product's worker, with one set of providers or another, and the stock
one. Pure: from settings to what is to be started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selfhost.load.latency_bench.providers import ProviderSet

STOCK = "stock"
STOCK_MODULE = "selfhost.load.latency_bench.stock_worker"
# What this product's worker hears, speaks and is spoken with here, by the names that clients use.
SPEECH_MODEL, SPEECH_VOICE = "piper", "joe"


@dataclass(frozen=True)
class Contestant:
    """A worker that is measured.

    Args:
        name: as the reader knows it; a caller asks the room server for it by that name too.
        command: the module to run, and its arguments.
        environment: beside the stack's.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


def ours(name: str, providers: ProviderSet, *, port: int, metrics_port: int) -> Contestant:
    """This product's worker.

    Args:
        name: for the reader.
        providers: who hears, words and speaks.
        port: where it tells of its health.
        metrics_port: where it serves its metrics, as it does in the stack.
    """
    return Contestant(
        name,
        ("agent", "start"),
        {
            **providers.settings(),
            "LIVEKIT_AGENT_NAME": name,
            "WORKER_PORT": str(port),
            "WORKER_METRICS_PORT": str(metrics_port),
        },
    )


def stock(
    *, port: int, models_url: str, generation_url: str, transcription_model: str, model: str
) -> Contestant:
    """The pipeline of the framework's guide, on the same models.

    Args:
        port: where it tells of its health.
        models_url: of the server that hears and speaks.
        generation_url: of the one that words.
        transcription_model: the one that ours is heard by.
        model: the language model.
    """
    return Contestant(
        STOCK,
        (STOCK_MODULE, "start"),
        {
            "STOCK_WORKER_PORT": str(port),
            "STOCK_MODELS_URL": models_url,
            "STOCK_STT_MODEL": transcription_model,
            "STOCK_TTS_MODEL": SPEECH_MODEL,
            "STOCK_TTS_VOICE": SPEECH_VOICE,
            "STOCK_LLM_URL": generation_url,
            "STOCK_LLM_MODEL": model,
        },
    )
