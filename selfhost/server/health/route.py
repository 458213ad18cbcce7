"""GET /health, /ready and /ready/{model}: for supervisors and load balancers, without a key.

/health is about the process: it fails only where a restart is what helps. /ready is about what can
be asked of it now.
"""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from selfhost.server.health.progress import Progress, why_hung
from selfhost.server.health.watch import progress_of
from selfhost.server.residency.rules import Phase
from selfhost.server.state import ServerState

router = APIRouter()


@router.get("/health")
async def health(request: Request) -> JSONResponse:
    """Whether every model gets on with what it has to do, however much that is."""
    state: ServerState = request.app.state.server
    hung_after_s = state.settings.hung_after_s
    threads = [
        progress for model in state.pool.at_work() if (progress := progress_of(model)) is not None
    ]
    now_s = time.monotonic()
    body: dict[str, object] = {
        "status": "alive",
        "models": [_described(one, now_s, hung_after_s) for one in threads],
    }
    if (reason := why_hung(threads, now_s, hung_after_s)) is None:
        return JSONResponse(body)
    return JSONResponse(body | {"status": "hung", "reason": reason}, status_code=503)


@router.get("/ready")
async def ready(request: Request) -> JSONResponse:
    """Whether the models that the server starts with have passed their tests."""
    return _readiness(request.app.state.server.not_ready)


@router.get("/ready/{name}")
async def model_ready(name: str, request: Request) -> JSONResponse:
    """Whether one model is loaded and has passed its test."""
    model = request.app.state.server.pool.state(name)
    if model.state is Phase.LOADED:
        return _readiness(None)
    return _readiness(model.failure or (model.state.value if model.state else "not loaded"))


def _readiness(missing: str | None) -> JSONResponse:
    if missing is None:
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "not ready", "reason": missing}, status_code=503)


def _described(progress: Progress, now_s: float, hung_after_s: float) -> dict[str, object]:
    return {
        "model": progress.model,
        "state": progress.state(now_s, hung_after_s).value,
        "in_hand": progress.in_hand,
        "waiting": progress.waiting,
        "moved_s_ago": round(now_s - progress.moved_at_s, 1),
    }
