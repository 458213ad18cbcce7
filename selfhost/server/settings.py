"""Every setting of the model server, read from the environment and .env."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class ServerSettings(BaseSettings):
    """Settings of one model server process. Names in the environment start with MODEL_SERVER_."""

    model_config = SettingsConfigDict(
        env_prefix="MODEL_SERVER_", env_file=".env", extra="ignore", env_ignore_empty=True
    )

    api_key: str | None = None
    """What a client must send as its bearer token. Unset: no key is asked for."""

    transcription_model: str = "whisper-base"
    speech_model: str = "piper"
    """The models that aliases mean, and that are loaded before the server is ready."""

    memory_bytes: int | None = Field(default=None, gt=0)
    """What all models together may hold. Unset: half of what is free when the server starts; of the
    GPU's memory where the models are on one."""

    preload: Annotated[tuple[str, ...], NoDecode] = ()
    """Models to load and test before the server is ready, with commas between them. Unset: the
    transcription model and the speech model."""

    pinned: Annotated[tuple[str, ...], NoDecode] = ()
    """Models that stay once they are loaded, whoever needs room."""

    model_wait_s: float = Field(default=60.0, gt=0)
    """How long a request waits for a model that must be loaded first."""

    idle_unload_s: float | None = Field(default=None, gt=0)
    """Models that nobody used for so long are closed. Unset: only when another needs room."""

    self_test_every_s: float = Field(default=60.0, gt=0)
    """Each loaded model is tested at least this often; one that fails ends the server."""

    hung_after_s: float = Field(default=60.0, gt=0)
    """A model with work in hand that has not moved for so long is hung, and /health says so. Longer
    than its longest single step takes on a crowded machine."""

    device: Literal["cpu", "cuda", "auto"] = "cpu"
    compute_type: str | None = None
    """How Whisper computes: a type of CTranslate2's. Unset: int8 on a CPU, float16 on a GPU."""

    transcription_threads: int = Field(default=1, ge=1, le=64)
    """Threads of one decode. With a short encoder window a second thread gains little, and beside
    a busy language model it loses: both threads must be scheduled for a layer to finish."""

    speech_threads: int = Field(default=2, ge=1, le=64)
    """Threads of one synthesis. A voice computes a whole clause before its first sound: on two idle
    cores two threads give it in two thirds of the time."""

    embedding_threads: int = Field(default=1, ge=1, le=64)
    reranking_threads: int = Field(default=1, ge=1, le=64)
    extraction_threads: int = Field(default=1, ge=1, le=64)
    """Threads of one run of an embedder, a reranker or an extractor. One each leaves a core to the
    voices."""

    max_upload_bytes: int = Field(default=25 * 1024 * 1024, gt=0)
    max_audio_s: float = Field(default=3600.0, gt=0)
    max_speech_chars: int = Field(default=10_000, gt=0)
    max_queued: int = Field(default=64, gt=0)
    """Requests that may wait for one model; the next one is told to come back later."""
    max_realtime_sessions: int = Field(default=32, gt=0)

    @property
    def preloaded(self) -> tuple[str, ...]:
        return self.preload or (self.transcription_model, self.speech_model)

    @field_validator("preload", "pinned", mode="before")
    @classmethod
    def _names(cls, names: object) -> object:
        if isinstance(names, str):
            return tuple(name.strip() for name in names.split(",") if name.strip())
        return names

    @field_validator("api_key")
    @classmethod
    def _blank_is_unset(cls, key: str | None) -> str | None:
        return key.strip() or None if key else None
