"""The four models at work on one question at once, over HTTP."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx

from selfhost.load.model_bench.task import (
    ANSWER_TOKENS,
    EMBEDDING,
    EXTRACTION,
    GENERATION,
    LABELS,
    PASSAGES,
    RERANKING,
    Question,
)


class WrongAnswerError(Exception):
    """A model server answered, but not what was asked."""


async def run(client: httpx.AsyncClient, question: Question) -> float:
    """Ask all four models at once and check that each has answered.

    Returns:
        Seconds until the last of them had.

    Raises:
        WrongAnswerError: an answer is an error, or empty.
    """
    started = time.perf_counter()
    await asyncio.gather(*(ask(client, kind, question) for kind in REQUESTS))
    return time.perf_counter() - started


async def ask(client: httpx.AsyncClient, kind: str, question: Question) -> None:
    """One request of one kind (a key of REQUESTS).

    Raises:
        WrongAnswerError: the answer is an error, or empty.
    """
    path, body = REQUESTS[kind](question)
    answer = await client.post(path, json=body)
    if answer.status_code != 200:
        raise WrongAnswerError(f"{kind}: {answer.status_code} {answer.text[:300]}")
    if not ANSWERS[kind](answer.json()):
        raise WrongAnswerError(f"{kind}: an empty answer")


def _embed(question: Question) -> tuple[str, dict[str, Any]]:
    return "/embeddings", {"model": EMBEDDING, "input": [question.text]}


def _rerank(question: Question) -> tuple[str, dict[str, Any]]:
    return "/rerank", {"model": RERANKING, "query": question.text, "documents": list(PASSAGES)}


def _extract(question: Question) -> tuple[str, dict[str, Any]]:
    return "/extract", {"model": EXTRACTION, "text": question.text, "labels": list(LABELS)}


def _generate(question: Question) -> tuple[str, dict[str, Any]]:
    return "/chat/completions", {
        "model": GENERATION,
        "messages": question.prompt(),
        "max_tokens": ANSWER_TOKENS,
        "temperature": 0,
    }


REQUESTS = {"embed": _embed, "rerank": _rerank, "extract": _extract, "generate": _generate}
ANSWERS = {
    "embed": lambda body: len(body["data"][0]["embedding"]) > 0,
    "rerank": lambda body: len(body["results"]) == len(PASSAGES),
    "extract": lambda body: len(body["entities"]) > 0,
    "generate": lambda body: body["choices"][0]["message"]["content"].strip() != "",
}
