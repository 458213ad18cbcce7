"""The models that this server serves: by which ids, and how each is loaded.

A model is loaded at its first use and stays. Who needs a model asks here for it each time, so that
a memory budget and eviction can come in at this one place.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from selfhost.server.errors import unknown_name
from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import Worker
from selfhost.server.settings import ServerSettings
from selfhost.server.speech.model import SpeechModel
from selfhost.server.speech.voices import HibariVoice, PiperVoice
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import Whisper

T = TypeVar("T")

TRANSCRIPTION_MODELS = ("whisper-base", "whisper-tiny")
# Names that clients use by default, or must use to get a protocol's features.
TRANSCRIPTION_ALIASES = ("gpt-live-transcribe", "gpt-realtime-whisper", "whisper-1")
SPEECH_ALIASES = ("tts-1",)
PIPER_VOICE = "joe"
HIBARI_VOICE = "hibari"


class _Loaded(Generic[T]):
    """A model that is loaded when it is first asked for, and only once."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._lock = asyncio.Lock()
        self._model: T | None = None

    @property
    def model(self) -> T | None:
        return self._model

    async def get(self) -> T:
        async with self._lock:
            if self._model is None:
                self._model = await asyncio.to_thread(self._load)
            return self._model


class Catalogue:
    """The models of one server.

    Args:
        folder: finds a model's files by its name, such as `selfhost.models.path`.
    """

    def __init__(
        self, settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._folder = folder
        self._transcription = {
            name: _Loaded(partial(self._load_whisper, name)) for name in TRANSCRIPTION_MODELS
        }
        self._voices: dict[str, _Loaded[SpeechModel]] = {PIPER_VOICE: _Loaded(self._load_piper)}
        self._speech_models = {"piper": PIPER_VOICE}
        if importlib.util.find_spec("hibari") is not None:
            self._voices[HIBARI_VOICE] = _Loaded(self._load_hibari)
            self._speech_models["hibari"] = HIBARI_VOICE

    def ids(self) -> list[str]:
        """The ids of all models, aliases left out."""
        return [*self._transcription, *self._speech_models]

    def check_transcription(self, name: str) -> str:
        """The id of the model that `name` means.

        Raises:
            ApiError: there is none.
        """
        if name in TRANSCRIPTION_ALIASES:
            return self._settings.transcription_model
        if name not in self._transcription:
            raise unknown_name("model", name, [*self._transcription, *TRANSCRIPTION_ALIASES])
        return name

    async def transcription(self, name: str) -> TranscriptionModel:
        """The model that `name` means, loaded.

        Raises:
            ApiError: there is none.
            SetupError: its files are missing.
        """
        return await self._transcription[self.check_transcription(name)].get()

    async def speech(self, model: str, voice: str | None) -> SpeechModel:
        """The voice `voice`, or the model's own.

        Raises:
            ApiError: no such model or voice.
            SetupError: its files are missing.
        """
        if model in SPEECH_ALIASES:
            model = self._settings.speech_model
        if model not in self._speech_models:
            raise unknown_name("model", model, [*self._speech_models, *SPEECH_ALIASES])
        voice = voice or self._speech_models[model]
        if voice not in self._voices:
            raise unknown_name("voice", voice, [*self._voices])
        return await self._voices[voice].get()

    def close(self) -> None:
        """End the models' threads."""
        everything: list[_Loaded[TranscriptionModel] | _Loaded[SpeechModel]] = [
            *self._transcription.values(),
            *self._voices.values(),
        ]
        for loaded in everything:
            if loaded.model is not None:
                loaded.model.worker.close()

    def _worker(self, name: str) -> Worker:
        return Worker(name, max_queued=self._settings.max_queued, metrics=self._metrics)

    def _load_whisper(self, name: str) -> TranscriptionModel:
        whisper = Whisper(
            self._folder(name),
            threads=self._settings.transcription_threads,
            device=self._settings.device,
            compute_type=self._settings.compute_type,
        )
        return TranscriptionModel(name, whisper, self._worker(name), self._metrics)

    def _load_piper(self) -> SpeechModel:
        voice = PiperVoice(self._folder("piper-joe"), threads=self._settings.speech_threads)
        return SpeechModel(PIPER_VOICE, voice, self._worker("piper"))

    def _load_hibari(self) -> SpeechModel:
        voice = HibariVoice(threads=self._settings.speech_threads)
        return SpeechModel(HIBARI_VOICE, voice, self._worker("hibari"))
