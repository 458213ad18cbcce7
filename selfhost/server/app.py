"""The application: its routes, what happens at its start and its end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Depends, FastAPI, Response
from fastapi.responses import JSONResponse

from selfhost.server import errors
from selfhost.server.auth import require_key
from selfhost.server.body_limit import FORM_OVERHEAD_BYTES, LimitBody
from selfhost.server.catalogue import Catalogue
from selfhost.server.metrics import Metrics
from selfhost.server.readiness import make_ready
from selfhost.server.realtime.route import router as realtime_router
from selfhost.server.request_metrics import CountRequests
from selfhost.server.settings import ServerSettings
from selfhost.server.speech.route import router as speech_router
from selfhost.server.state import ServerState
from selfhost.server.transcription.route import router as transcription_router

log = logging.getLogger(__name__)


def create_app(
    settings: ServerSettings,
    folder: Callable[[str], Path],
    on_failure: Callable[[str], None] = lambda reason: None,
) -> FastAPI:
    """The model server.

    Args:
        folder: finds a model's files by its name.
        on_failure: called if the models cannot be loaded or fail their test; the server should
            then end, so that it is started afresh rather than serve garbage.
    """
    metrics = Metrics()
    state = ServerState(settings, metrics, Catalogue(settings, metrics, folder))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        starting = asyncio.create_task(_start(state, on_failure))
        yield
        starting.cancel()
        state.executor.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(state.catalogue.close)

    app = FastAPI(title="Model server", lifespan=lifespan)
    app.state.server = state
    errors.install(app)
    app.add_middleware(LimitBody, max_bytes=settings.max_upload_bytes + FORM_OVERHEAD_BYTES)
    app.add_middleware(CountRequests, metrics=metrics)
    for router in (transcription_router, speech_router, realtime_router):
        app.include_router(router)
    started_at = int(time.time())

    def described(name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": started_at, "owned_by": "selfhost"}

    @app.get("/v1/models", dependencies=[Depends(require_key)])
    async def models() -> dict[str, object]:
        return {"object": "list", "data": [described(name) for name in state.catalogue.ids()]}

    @app.get("/v1/models/{name}", dependencies=[Depends(require_key)])
    async def model(name: str) -> dict[str, object]:
        if name not in state.catalogue.ids():
            raise errors.unknown_name("model", name, state.catalogue.ids())
        return described(name)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/ready")
    async def ready() -> JSONResponse:
        if state.not_ready is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready", "reason": state.not_ready}, status_code=503)

    @app.get("/metrics")
    async def metrics_page() -> Response:
        return Response(metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


async def _start(state: ServerState, on_failure: Callable[[str], None]) -> None:
    try:
        await make_ready(state)
    except Exception as error:
        state.not_ready = f"the models failed to start: {error}"
        log.exception("the models failed to start")
        on_failure(str(error))
