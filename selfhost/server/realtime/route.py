"""GET /v1/realtime: the WebSocket."""

from __future__ import annotations

from fastapi import APIRouter, WebSocket

from selfhost.server.auth import check_key
from selfhost.server.errors import ApiError
from selfhost.server.realtime.config import SessionConfig
from selfhost.server.realtime.connection import Connection
from selfhost.server.residency.entry import Job
from selfhost.server.state import ServerState

router = APIRouter()


@router.websocket("/v1/realtime")
async def realtime(socket: WebSocket) -> None:
    """One transcription session. A refusal is an HTTP answer, before the socket opens."""
    state: ServerState = socket.app.state.server
    in_flight = state.metrics.in_flight.labels("realtime")
    state.realtime_sessions += 1  # one that waits for its model has its place already
    connection: Connection | None = None
    try:
        try:
            connection = await _admit(state, socket)
        except ApiError as error:
            state.metrics.requests.labels("realtime", error.status).inc()
            await socket.send_denial_response(error.response())
            return
        with in_flight.track_inprogress():
            await socket.accept()
            state.metrics.requests.labels("realtime", 101).inc()
            await connection.serve()
    finally:
        state.realtime_sessions -= 1
        if connection is not None:
            await connection.release()


async def _admit(state: ServerState, socket: WebSocket) -> Connection:
    """The session, with its model loaded.

    Raises:
        ApiError: it cannot be served.
    """
    check_key(state.settings, socket.headers.get("authorization"))
    config = _config(state, socket)
    state.require_ready()
    state.pool.resolve(config.model, Job.TRANSCRIPTION)
    if state.realtime_sessions > state.settings.max_realtime_sessions:
        raise ApiError(
            429,
            f"{state.settings.max_realtime_sessions} realtime sessions are open, as many as this "
            "server takes; try again later.",
            code="too_many_sessions",
            retry_after_s=5,
        )
    connection = Connection(socket, state.pool, state.metrics, state.executor, config)
    await connection.hold(config.model)
    return connection


def _config(state: ServerState, socket: WebSocket) -> SessionConfig:
    intent = socket.query_params.get("intent", "transcription")
    if intent != "transcription":
        raise ApiError(
            400,
            f"intent: expected transcription, got {intent[:40]!r}; no conversation is held here.",
            code="invalid_value",
            param="intent",
        )
    model = socket.query_params.get("model") or state.settings.transcription_model
    return SessionConfig.for_model(model)
