"""Counts requests as they pass: how many are being served, and with which status they end."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfhost.server.metrics import Metrics

ENDPOINTS = {
    "/v1/audio/transcriptions": "transcriptions",
    "/v1/audio/speech": "speech",
    "/v1/embeddings": "embeddings",
    "/v1/rerank": "rerank",
    "/v1/extract": "extract",
    "/v1/chat/completions": "chat",
    "/v1/models": "models",
}


class CountRequests:
    """ASGI middleware. A class of that plain kind, since wrapping responses delays streams."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = ENDPOINTS.get(scope["path"]) if scope["type"] == "http" else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        in_flight = self._metrics.in_flight.labels(endpoint)
        in_flight.inc()
        try:
            await self._app(scope, receive, watched)
        finally:
            in_flight.dec()
            self._metrics.requests.labels(endpoint, status).inc()
