"""The generation engine's HTTP front: stays up while the engine behind it comes and goes."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response

from selfhost.engines.gate import Gate, parse
from selfhost.engines.process import EngineProcess
from selfhost.server import errors
from selfhost.server.errors import ApiError

log = logging.getLogger(__name__)


def create_app(
    process: EngineProcess, gate: Gate, api_key: str | None, instructions: Sequence[Any] = ()
) -> FastAPI:
    """The front.

    Args:
        process: the engine.
        gate: the way to it.
        api_key: what clients must send as their bearer token; None asks for none. The engine has
            a key of its own, which only this process knows.
        instructions: chat messages that its callers' requests will begin with; the engine has
            read them before it is called healthy.
    """
    reading: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        nonlocal reading
        if instructions:
            reading = asyncio.create_task(_read(gate, instructions))
        yield
        if reading is not None:
            reading.cancel()

    app = FastAPI(
        title="generation", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    errors.install(app)

    async def require_key(request: Request) -> None:
        if api_key is None:
            return
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        matches = hmac.compare_digest(key.strip().encode(), api_key.encode())
        if scheme.lower() != "bearer" or not matches:
            raise ApiError(
                401, "Expected the key as `Authorization: Bearer KEY`.", code="invalid_api_key"
            )

    @app.get("/health")
    async def health() -> JSONResponse:
        if process.life is None:
            return JSONResponse({"status": f"the engine {process.doing}"}, status_code=503)
        if reading is not None and not reading.done():
            return JSONResponse({"status": "the engine reads its instructions"}, status_code=503)
        return JSONResponse({"status": "ok"})

    @app.get("/live")
    async def live() -> dict[str, str]:
        # A hung engine is this process's to end; while this answers, nobody else needs to.
        return {"status": "alive", "engine": process.doing}

    @app.get("/metrics")
    async def metrics() -> Response:
        return await gate.get("/metrics")

    @app.get("/slots", dependencies=[Depends(require_key)])
    @app.get("/v1/models", dependencies=[Depends(require_key)])
    async def pass_through(request: Request) -> Response:
        return await gate.get(request.url.path)

    @app.post("/v1/chat/completions", dependencies=[Depends(require_key)])
    async def chat(request: Request) -> Response:
        question = parse(await request.body())
        return await gate.chat(request, question)

    return app


async def _read(gate: Gate, instructions: Sequence[Any]) -> None:
    try:
        await gate.read(instructions)
    except ApiError as error:  # its callers will be told so themselves, or find it read for them
        log.warning("the instructions were not read: %s", error.message)
