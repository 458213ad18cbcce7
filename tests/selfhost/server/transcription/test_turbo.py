"""Whisper large-v3-turbo's architecture, small and with random weights: its own are 1.6 GB."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from selfhost import models
from selfhost.errors import SetupError
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.settings import ServerSettings
from selfhost.server.transcription.entries import TURBO, entries
from selfhost.server.transcription.whisper import (
    SAMPLE_RATE_HZ,
    Hints,
    Whisper,
    default_compute_type,
)
from tests.selfhost.server.transcription import turbo_weights

ROOM_SOUND = (np.random.default_rng(1).standard_normal(3 * SAMPLE_RATE_HZ) * 0.1).astype(np.float32)


@pytest.fixture(scope="module")
def turbo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turbo")
    turbo_weights.write(folder, models.ensure("whisper-base"))
    return folder


def loaded(folder: Path) -> Whisper:
    return Whisper(folder, threads=1, device="cpu", compute_type=None)


def test_its_128_mel_bins_are_read_from_the_model(turbo: Path) -> None:
    decoded = loaded(turbo).decode(ROOM_SOUND, Hints("en"), word_times=True)
    assert decoded.text  # of random weights: any words, but words
    assert decoded.audio_s == 3.0
    assert decoded.words is not None
    assert np.isfinite(decoded.avg_logprob)
    # A model with 80 bins beside it is still read with its own.
    base = Whisper(models.path("whisper-base"), threads=1, device="cpu", compute_type="int8")
    base.decode(ROOM_SOUND, Hints("en"))


def test_it_detects_a_language_and_knows_the_one_that_is_new(turbo: Path) -> None:
    whisper = loaded(turbo)
    assert "yue" in whisper.languages
    decoded = whisper.decode(ROOM_SOUND, Hints(None, keywords=("Priya",), prompt="Good evening."))
    assert decoded.language in ("en", "yue")
    whisper.decode(ROOM_SOUND, Hints("yue"))


def test_the_server_offers_it_from_a_folder_and_its_test_refuses_random_weights(
    turbo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_SERVER_MODEL_FOLDERS", f"{TURBO}={turbo}")
    offered = entries(ServerSettings(), Metrics(), models.path)
    entry = next(entry for entry in offered if entry.id == TURBO)
    model = entry.load()
    try:
        with pytest.raises(SelfTestError):
            asyncio.run(entry.self_test(model))
    finally:
        model.close()


def test_it_is_expected_to_take_its_weights_in_the_type_in_which_it_computes() -> None:
    def expected(**settings: str) -> int:
        offered = entries(ServerSettings.model_validate(settings), Metrics(), models.path)
        return next(entry.memory_bytes for entry in offered if entry.id == TURBO)

    assert expected(device="cuda") == 809_000_000 * 2 + 500_000_000
    assert expected(device="cuda", compute_type="int8_float16") == 809_000_000 + 500_000_000
    assert expected(device="cpu") == 809_000_000 + 500_000_000


def test_a_gpu_computes_in_float16_unless_it_is_told_otherwise() -> None:
    assert default_compute_type("cuda") == "float16"
    assert default_compute_type("cpu") == "int8"


def test_a_device_or_type_that_cannot_be_had_is_said(turbo: Path) -> None:
    with pytest.raises(SetupError, match="MODEL_SERVER_COMPUTE_TYPE"):
        Whisper(turbo, threads=1, device="cpu", compute_type="float7")


def test_the_vocabulary_is_version_threes(turbo: Path) -> None:
    vocabulary = json.loads((turbo / "vocabulary.json").read_text("utf-8"))
    assert len(vocabulary) == 51_866
    assert vocabulary[50_358] == "<|yue|>"
    assert vocabulary[50_364:50_366] == ["<|notimestamps|>", "<|0.00|>"]
