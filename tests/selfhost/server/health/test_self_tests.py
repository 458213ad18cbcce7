"""The models' tests of themselves: real models pass, those that load and make garbage do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from selfhost import models
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.health.hearing import check_hearing, clip
from selfhost.server.health.speaking import check_speaking
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority, Worker
from selfhost.server.speech.model import SpeechModel
from selfhost.server.speech.voices import HibariVoice, PiperVoice, Samples, Voice
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import Hints, Whisper
from tests.selfhost.server.health.corrupted import corrupted_copy, stretches

MakeWorker = Callable[[], Worker]


@pytest.fixture
def new_worker() -> Iterator[MakeWorker]:
    workers: list[Worker] = []

    def make() -> Worker:
        workers.append(Worker("model", max_queued=8, metrics=Metrics()))
        return workers[-1]

    yield make
    for worker in workers:
        worker.close()


def listener(folder: Path, worker: Worker) -> TranscriptionModel:
    whisper = Whisper(folder, threads=1, device="cpu", compute_type="int8")
    return TranscriptionModel("whisper", whisper, worker, Metrics())


def broken_whisper(tmp_path: Path, at: float) -> Path:
    real = models.ensure("whisper-tiny")
    where = stretches(real / "model.bin", [at])
    return corrupted_copy(real, tmp_path / "model", "model.bin", where)


@pytest.mark.parametrize("name", ["whisper-base", "whisper-tiny"])
async def test_a_real_model_hears_the_clip(name: str, new_worker: MakeWorker) -> None:
    await check_hearing(listener(models.ensure(name), new_worker()))


@pytest.mark.parametrize("at", [0.05, 0.2, 0.5])
async def test_a_listener_whose_weights_are_no_numbers_fails_and_gives_nobody_a_text(
    tmp_path: Path, new_worker: MakeWorker, at: float
) -> None:
    folder = broken_whisper(tmp_path, at)
    model = listener(folder, new_worker())
    with pytest.raises((SelfTestError, BrokenModelError)):
        await check_hearing(model)
    with pytest.raises(BrokenModelError, match="not numbers"):  # and never an empty text
        await model.transcribe(
            partial(np.asarray, clip()),
            Hints("en"),
            owner="a caller",
            priority=Priority.FINAL,
            kind="final",
            voiced_ms=2_000,
        )


async def test_a_listener_that_hears_other_words_fails(
    tmp_path: Path, new_worker: MakeWorker
) -> None:
    # Here its scores are still numbers; what it writes is a single sign.
    folder = broken_whisper(tmp_path, 0.9)
    with pytest.raises(SelfTestError, match="heard 0 of the 7 words"):
        await check_hearing(listener(folder, new_worker()))


@pytest.mark.parametrize("voice", ["piper", "hibari"])
async def test_a_real_voice_speaks(voice: str, new_worker: MakeWorker) -> None:
    made: Voice = (
        PiperVoice(models.ensure("piper-joe"), threads=1)
        if voice == "piper"
        else HibariVoice(threads=1)
    )
    await check_speaking(SpeechModel(voice, made, new_worker()))


@pytest.mark.parametrize("at", [0.5, 0.9])
async def test_a_voice_whose_weights_are_no_numbers_fails(
    tmp_path: Path, new_worker: MakeWorker, at: float
) -> None:
    real = models.ensure("piper-joe")
    weights = next(real.glob("*.onnx"))
    folder = corrupted_copy(real, tmp_path / "voice", weights.name, stretches(weights, [at]))
    model = SpeechModel("joe", PiperVoice(folder, threads=1), new_worker())
    with pytest.raises(BrokenModelError, match="not numbers"):
        await check_speaking(model)


class OneSound:
    """A voice that says the same to everything."""

    sample_rate_hz = 24_000

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def pieces(self, text: str) -> list[str]:
        return [text]

    def speak(self, piece: str, speed: float) -> Samples:
        return self._samples


def tone(seconds: float) -> Samples:
    return (0.3 * np.sin(np.arange(int(24_000 * seconds)) / 20)).astype(np.float32)


def noise(seconds: float) -> Samples:
    random = np.random.default_rng(0)
    return (0.1 * random.standard_normal(int(24_000 * seconds))).astype(np.float32)


@pytest.mark.parametrize(
    ("samples", "complaint"),
    [
        (np.zeros(48_000, np.float32), "silence"),
        (np.full(48_000, np.nan, np.float32), "not numbers"),
        (tone(2), "0% is a voice"),
        (noise(2), "0% is a voice"),
        (tone(0.1), "took 0.1 s"),
        (noise(60), "took 60.0 s"),
    ],
    ids=["silence", "no numbers", "a tone", "noise", "a click", "no end"],
)
async def test_a_voice_that_says_nothing_fails(
    samples: Samples, complaint: str, new_worker: MakeWorker
) -> None:
    with pytest.raises((SelfTestError, BrokenModelError), match=complaint):
        await check_speaking(SpeechModel("broken", OneSound(samples), new_worker()))
