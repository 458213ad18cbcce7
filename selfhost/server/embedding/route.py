"""POST /v1/embeddings."""

from __future__ import annotations

import base64
import uuid
from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict

from selfhost.server.auth import require_key
from selfhost.server.disconnect import until_gone
from selfhost.server.embedding.encoder import Vectors
from selfhost.server.embedding.model import EmbeddingModel
from selfhost.server.errors import ApiError
from selfhost.server.residency.entry import Job
from selfhost.server.state import ServerState

router = APIRouter(dependencies=[Depends(require_key)])

MAX_TEXTS = 2048  # OpenAI's own limit
FORMATS = ("float", "base64")


class EmbeddingRequest(BaseModel):
    """OpenAI's request; fields that this server has no use for are passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    input: Any
    encoding_format: str = "float"
    dimensions: int | None = None


@router.post("/v1/embeddings")
async def embeddings(body: EmbeddingRequest, request: Request) -> dict[str, Any]:
    """The vectors of texts, each of length 1."""
    state: ServerState = request.app.state.server
    texts = _texts(body.input)
    if body.encoding_format not in FORMATS:
        raise ApiError(
            400,
            f"encoding_format: no {body.encoding_format[:20]!r}; expected one of: "
            f"{', '.join(FORMATS)}.",
            code="invalid_value",
            param="encoding_format",
        )

    async def work() -> dict[str, Any]:
        async with state.pool.use(body.model, Job.EMBEDDING) as model:
            _check_dimensions(model, body.dimensions)
            embedded = await model.embed(texts, owner=uuid.uuid4().hex)
            return _answer(model.id, embedded.vectors, embedded.tokens, body.encoding_format)

    return await until_gone(request, work())


def _answer(model: str, vectors: Vectors, tokens: int, encoding: str) -> dict[str, Any]:
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, encoding)}
            for index, vector in enumerate(vectors)
        ],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vector: Vectors, encoding: str) -> list[float] | str:
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(value) for value in vector]


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list):
        raise _refused("expected a text or a list of texts", "invalid_value")
    if not texts:
        raise _refused("the list is empty; expected at least one text", "empty_input")
    if len(texts) > MAX_TEXTS:
        raise _refused(
            f"{len(texts)} texts; expected at most {MAX_TEXTS}. Send them in several requests",
            "array_above_max_length",
        )
    for index, text in enumerate(texts):
        if isinstance(text, (int, list)):
            raise _refused(
                "token ids came; expected texts. Each model has tokens of its own, and those of "
                "another would mean something else here",
                "tokens_not_supported",
            )
        if not isinstance(text, str):
            raise _refused(f"number {index} of the list is no text", "invalid_value")
        if not text.strip():
            place = "there is no text" if isinstance(given, str) else f"number {index} is blank"
            raise _refused(f"{place}; leave blank texts out", "empty_input")
    return texts


def _refused(message: str, code: str) -> ApiError:
    return ApiError(400, f"input: {message}.", code=code, param="input")


def _check_dimensions(model: EmbeddingModel, wanted: int | None) -> None:
    if wanted is not None and wanted != model.dimensions:
        raise ApiError(
            400,
            f"dimensions: {wanted} asked for; {model.id} makes vectors of {model.dimensions} and "
            "was not trained to be cut shorter. Leave the field out.",
            code="dimensions_not_supported",
            param="dimensions",
        )
