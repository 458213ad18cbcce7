"""The caller's voice: each turn as sound, made before the call begins."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import av
import httpx
import numpy as np
from numpy.typing import NDArray

from selfhost.errors import SetupError
from selfhost.load import noises
from selfhost.load.ears import FRAME_MS, HEARING, levels_dbfs
from selfhost.load.noises import Noise
from selfhost.load.script import Noises, Part, Pause, Sound, Words

SAMPLE_RATE = 24_000
SPEECH_DBFS = -20.0  # the level of a close microphone with gain control
PEAK = 0.9
EDGE_FRAMES = 2  # kept around trimmed speech, so that no soft consonant is cut off
BUILT_IN_VOICE = "hibari"

Speech = NDArray[np.float32]


class VoiceError(SetupError):
    """The caller has no voice or no sound; the text says what to do."""


class Voice(Protocol):
    """Something that speaks."""

    def speak(self, text: str, speed: float) -> Speech:
        """`text` as mono samples at 24 kHz in [-1, 1]."""


class ServedVoice:
    """A voice of an OpenAI-style speech endpoint."""

    def __init__(self, base_url: str, api_key: str, name: str) -> None:
        self._url = f"{base_url.rstrip('/')}/audio/speech"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._name = name

    def speak(self, text: str, speed: float) -> Speech:
        try:
            response = httpx.post(
                self._url,
                headers=self._headers,
                json={
                    "model": "tts-1",
                    "voice": self._name,
                    "input": text,
                    "speed": speed,
                    "response_format": "wav",
                },
                timeout=60,
            )
        except httpx.HTTPError as error:
            raise VoiceError(f"{self._url} cannot be reached ({type(error).__name__})") from error
        if response.is_error:
            raise VoiceError(f"{self._url} answered {response.status_code} for this voice")
        return decode(io.BytesIO(response.content), self._url)


class BuiltInVoice:
    """The test callers' voice in this process: the same text is the same sound each time."""

    def __init__(self) -> None:
        try:
            from hibari import Hibari
        except ImportError:
            raise VoiceError(
                "the voice 'hibari' is not installed; `make setup` brings it"
            ) from None
        self._hibari = Hibari()

    def speak(self, text: str, speed: float) -> Speech:
        speech: Speech = self._hibari(text, speed=speed, seed=0)
        return speech


def open_voice(name: str, base_url: str, api_key: str) -> Voice:
    """The voice `name` of the endpoint, or, where that has none, the one in this process.

    Raises:
        VoiceError: neither has it.
    """
    served = ServedVoice(base_url, api_key, name)
    try:
        served.speak("Hello.", 1.0)
        return served
    except VoiceError as error:
        if name == BUILT_IN_VOICE:
            return BuiltInVoice()
        raise VoiceError(
            f"no voice {name!r}: {error}. Start the model server (python -m selfhost up), set "
            f"TTS_BASE_URL, or use the voice {BUILT_IN_VOICE!r}."
        ) from error


def decode(source: str | io.BytesIO, shown: str) -> Speech:
    """Any audio file as mono samples at 24 kHz, the mean of its channels.

    Raises:
        VoiceError: it holds no audio that can be read.
    """
    resampler = av.AudioResampler(format="fltp", rate=SAMPLE_RATE)
    chunks: list[Speech] = []
    try:
        with av.open(source, mode="r") as container:
            for frame in container.decode(audio=0):
                chunks += [out.to_ndarray().mean(axis=0) for out in resampler.resample(frame)]
        chunks += [out.to_ndarray().mean(axis=0) for out in resampler.resample(None)]
    except (av.FFmpegError, IndexError, OSError) as error:
        raise VoiceError(f"{shown}: expected an audio file ({error})") from None
    if not chunks:
        raise VoiceError(f"{shown}: the audio is empty")
    return np.concatenate(chunks).astype(np.float32)


def to_pcm(speech: Speech) -> NDArray[np.int16]:
    """Samples in [-1, 1] as 16-bit integers."""
    return (np.clip(speech, -1.0, 1.0) * 32767).astype(np.int16)


def trimmed_and_levelled(speech: Speech) -> Speech:
    """Speech without silence at its ends and at a common level, so that pauses are as written."""
    levels = levels_dbfs(to_pcm(speech), SAMPLE_RATE)
    audible = np.flatnonzero(levels >= HEARING.threshold_dbfs)
    if not len(audible):
        return speech
    frame = SAMPLE_RATE * FRAME_MS // 1000
    begin = max(0, int(audible[0]) - EDGE_FRAMES) * frame
    end = (int(audible[-1]) + 1 + EDGE_FRAMES) * frame
    level_dbfs = 10 * np.log10(np.mean(10 ** (levels[audible] / 10)))
    gain = 10 ** ((SPEECH_DBFS - level_dbfs) / 20)
    kept = speech[begin:end]
    peak = float(np.max(np.abs(kept)))
    return (kept * min(gain, PEAK / peak)).astype(np.float32)


def needs_voice(parts: Iterable[Part]) -> bool:
    """Whether somebody must speak: the words, or the crowd in a babble."""
    return any(
        isinstance(part, Words) or (isinstance(part, Noises) and part.noise is Noise.BABBLE)
        for part in parts
    )


def render(
    parts: Iterable[Part], voice: Voice | None, speed: float, folder: Path
) -> NDArray[np.int16]:
    """A turn's parts as one stretch of mono 16-bit samples at 24 kHz.

    Audio files are played as they are; `folder` is where their paths start. `needs_voice` tells
    whether `voice` may be None.
    """

    def say(text: str) -> Speech:
        assert voice is not None
        return trimmed_and_levelled(voice.speak(text, speed))

    sounds: list[Speech] = []
    for part in parts:
        match part:
            case Words(text=text):
                sounds.append(say(text))
            case Pause(pause_ms=pause_ms):
                sounds.append(np.zeros(SAMPLE_RATE * pause_ms // 1000, dtype=np.float32))
            case Noises(noise=noise, lasts_ms=lasts_ms):
                sounds.append(noises.make(noise, lasts_ms or 0, say))
            case Sound(audio=audio):
                sounds.append(decode(str(folder / audio), str(audio)))
    return to_pcm(np.concatenate(sounds))
