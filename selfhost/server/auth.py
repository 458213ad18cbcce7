"""The API key, where one is set."""

from __future__ import annotations

import hmac

from fastapi import Request

from selfhost.server.errors import ApiError
from selfhost.server.settings import ServerSettings


def check_key(settings: ServerSettings, authorization: str | None) -> None:
    """Let a request pass if its `Authorization` header carries the server's key.

    Raises:
        ApiError: a key is set, and the header is missing or another.
    """
    if settings.api_key is None:
        return
    scheme, _, key = (authorization or "").partition(" ")
    matches = hmac.compare_digest(key.strip().encode(), settings.api_key.encode())
    if scheme.lower() != "bearer" or not matches:
        raise ApiError(
            401,
            "Expected the server's API key as `Authorization: Bearer KEY`; "
            + ("the one that came is another." if key else "none came."),
            code="invalid_api_key",
        )


async def require_key(request: Request) -> None:
    """A route dependency that lets only key holders in."""
    check_key(request.app.state.server.settings, request.headers.get("authorization"))
