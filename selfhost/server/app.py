"""The application: its routes, what happens at its start and its end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Depends, FastAPI, Response

from selfhost.server import catalogue, errors
from selfhost.server.auth import require_key
from selfhost.server.body_limit import FORM_OVERHEAD_BYTES, LimitBody
from selfhost.server.embedding.route import router as embedding_router
from selfhost.server.extraction.route import router as extraction_router
from selfhost.server.generation.route import router as generation_router
from selfhost.server.health.route import router as health_router
from selfhost.server.health.schedule import Schedule
from selfhost.server.health.watch import Watch
from selfhost.server.metrics import Metrics
from selfhost.server.readiness import make_ready
from selfhost.server.realtime.route import router as realtime_router
from selfhost.server.request_metrics import CountRequests
from selfhost.server.reranking.route import router as reranking_router
from selfhost.server.residency import memory
from selfhost.server.residency.pool import ModelState, Pool
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
        on_failure: called if the models to start with cannot be loaded, or one in use fails its
            test; the server should then end, so that it is started afresh rather than serve
            garbage.

    Raises:
        SetupError: the models to start with are unknown, or do not fit.
    """
    metrics = Metrics()
    state = ServerState(settings, metrics, _pool(settings, metrics, folder))

    def failed(reason: str) -> None:
        log.error("the server should end: %s", reason)
        state.not_ready = reason
        on_failure(reason)

    watch = Watch(state.pool, Schedule(settings.self_test_every_s), metrics, failed)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        running = [asyncio.create_task(_start(state, failed)), asyncio.create_task(watch.run())]
        yield
        for task in running:
            task.cancel()
        state.executor.shutdown(wait=False, cancel_futures=True)
        await state.pool.close()

    app = FastAPI(title="Model server", lifespan=lifespan)
    app.state.server = state
    errors.install(app)
    app.add_middleware(LimitBody, max_bytes=settings.max_upload_bytes + FORM_OVERHEAD_BYTES)
    app.add_middleware(CountRequests, metrics=metrics)
    for router in (
        health_router,
        transcription_router,
        speech_router,
        realtime_router,
        embedding_router,
        reranking_router,
        extraction_router,
        generation_router,
    ):
        app.include_router(router)
    started_at = int(time.time())

    def described(model: ModelState) -> dict[str, object]:
        return {
            "id": model.id,
            "object": "model",
            "created": started_at,
            "owned_by": "selfhost",
            "job": model.job.value,
            "state": model.state.value if model.state else "not loaded",
            "memory_bytes": model.memory_bytes,
            "expected_bytes": model.expected_bytes,
            "in_use": model.users,
            "waiting": model.waiting,
            "pinned": model.is_pinned,
            "failure": model.failure,
        }

    @app.get("/v1/models", dependencies=[Depends(require_key)])
    async def models() -> dict[str, object]:
        return {"object": "list", "data": [described(model) for model in state.pool.states()]}

    @app.get("/v1/models/{name}", dependencies=[Depends(require_key)])
    async def model(name: str) -> dict[str, object]:
        return described(state.pool.state(name))

    @app.get("/metrics")
    async def metrics_page() -> Response:
        return Response(metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


def _pool(settings: ServerSettings, metrics: Metrics, folder: Callable[[str], Path]) -> Pool:
    offered = catalogue.entries(settings, metrics, folder)
    budget_bytes = settings.memory_bytes or memory.default_budget_bytes(settings.device)
    log.info("the models may hold %.0f MB together", budget_bytes / 1e6)
    catalogue.check_start(
        offered,
        preload=settings.preloaded,
        pinned=settings.pinned,
        budget_bytes=budget_bytes,
    )
    pool = Pool(
        offered,
        budget_bytes=budget_bytes,
        metrics=metrics,
        max_wait_s=settings.model_wait_s,
        max_waiting=settings.max_queued,
        idle_unload_s=settings.idle_unload_s,
        meter=memory.meter(settings.device),
    )
    for name in settings.pinned:
        pool.pin(name)
    return pool


async def _start(state: ServerState, failed: Callable[[str], None]) -> None:
    try:
        await make_ready(state)
    except Exception as error:
        failed(f"the models failed to start: {error}")
