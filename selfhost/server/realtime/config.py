"""The settings of a realtime session, and how a `session.update` changes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from selfhost.server.errors import ApiError
from selfhost.server.transcription.whisper import Hints

# OpenAI ends no utterance by itself for these: the client commits.
CLIENT_COMMITS = ("gpt-live-transcribe", "gpt-realtime-whisper")
DEFAULT_RATE_HZ = 24_000


@dataclass(frozen=True)
class ServerVad:
    """When the server ends an utterance by itself."""

    threshold: float = 0.5
    prefix_padding_ms: int = 300
    silence_duration_ms: int = 500


@dataclass(frozen=True)
class SessionConfig:
    model: str
    hints: Hints = field(default_factory=lambda: Hints(language=None))
    rate_hz: int = DEFAULT_RATE_HZ
    vad: ServerVad | None = None

    @classmethod
    def for_model(cls, model: str) -> SessionConfig:
        return cls(model, vad=None if model.startswith(CLIENT_COMMITS) else ServerVad())


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Format(_Lenient):
    type: str = "audio/pcm"
    rate: int = Field(default=DEFAULT_RATE_HZ, ge=8_000, le=48_000)


class _Transcription(_Lenient):
    model: str | None = None
    language: str | None = None
    languages: list[str] | None = None
    prompt: str | None = Field(default=None, max_length=4_000)
    keywords: list[str] | None = Field(default=None, max_length=200)


class _TurnDetection(_Lenient):
    type: Literal["server_vad"]
    threshold: float = Field(default=0.5, gt=0, lt=1)
    prefix_padding_ms: int = Field(default=300, ge=0, le=5_000)
    silence_duration_ms: int = Field(default=500, ge=100, le=10_000)


class _Input(_Lenient):
    format: _Format | None = None
    transcription: _Transcription | None = None
    turn_detection: _TurnDetection | None = None


class _Audio(_Lenient):
    input: _Input = _Input()


class _Session(_Lenient):
    type: Literal["transcription"] = "transcription"
    audio: _Audio = _Audio()


def updated(
    config: SessionConfig, session: dict[str, Any], check_model: Callable[[str], object]
) -> SessionConfig:
    """`config` with what `session` sets; what it leaves out stays.

    Args:
        session: the `session` object of a `session.update`.
        check_model: raises an ApiError for a model that this server does not have.

    Raises:
        ApiError: a value that this server cannot follow.
    """
    try:
        wanted = _Session.model_validate(session).audio.input
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(["session", *(str(part) for part in first["loc"])])
        raise ApiError(
            400, f"{where}: {first['msg']}.", code="invalid_value", param=where
        ) from None
    if wanted.format is not None:
        if wanted.format.type != "audio/pcm":
            raise ApiError(
                400,
                f"session.audio.input.format.type: expected audio/pcm, got {wanted.format.type!r}.",
                code="invalid_value",
                param="session.audio.input.format.type",
            )
        config = replace(config, rate_hz=wanted.format.rate)
    if (transcription := wanted.transcription) is not None:
        if transcription.model is not None and transcription.model != config.model:
            check_model(transcription.model)
            fresh = SessionConfig.for_model(transcription.model)
            config = replace(config, model=fresh.model, vad=fresh.vad)
        config = replace(config, hints=_hints(config.hints, transcription))
    if "turn_detection" in wanted.model_fields_set:
        config = replace(config, vad=_vad(wanted.turn_detection))
    return config


def _hints(hints: Hints, wanted: _Transcription) -> Hints:
    given = wanted.model_fields_set
    if "languages" in given and wanted.languages is not None:
        hints = replace(hints, language=wanted.languages[0] if len(wanted.languages) == 1 else None)
    elif "language" in given:
        hints = replace(hints, language=wanted.language or None)
    if "prompt" in given:
        hints = replace(hints, prompt=wanted.prompt or "")
    if "keywords" in given:
        words = (word.strip() for word in wanted.keywords or [])
        hints = replace(hints, keywords=tuple(word for word in words if word))
    return hints


def _vad(wanted: _TurnDetection | None) -> ServerVad | None:
    if wanted is None:
        return None
    return ServerVad(wanted.threshold, wanted.prefix_padding_ms, wanted.silence_duration_ms)
