"""Lets one caller in: checks that there is somewhere to call, and signs a token for one room."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta

import aiohttp
import httpx
from livekit import api

from ui.settings import Settings

logger = logging.getLogger("ui.reception")

# Long enough to join, and no more: LiveKit itself renews the token of a caller who is in the room.
TOKEN_TTL = timedelta(minutes=2)
CHECK_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class Pass:
    """What a browser needs for one call.

    `worker_ready` is None where the worker is not on this machine and cannot be asked.
    """

    url: str
    token: str
    worker_ready: bool | None

    def to_dict(self) -> dict[str, str | bool | None]:
        return {"url": self.url, "token": self.token, "worker_ready": self.worker_ready}


@dataclass(frozen=True)
class Problem:
    """Why there can be no call now: a code that the screen has the words for, and what it is about.

    The codes are those of `ui/component/src/problems.ts`.
    """

    code: str
    detail: str | None = None

    def to_dict(self) -> dict[str, str]:
        return {"code": self.code} | ({"detail": self.detail} if self.detail else {})


def admit(settings: Settings) -> Pass | Problem:
    """A pass for one caller, or why there is none; asks the room server and the worker first."""
    return asyncio.run(_admit(settings))


async def _admit(settings: Settings) -> Pass | Problem:
    problem, worker_ready = await asyncio.gather(
        check_room_server(settings), check_worker(settings)
    )
    if problem:
        logger.warning("no call: %s (%s)", problem.code, problem.detail)
        return problem
    return Pass(settings.room_url, sign_token(settings), worker_ready)


def sign_token(settings: Settings) -> str:
    """A token for a new caller in a new room, with what a caller needs and nothing else."""
    room = f"call-{secrets.token_urlsafe(12)}"
    grants = api.VideoGrants(
        room_join=True,
        room=room,
        can_subscribe=True,
        can_publish=True,
        can_publish_sources=["microphone"],
        can_publish_data=True,  # typed words, and asking for the snapshot, both travel as data
        can_update_own_metadata=False,
    )
    token = (
        api.AccessToken(settings.room_key, settings.room_secret)
        .with_identity(f"caller-{secrets.token_urlsafe(6)}")
        .with_name("Caller")
        .with_grants(grants)
        .with_ttl(TOKEN_TTL)
    )
    if settings.livekit_agent_name:
        dispatch = api.RoomAgentDispatch(agent_name=settings.livekit_agent_name)
        token = token.with_room_config(api.RoomConfiguration(agents=[dispatch]))
    return token.to_jwt()


async def check_room_server(settings: Settings) -> Problem | None:
    """Whether the room server answers and takes this page's key."""
    url = settings.room_url
    try:
        # The client's own timeout does not hold for a server that takes the question and is silent.
        async with (
            asyncio.timeout(CHECK_TIMEOUT_S),
            api.LiveKitAPI(url, settings.room_key, settings.room_secret) as server,
        ):
            await server.room.list_rooms(api.ListRoomsRequest(names=["none"]))
    except api.TwirpError as error:
        if error.status in (401, 403):
            return Problem("room_server_refuses_key", url)
        return Problem("room_server_failing", f"{url}: {error.code}")
    except (aiohttp.ClientError, TimeoutError, OSError):
        return Problem("room_server_unreachable", url)
    return None


async def check_worker(settings: Settings) -> bool | None:
    """Whether the worker on this machine says that it is ready; None where none can be asked."""
    if not settings.is_local:
        return None
    try:
        async with httpx.AsyncClient(timeout=CHECK_TIMEOUT_S, trust_env=False) as client:
            answer = await client.get(f"http://127.0.0.1:{settings.worker_port}/")
    except httpx.HTTPError:
        return False
    return answer.is_success
