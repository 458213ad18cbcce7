"""POST /v1/audio/speech."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from selfhost.server.auth import require_key
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Job
from selfhost.server.residency.held import Held
from selfhost.server.speech.encoding import CONTENT_TYPES, SAMPLE_RATE_HZ, Encoder, Pcm, encoder
from selfhost.server.speech.entries import model_of
from selfhost.server.speech.model import SpeechModel
from selfhost.server.state import ServerState

router = APIRouter(dependencies=[Depends(require_key)])


class SpeechRequest(BaseModel):
    """OpenAI's request; fields that this server has no use for are passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    input: str
    voice: str | None = None
    response_format: str = "mp3"
    speed: float = Field(default=1.0, ge=0.25, le=4.0)


@router.post("/v1/audio/speech")
async def speech(body: SpeechRequest, request: Request, held: Held) -> StreamingResponse:
    """Speak a text; the sound is sent while it is made."""
    state: ServerState = request.app.state.server
    state.require_ready()
    _check(body, state.settings.max_speech_chars)
    chosen = model_of(state.pool, body.model, body.voice)

    async def begin() -> tuple[Pcm, AsyncGenerator[Pcm]]:
        model: SpeechModel = await held.enter_async_context(state.pool.use(chosen, Job.SPEECH))
        started = time.perf_counter()
        chunks = model.stream(
            body.input, speed=body.speed, owner=uuid.uuid4().hex, voice=body.voice
        )
        first = await anext(chunks)
        state.metrics.first_audio_seconds.labels(model.id).observe(time.perf_counter() - started)
        return first, chunks

    # The first chunk is awaited here, so that a failure is still an HTTP error and not a broken
    # body after a 200.
    first, chunks = await until_gone(request, begin())
    return StreamingResponse(
        _encoded(first, chunks, encoder(body.response_format), state.metrics),
        media_type=CONTENT_TYPES[body.response_format],
        # Clients that find no id here warn of it at each sentence.
        headers={"x-request-id": uuid.uuid4().hex},
    )


async def _encoded(
    first: Pcm,
    rest: AsyncGenerator[Pcm],
    encoding: Encoder,
    metrics: Metrics,
) -> AsyncIterator[bytes]:
    samples = len(first)
    try:
        # A codec takes its time, which the event loop must not wait for.
        if data := await asyncio.to_thread(encoding.push, first):
            yield data
        async for chunk in rest:
            samples += len(chunk)
            if data := await asyncio.to_thread(encoding.push, chunk):
                yield data
        if data := await asyncio.to_thread(encoding.finish):
            yield data
    finally:
        await rest.aclose()
        metrics.audio_seconds.labels("out").inc(samples / SAMPLE_RATE_HZ)


def _check(body: SpeechRequest, max_chars: int) -> None:
    if not body.input.strip():
        raise ApiError(400, "input: there is no text to speak.", code="empty_input", param="input")
    if len(body.input) > max_chars:
        raise ApiError(
            400,
            f"input: {len(body.input)} characters; expected at most {max_chars}. Split the text.",
            code="string_above_max_length",
            param="input",
        )
    if body.response_format not in CONTENT_TYPES:
        raise ApiError(
            400,
            f"response_format: no {body.response_format[:20]!r}; expected one of: "
            f"{', '.join(CONTENT_TYPES)}.",
            code="invalid_value",
            param="response_format",
        )
