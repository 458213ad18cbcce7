"""POST /v1/chat/completions."""

from __future__ import annotations

from contextlib import AsyncExitStack

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from selfhost.engines.gate import parse
from selfhost.server.auth import require_key
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError
from selfhost.server.generation.model import GenerationModel
from selfhost.server.residency.entry import Job
from selfhost.server.state import ServerState

router = APIRouter(dependencies=[Depends(require_key)])


@router.post("/v1/chat/completions")
async def chat(request: Request) -> Response:
    """An answer by a generator, streamed or whole. Its engine checks what is not checked here."""
    state: ServerState = request.app.state.server
    question = parse(await request.body())
    name = question.get("model")
    if not isinstance(name, str):
        raise ApiError(400, "model: expected the name of a model.", param="model")
    async with AsyncExitStack() as held:
        use = state.pool.use(name, Job.GENERATION)
        model: GenerationModel = await until_gone(request, held.enter_async_context(use))
        try:
            answer = await model.chat(request, question)
        except ApiError:
            if model.ended is not None:
                # Its engine was given up. Loaded anew it may start; this one never will.
                state.pool.condemn(name, f"its engine {model.ended}")
            raise
        return _WhileInUse(answer, held.pop_all())


class _WhileInUse(Response):
    """An answer during which its model stays in use, to the last word or until the client left."""

    def __init__(self, answer: Response, held: AsyncExitStack) -> None:
        super().__init__()
        self._answer = answer
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            await self._answer(scope, receive, send)
