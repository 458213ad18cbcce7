"""The self-test must notice models that load and then make garbage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from selfhost import models
from selfhost.server.catalogue import Catalogue
from selfhost.server.metrics import Metrics
from selfhost.server.readiness import SelfTestError, check
from selfhost.server.scheduling import Worker
from selfhost.server.settings import ServerSettings
from selfhost.server.speech.model import SpeechModel
from selfhost.server.speech.voices import Samples


class BrokenVoice:
    """A voice that answers, as one did that was loaded beside a starting language model."""

    sample_rate_hz = 24_000

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def pieces(self, text: str) -> list[str]:
        return [text]

    def speak(self, piece: str, speed: float) -> Samples:
        return self._samples


@pytest.mark.parametrize(
    ("samples", "complaint"),
    [
        (np.zeros(48_000, np.float32), "silence"),
        (np.full(48_000, np.nan, np.float32), "not numbers"),
        (np.sin(np.arange(48_000) / 20).astype(np.float32), "heard 0 words"),
    ],
    ids=["silence", "not a number", "a tone"],
)
async def test_a_voice_that_says_nothing_is_not_ready(samples: Samples, complaint: str) -> None:
    def folder(name: str) -> Path:
        return models.ensure(name)

    metrics = Metrics()
    catalogue = Catalogue(ServerSettings(), metrics, folder)
    worker = Worker("broken", max_queued=8, metrics=metrics)
    with pytest.raises(SelfTestError, match=complaint):
        await check(
            SpeechModel("broken", BrokenVoice(samples), worker),
            await catalogue.transcription("whisper-tiny"),
        )
    worker.close()
    catalogue.close()
