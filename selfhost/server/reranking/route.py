"""POST /v1/rerank, in the shape that Cohere's and Jina's clients read."""

from __future__ import annotations

import uuid
from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from selfhost.server.auth import require_key
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError
from selfhost.server.reranking.scorers import Scores
from selfhost.server.residency.entry import Job
from selfhost.server.state import ServerState

router = APIRouter(dependencies=[Depends(require_key)])

MAX_DOCUMENTS = 1000  # Cohere's own advice


class Document(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str


class RerankRequest(BaseModel):
    """Fields that this server has no use for are passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    query: str
    documents: list[str | Document]
    top_n: int | None = Field(default=None, ge=1)
    return_documents: bool = False


@router.post("/v1/rerank")
async def rerank(body: RerankRequest, request: Request) -> dict[str, Any]:
    """The documents that answer the query best, the best first."""
    state: ServerState = request.app.state.server
    passages = _passages(body)

    async def work() -> dict[str, Any]:
        async with state.pool.use(body.model, Job.RERANKING) as model:
            scores = await model.score(body.query, passages, owner=uuid.uuid4().hex)
            return _answer(body, model.id, passages, scores)

    return await until_gone(request, work())


def _passages(body: RerankRequest) -> list[str]:
    if not body.query.strip():
        raise _refused("query", "there is no text to compare with", "empty_input")
    if not body.documents:
        raise _refused("documents", "the list is empty; expected at least one", "empty_input")
    if len(body.documents) > MAX_DOCUMENTS:
        raise _refused(
            "documents",
            f"{len(body.documents)} documents; expected at most {MAX_DOCUMENTS}. Send them in "
            "several requests",
            "array_above_max_length",
        )
    passages = [one if isinstance(one, str) else one.text for one in body.documents]
    for index, passage in enumerate(passages):
        if not passage.strip():
            raise _refused(
                "documents", f"number {index} is blank; leave blank ones out", "empty_input"
            )
    return passages


def _refused(param: str, message: str, code: str) -> ApiError:
    return ApiError(400, f"{param}: {message}.", code=code, param=param)


def _answer(body: RerankRequest, model: str, passages: list[str], scores: Scores) -> dict[str, Any]:
    best = sorted(range(len(passages)), key=lambda index: -scores.values[index])[: body.top_n]
    results: list[dict[str, Any]] = [
        {"index": index, "relevance_score": scores.values[index]} for index in best
    ]
    if body.return_documents:
        for result in results:
            result["document"] = {"text": passages[result["index"]]}
    return {
        "id": f"rerank-{uuid.uuid4().hex}",
        "model": model,
        "results": results,
        "usage": {"prompt_tokens": scores.tokens, "total_tokens": scores.tokens},
    }
