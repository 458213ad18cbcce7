"""`python -m agent doctor`: asks every endpoint for a small piece of real work.

A setting can look right and a server can be up while a call would still fail, so each check does
what a call does: lists rooms with the key, generates a token, synthesises a word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp
import httpx
import openai
from livekit import agents, api
from rich.console import Console

from agent.booking.hotel import HotelFileError, load_hotel
from agent.booking.store import StoreError, open_store
from agent.session import build_llm, build_tts
from agent.settings import SELFHOSTED_KEY, BadSettings, Provider, Settings
from agent.telemetry import otlp

TIMEOUT_S = 20.0
ONE_TRY = agents.APIConnectOptions(max_retry=0, timeout=TIMEOUT_S)

_UNREACHABLE = (
    openai.APIConnectionError,
    agents.APIConnectionError,
    httpx.TransportError,
    aiohttp.ClientError,
)


@dataclass(frozen=True)
class Finding:
    """What one check found; `cure` says what to do where it failed."""

    part: str
    ok: bool
    detail: str
    cure: str = ""


def main(settings: Settings) -> int:
    """Check everything and print it.

    Returns:
        0 when everything answers, else 1.
    """
    findings = asyncio.run(examine(settings))
    console = Console()
    for finding in findings:
        mark = "[green]ok[/]  " if finding.ok else "[red]bad[/] "
        console.print(
            f"{mark} {finding.part:<16} {finding.detail}", highlight=False, soft_wrap=True
        )
        if not finding.ok:
            console.print(f"     {'':<16} → {finding.cure}", highlight=False, soft_wrap=True)
    return 0 if all(finding.ok for finding in findings) else 1


async def examine(settings: Settings) -> list[Finding]:
    """Run every check side by side; each ends within `TIMEOUT_S` seconds."""
    checks: list[tuple[str, str, Callable[[Settings], Awaitable[str]]]] = [
        ("hotel", "Set HOTEL to a hotel's name or file.", _hotel),
        ("database", "Set DATABASE_URL to a database that can be written.", _database),
        (
            "room server",
            "Start it with `python -m selfhost up`, or set LIVEKIT_URL, LIVEKIT_API_KEY and "
            "LIVEKIT_API_SECRET to a LiveKit server's.",
            _room_server,
        ),
        ("speech to text", _endpoint_cure("STT"), _stt),
        ("language model", _endpoint_cure("LLM"), _llm),
        ("speech", _endpoint_cure("TTS"), _tts),
        (
            "collector",
            f"Set {otlp.ENDPOINT} to a collector that takes OTLP over HTTP, or remove it.",
            _collector,
        ),
    ]
    return await asyncio.gather(*(_run(*check, settings) for check in checks))


def _endpoint_cure(name: str) -> str:
    return (
        f"Start it with `python -m selfhost up`, or set {name}_PROVIDER, {name}_BASE_URL and "
        f"{name}_API_KEY to an endpoint that answers."
    )


async def _run(
    part: str, cure: str, check: Callable[[Settings], Awaitable[str]], settings: Settings
) -> Finding:
    try:
        detail = await asyncio.wait_for(check(settings), TIMEOUT_S)
    except TimeoutError:
        return Finding(part, False, f"no answer within {TIMEOUT_S:.0f} s", cure)
    except Exception as error:
        return Finding(part, False, _explain(error), cure)
    return Finding(part, True, detail)


def _explain(error: Exception) -> str:
    """The failure in a line; an HTTP body is left out, since it may repeat the key."""
    if isinstance(error, (openai.APIStatusError, agents.APIStatusError)):
        return f"answered with HTTP status {error.status_code}"
    if isinstance(error, httpx.HTTPStatusError):
        return f"answered with HTTP status {error.response.status_code}"
    if isinstance(error, api.TwirpError):
        return f"refused: {error.code}"
    if isinstance(error, _UNREACHABLE):
        return "cannot be reached"
    if isinstance(error, (BadSettings, HotelFileError, StoreError, LookupError)):
        return str(error)
    return f"failed with {type(error).__name__}"


async def _hotel(settings: Settings) -> str:
    return load_hotel(settings.hotel, name_override=settings.hotel_name).name


async def _database(settings: Settings) -> str:
    requests = await asyncio.to_thread(lambda: open_store(settings.database_url).list_requests())
    return f"{len(requests)} requests kept"


async def _room_server(settings: Settings) -> str:
    async with api.LiveKitAPI(
        settings.livekit_url,
        settings.livekit_api_key,
        settings.livekit_api_secret.get_secret_value(),
    ) as livekit:
        rooms = await livekit.room.list_rooms(api.ListRoomsRequest())
    return f"{settings.livekit_url}, {len(rooms.rooms)} rooms"


async def _stt(settings: Settings) -> str:
    if settings.stt_provider is Provider.LIVEKIT:
        return _inference(settings)
    key = settings.stt_api_key or settings.model_server_api_key
    client = openai.AsyncOpenAI(
        base_url=settings.stt_url,
        api_key=key.get_secret_value() if key else SELFHOSTED_KEY,
        max_retries=0,
    )
    models = [model.id async for model in client.models.list()]
    if settings.stt_model and settings.stt_model not in models:
        raise LookupError(f"it has no model {settings.stt_model}; it has {', '.join(models)}")
    return f"{settings.stt_url or 'OpenAI'}, {settings.stt_model or 'its default model'}"


async def _llm(settings: Settings) -> str:
    if settings.llm_provider is Provider.LIVEKIT:
        return _inference(settings)
    context = agents.llm.ChatContext.empty()
    context.add_message(role="user", content="Say hello.")
    model = build_llm(settings)
    async with model.chat(chat_ctx=context, conn_options=ONE_TRY) as stream:
        async for chunk in stream:
            if chunk.delta is not None and chunk.delta.content:
                return f"{settings.llm_url or 'OpenAI'}, {model.model}"
    raise LookupError("it answered without a word")


async def _tts(settings: Settings) -> str:
    if settings.tts_provider is Provider.LIVEKIT:
        return _inference(settings)
    voice = build_tts(settings)
    async with voice.synthesize("Hello.", conn_options=ONE_TRY) as stream:
        async for audio in stream:
            if audio.frame.samples_per_channel:
                return f"{settings.tts_url or 'OpenAI'}, {voice.model}"
    raise LookupError("it answered without a sound")


async def _collector(_: Settings) -> str:
    url = otlp.endpoint()
    if url is None:
        return f"none ({otlp.ENDPOINT} is not set), so nothing is sent"
    async with httpx.AsyncClient(timeout=TIMEOUT_S) as client:
        # A request without a span: the smallest that every collector takes.
        answer = await client.post(f"{url.rstrip('/')}/v1/traces", headers=otlp.headers())
    answer.raise_for_status()
    return f"takes traces at {answer.url.host}:{answer.url.port}"


def _inference(settings: Settings) -> str:
    if settings.livekit_inference_api_key is None and ".livekit.cloud" not in settings.livekit_url:
        raise LookupError("LIVEKIT_INFERENCE_API_KEY is not set")
    return "LiveKit Inference (credentials are set; not called)"
