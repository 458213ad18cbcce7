"""Kokoro with its real small weights; what it says is heard by the real Whisper."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from selfhost import models
from selfhost.errors import SetupError
from selfhost.server.errors import ApiError
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry
from selfhost.server.settings import ServerSettings
from selfhost.server.speech.encoding import SAMPLE_RATE_HZ, Pcm
from selfhost.server.speech.entries import entries
from selfhost.server.speech.kokoro import MAX_PHONEMES, Kokoro, trimmed
from selfhost.server.speech.kokoro_phonemes import cut, known_signs
from selfhost.server.speech.model import SpeechModel
from selfhost.server.transcription.audio import Resampler, as_audio
from selfhost.server.transcription.guards import plain
from selfhost.server.transcription.whisper import Hints, Whisper
from tests.selfhost.server.test_transcriptions import error_of

SENTENCE = "The price is one hundred pounds. Would you join us?"
WORDS = ("the", "price", "is", "would", "you", "join", "us")


def entry(name: str) -> Entry[SpeechModel]:
    offered = entries(ServerSettings(), Metrics(), models.path)
    return next(entry for entry in offered if entry.id == name)


@pytest.fixture(scope="module")
def kokoro() -> Iterator[SpeechModel]:
    models.ensure("kokoro-82m")
    model = entry("kokoro").load()
    yield model
    model.close()


def speak(model: SpeechModel, text: str, voice: str | None = None, speed: float = 1.0) -> Pcm:
    async def chunks() -> list[Pcm]:
        stream = model.stream(text, speed=speed, owner="test", voice=voice)
        return [chunk async for chunk in stream]

    return np.concatenate(asyncio.run(chunks()))


def share_heard(pcm: Pcm) -> float:
    """How many of the sentence's words the recogniser hears in the sound."""
    whisper = Whisper(models.ensure("whisper-base"), threads=2, device="cpu", compute_type="int8")
    audio = as_audio(Resampler(SAMPLE_RATE_HZ).push(pcm))
    heard = plain(whisper.decode(audio, Hints("en")).text).split()
    return sum(word in heard for word in WORDS) / len(WORDS)


def test_it_passes_its_own_test_and_is_understood(kokoro: SpeechModel) -> None:
    asyncio.run(entry("kokoro").self_test(kokoro))
    pcm = speak(kokoro, SENTENCE)
    assert 2.5 < len(pcm) / SAMPLE_RATE_HZ < 7
    assert share_heard(pcm) >= 0.85


def test_another_of_its_voices_is_another_speaker_and_is_understood(kokoro: SpeechModel) -> None:
    pcm = speak(kokoro, SENTENCE, voice="jm_kumo")
    assert share_heard(pcm) >= 0.85
    assert abs(len(pcm) - len(speak(kokoro, SENTENCE))) > 0.02 * SAMPLE_RATE_HZ


def test_a_voice_that_it_has_not_is_refused_with_those_that_it_has(kokoro: SpeechModel) -> None:
    with pytest.raises(ApiError, match=r"jf_alpha.*jm_kumo") as refused:
        speak(kokoro, SENTENCE, voice="joe")
    assert refused.value.status == 400


def test_speed_is_kept_to(kokoro: SpeechModel) -> None:
    text = "The hotel has three rooms."
    assert len(speak(kokoro, text, speed=1.5)) < 0.8 * len(speak(kokoro, text))


def test_signs_alone_are_a_short_silence(kokoro: SpeechModel) -> None:
    assert not speak(kokoro, "...").any()


def test_the_hubs_form_of_the_files_speaks_the_same(tmp_path: Path) -> None:
    # The hub keeps a file a voice, and the phonemes in a tokenizer's form.
    packaged = models.ensure("kokoro-82m")
    (tmp_path / "onnx").mkdir()
    (tmp_path / "voices").mkdir()
    (tmp_path / "onnx" / "model.onnx").symlink_to(models.weights("kokoro-82m"))
    vocabulary = json.loads((packaged / "vocab.json").read_text("utf-8"))["vocab"]
    tokenizer = {"version": "1.0", "model": {"vocab": {"$": 0, **vocabulary}}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    with np.load(packaged / "voices.npz") as styles:
        styles["jf_alpha"].astype("<f4").tofile(tmp_path / "voices" / "jf_alpha.bin")
    from_hub = Kokoro(tmp_path, device="cpu", threads=1).voices()
    assert list(from_hub) == ["jf_alpha"]
    assert from_hub["jf_alpha"].pieces("Good evening.") == ["ɡˈʊd ˈiːvnɪŋ."]
    theirs = from_hub["jf_alpha"].speak("jˈɛs.", 1.0)
    ours = Kokoro(packaged, device="cpu", threads=1).voices()["jf_alpha"].speak("jˈɛs.", 1.0)
    # Its noise is drawn afresh each time: the same length and loudness, not the same samples.
    assert abs(len(theirs) - len(ours)) < 0.1 * len(ours)
    assert np.std(theirs) == pytest.approx(np.std(ours), rel=0.2)


def test_a_folder_without_a_kokoro_model_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="phonemes"):
        Kokoro(tmp_path, device="cpu", threads=1)


def test_signs_that_it_does_not_know_are_replaced_or_left_out() -> None:
    vocabulary = {sign: number for number, sign in enumerate("lɒkɹʊm ˈ")}
    assert known_signs("lˈɒx rʊm\u0329", vocabulary) == "lˈɒk ɹʊm"


def test_a_sentence_without_commas_is_cut_between_words_and_loses_none() -> None:
    sentence = "wʌn tuː θɹiː fɔːɹ " * 40
    parts = cut(sentence.strip(), MAX_PHONEMES)
    assert max(map(len, parts)) <= MAX_PHONEMES
    assert " ".join(parts) == sentence.strip()
    assert [len(part) for part in cut("a" * 450, MAX_PHONEMES)] == [200, 200, 50]


def test_the_silence_at_both_ends_goes_and_broken_sound_is_not_taken_for_silence() -> None:
    voice = np.full(1000, 0.5, np.float32)
    quiet = np.zeros(24_000, np.float32)
    assert len(trimmed(np.concatenate([quiet, voice, quiet]))) == 1200 + 1000 + 4800 - 1
    assert len(trimmed(quiet)) == len(quiet)
    assert np.isnan(trimmed(np.full(10, np.nan, np.float32))).all()


def test_the_server_speaks_with_it_in_the_voice_that_is_asked_for(client: httpx.Client) -> None:
    models.ensure("kokoro-82m")
    body = {"model": "kokoro", "voice": "jm_kumo", "input": "Yes.", "response_format": "pcm"}
    answer = client.post("/v1/audio/speech", json=body)
    assert answer.status_code == 200, answer.text
    assert np.abs(np.frombuffer(answer.content, "<i2")).max() > 2000
    refused = client.post("/v1/audio/speech", json=body | {"voice": "joe"})
    assert "jm_kumo" in error_of(refused, 400)["message"]
    # What it has is no voice of the other models.
    assert error_of(client.post("/v1/audio/speech", json=body | {"model": "piper"}), 400)
