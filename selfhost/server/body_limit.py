"""Refuses a request's body beyond a size, before it is stored anywhere."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfhost.server.errors import ApiError

FORM_OVERHEAD_BYTES = 64 * 1024  # of a multipart form around its file


class LimitBody:
    """ASGI middleware.

    Args:
        max_bytes: of a whole request body, whether its length is announced or not.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self._max_bytes:
            error = ApiError(413, self._message(), code="body_too_large")
            await error.response()(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > self._max_bytes:
                    raise HTTPException(413, self._message())
            return message

        await self._app(scope, counted, send)

    def _message(self) -> str:
        return f"The body is longer than {self._max_bytes} bytes, the most that is taken."
