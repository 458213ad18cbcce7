"""The protocol's events: reading the client's, building the server's."""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfhost.server.errors import ApiError

Event = dict[str, Any]

MAX_APPEND_CHARS = 4 * 1024 * 1024  # about a minute of sound in one event
COMMITTED = "input_audio_buffer.committed"
DELTA = "conversation.item.input_audio_transcription.delta"
COMPLETED = "conversation.item.input_audio_transcription.completed"
FAILED = "conversation.item.input_audio_transcription.failed"


def new_item_id() -> str:
    return f"item_{uuid.uuid4().hex[:20]}"


def parse(message: str) -> Event:
    """A client's event.

    Raises:
        ApiError: it is not a JSON object with a `type`.
    """
    try:
        event = json.loads(message)
    except ValueError:
        raise ApiError(400, "The event is not valid JSON.", code="invalid_json") from None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise ApiError(400, "An event is a JSON object with a type.", code="invalid_event")
    return event


def sound(event: Event) -> NDArray[np.int16]:
    """The samples in an `input_audio_buffer.append`.

    Raises:
        ApiError: its audio is not base64 of 16-bit PCM, or too much for one event.
    """
    encoded = event.get("audio")
    if not isinstance(encoded, str):
        raise ApiError(
            400, "audio: expected base64 of 16-bit PCM.", code="invalid_audio", param="audio"
        )
    if len(encoded) > MAX_APPEND_CHARS:
        raise ApiError(
            400,
            f"audio: {len(encoded)} characters in one event; expected at most {MAX_APPEND_CHARS}. "
            "Send it in smaller pieces.",
            code="audio_too_long",
            param="audio",
        )
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(
            400, "audio: not valid base64.", code="invalid_audio", param="audio"
        ) from None
    if len(data) % 2:
        raise ApiError(
            400,
            "audio: an odd number of bytes is not 16-bit PCM.",
            code="invalid_audio",
            param="audio",
        )
    return np.frombuffer(data, "<i2").astype(np.int16)


def empty_commit() -> ApiError:
    return ApiError(
        400,
        "There is no sound to commit: append some first.",
        code="input_audio_buffer_commit_empty",
    )


def error(problem: ApiError, client_event_id: object = None) -> Event:
    details = problem.body() | {
        "event_id": client_event_id if isinstance(client_event_id, str) else None
    }
    return _event("error", error=details)


def session(kind: str, session_id: str, settings: Event) -> Event:
    return _event(
        kind, session={"id": session_id, "object": "realtime.transcription_session"} | settings
    )


def speech_started(item_id: str, start_ms: int) -> Event:
    return _event("input_audio_buffer.speech_started", item_id=item_id, audio_start_ms=start_ms)


def speech_stopped(item_id: str, end_ms: int) -> Event:
    return _event("input_audio_buffer.speech_stopped", item_id=item_id, audio_end_ms=end_ms)


def committed(item_id: str, previous_id: str | None) -> Event:
    return _event(COMMITTED, item_id=item_id, previous_item_id=previous_id)


def cleared() -> Event:
    return _event("input_audio_buffer.cleared")


def delta(item_id: str, text: str) -> Event:
    return _event(DELTA, item_id=item_id, content_index=0, delta=text)


def completed(item_id: str, transcript: str, seconds: float) -> Event:
    return _event(
        COMPLETED,
        item_id=item_id,
        content_index=0,
        transcript=transcript,
        usage={"type": "duration", "seconds": round(seconds, 3)},
    )


def failed(item_id: str, message: str) -> Event:
    details = {
        "type": "server_error",
        "code": "transcription_failed",
        "message": message,
        "param": None,
    }
    return _event(FAILED, item_id=item_id, content_index=0, error=details)


def _event(kind: str, **fields: Any) -> Event:
    return {"type": kind, "event_id": f"event_{uuid.uuid4().hex[:20]}", **fields}
