"""The room server that a caller calls, and the token that lets it in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from livekit import api

from selfhost.errors import SetupError

IDENTITY = "caller"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEVELOPMENT_KEY, DEVELOPMENT_SECRET = "devkey", "secret"


class SettingError(SetupError):
    """The environment cannot be used; the text says which variable, and what was expected."""


@dataclass(frozen=True)
class RoomServer:
    """Where the room is, the key pair that mints the caller's token, and who is to answer.

    `agent_name` is that of a worker that takes only the calls that ask for it; None for one that
    takes every call.
    """

    url: str
    api_key: str
    api_secret: str
    agent_name: str | None = None

    def token(self, room: str) -> str:
        """A short-lived token for one room, with a caller's rights and no more."""
        token = (
            api.AccessToken(self.api_key, self.api_secret)
            .with_identity(IDENTITY)
            .with_ttl(timedelta(minutes=10))
            .with_grants(api.VideoGrants(room_join=True, room=room))
        )
        if self.agent_name:
            dispatch = api.RoomAgentDispatch(agent_name=self.agent_name)
            token = token.with_room_config(api.RoomConfiguration(agents=[dispatch]))
        return token.to_jwt()


def room_server(environment: Mapping[str, str]) -> RoomServer:
    """The room server that the environment names, or the local one with its development keys.

    Raises:
        SettingError: an address that is none, or a server elsewhere without keys.
    """
    port = environment.get("LIVEKIT_PORT") or "7880"
    url = environment.get("LIVEKIT_URL") or f"ws://127.0.0.1:{port}"
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss", "http", "https") or not parts.hostname:
        raise SettingError(
            f"LIVEKIT_URL: expected an address such as ws://127.0.0.1:7880, got {url!r}"
        )
    key, secret = environment.get("LIVEKIT_API_KEY"), environment.get("LIVEKIT_API_SECRET")
    if not (key and secret) and parts.hostname not in LOOPBACK:
        raise SettingError(f"LIVEKIT_API_KEY and LIVEKIT_API_SECRET must be set for {url}")
    return RoomServer(
        url,
        key or DEVELOPMENT_KEY,
        secret or DEVELOPMENT_SECRET,
        environment.get("LIVEKIT_AGENT_NAME") or None,
    )
