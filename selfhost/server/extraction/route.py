"""POST /v1/extract: the entities in a text, or in each of several."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from selfhost.server.auth import require_key
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError
from selfhost.server.extraction.entity import Entity
from selfhost.server.residency.entry import Job
from selfhost.server.state import ServerState

router = APIRouter(dependencies=[Depends(require_key)])

MAX_TEXTS = 256
MAX_CHARS = 20_000
MAX_LABELS = 64
MAX_LABEL_CHARS = 100


class ExtractRequest(BaseModel):
    """Either `text` or `texts`; fields that this server has no use for are passed over."""

    model_config = ConfigDict(extra="ignore")

    model: str
    text: str | None = None
    texts: list[str] | None = None
    labels: list[str]
    threshold: float | None = Field(default=None, ge=0, le=1)


@router.post("/v1/extract")
async def extract(body: ExtractRequest, request: Request) -> dict[str, Any]:
    """The entities of the kinds that the client names."""
    state: ServerState = request.app.state.server
    texts = _texts(body)
    labels = _labels(body.labels)

    async def work() -> dict[str, Any]:
        async with state.pool.use(body.model, Job.EXTRACTION) as model:
            found = await model.extract(
                texts, labels, threshold=body.threshold, owner=uuid.uuid4().hex
            )
            return {"model": model.id, **_answer(found, is_list=body.texts is not None)}

    return await until_gone(request, work())


def _answer(found: Sequence[Sequence[Entity]], *, is_list: bool) -> dict[str, Any]:
    if not is_list:
        return {"entities": [_described(entity) for entity in found[0]]}
    return {
        "results": [
            {"index": index, "entities": [_described(entity) for entity in entities]}
            for index, entities in enumerate(found)
        ]
    }


def _described(entity: Entity) -> dict[str, Any]:
    return {
        "label": entity.label,
        "text": entity.text,
        "start": entity.start,
        "end": entity.end,
        "score": entity.score,  # null where the model does not say
    }


def _texts(body: ExtractRequest) -> list[str]:
    if (body.text is None) == (body.texts is None):
        raise _refused("text", "expected either text or texts, and one of them", "invalid_value")
    param = "text" if body.texts is None else "texts"
    texts = [body.text or ""] if body.texts is None else body.texts
    if not texts:
        raise _refused(param, "the list is empty; expected at least one text", "empty_input")
    if len(texts) > MAX_TEXTS:
        raise _refused(
            param,
            f"{len(texts)} texts; expected at most {MAX_TEXTS}. Send them in several requests",
            "array_above_max_length",
        )
    longest = max(len(text) for text in texts)
    if longest > MAX_CHARS:
        raise _refused(
            param,
            f"{longest} characters; expected at most {MAX_CHARS}. Split the text",
            "string_above_max_length",
        )
    # JSON can carry half of a surrogate pair, which is no character; its place is kept.
    return [text.encode(errors="replace").decode() for text in texts]


def _labels(given: list[str]) -> list[str]:
    labels = list(dict.fromkeys(label.strip() for label in given))
    if not labels or not all(labels):
        raise _refused("labels", "expected at least one, and none blank", "empty_input")
    if len(labels) > MAX_LABELS or max(map(len, labels)) > MAX_LABEL_CHARS:
        raise _refused(
            "labels",
            f"expected at most {MAX_LABELS}, each of at most {MAX_LABEL_CHARS} characters",
            "array_above_max_length",
        )
    return labels


def _refused(param: str, message: str, code: str) -> ApiError:
    return ApiError(400, f"{param}: {message}.", code=code, param=param)
