"""POST /v1/audio/transcriptions."""

from __future__ import annotations

import asyncio
import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from selfhost.server.auth import require_key
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError
from selfhost.server.residency.entry import Job
from selfhost.server.state import ServerState
from selfhost.server.transcription import captions
from selfhost.server.transcription.audio import read_file
from selfhost.server.transcription.files import Transcript, transcribe_file
from selfhost.server.transcription.whisper import Hints

router = APIRouter(dependencies=[Depends(require_key)])

FORMATS = ("json", "verbose_json", "text", "srt", "vtt")
GRANULARITIES = ("word", "segment")


@router.post("/v1/audio/transcriptions")
async def transcriptions(
    request: Request,
    file: Annotated[UploadFile, File()],
    model: Annotated[str, Form()],
    response_format: Annotated[str, Form()] = "json",
    language: Annotated[str | None, Form()] = None,
    languages: Annotated[list[str] | None, Form(alias="languages[]")] = None,
    prompt: Annotated[str, Form(max_length=4_000)] = "",
    keywords: Annotated[list[str] | None, Form()] = None,
    keywords_list: Annotated[list[str] | None, Form(alias="keywords[]")] = None,
    granularities: Annotated[list[str] | None, Form(alias="timestamp_granularities[]")] = None,
) -> Response:
    """The words in an uploaded file."""
    state: ServerState = request.app.state.server
    state.require_ready()
    _check_choice("response_format", response_format, FORMATS)
    for granularity in granularities or []:
        _check_choice("timestamp_granularities", granularity, GRANULARITIES)
    state.pool.resolve(model, Job.TRANSCRIPTION)
    language = language or (languages[0] if languages and len(languages) == 1 else None)
    given = [*(keywords or []), *(keywords_list or [])]
    hints = Hints(language, tuple(word.strip() for word in given if word.strip()), prompt)
    data = await _body(file, state.settings.max_upload_bytes)
    audio = await asyncio.to_thread(read_file, data, max_audio_s=state.settings.max_audio_s)

    async def transcribed() -> Transcript:
        async with state.pool.use(model, Job.TRANSCRIPTION) as loaded:
            loaded.check_language(language)
            transcript: Transcript = await transcribe_file(
                loaded,
                audio,
                hints,
                owner=uuid.uuid4().hex,
                word_times=response_format in ("verbose_json", "srt", "vtt"),
            )
            return transcript

    transcript = await until_gone(request, transcribed())
    state.metrics.audio_seconds.labels("in").inc(transcript.audio_s)
    return _response(transcript, response_format, granularities or ["segment"])


async def _body(file: UploadFile, max_bytes: int) -> bytes:
    if file.size is not None and file.size > max_bytes:
        raise ApiError(
            413,
            f"file: {file.size} bytes; expected at most {max_bytes}. Compress or split it.",
            code="file_too_large",
            param="file",
        )
    return await file.read()


def _check_choice(param: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ApiError(
            400,
            f"{param}: no {given[:40]!r}; expected one of: {', '.join(known)}.",
            code="invalid_value",
            param=param,
        )


def _response(transcript: Transcript, response_format: str, granularities: list[str]) -> Response:
    match response_format:
        case "text":
            return PlainTextResponse(transcript.text + "\n")
        case "srt":
            return PlainTextResponse(
                captions.srt(captions.segments(transcript.words)), media_type="application/x-subrip"
            )
        case "vtt":
            return PlainTextResponse(
                captions.vtt(captions.segments(transcript.words)), media_type="text/vtt"
            )
        case "verbose_json":
            return JSONResponse(_verbose(transcript, granularities))
    usage = {"type": "duration", "seconds": round(transcript.audio_s, 2)}
    return JSONResponse({"text": transcript.text, "usage": usage})


def _verbose(transcript: Transcript, granularities: list[str]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "task": "transcribe",
        "language": transcript.language,
        "duration": round(transcript.audio_s, 3),
        "text": transcript.text,
    }
    if "word" in granularities:
        body["words"] = [
            {
                "word": word.text,
                "start": round(word.start_s, 3),
                "end": round(word.end_s, 3),
                "probability": round(word.probability, 3),
            }
            for word in transcript.words
        ]
    if "segment" in granularities:
        body["segments"] = [
            {
                "id": number,
                "start": round(part.start_s, 3),
                "end": round(part.end_s, 3),
                "text": part.text,
            }
            for number, part in enumerate(captions.segments(transcript.words))
        ]
    return body
