"""A generator in memory: an engine as a child process, and the way to it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from selfhost.engines.gate import Gate
from selfhost.engines.process import EngineProcess
from selfhost.server.residency.entry import SelfTestError

QUESTION = "What is the capital of France? Answer with one word."
EXPECTED = "paris"
TEST_TOKENS = 12


class GenerationModel:
    """One generator.

    Args:
        id: what clients ask for.
        process: its engine, which this closes.
        gate: the way to it.
        folder: what the engine keeps while it runs; removed with it.
    """

    def __init__(self, id: str, process: EngineProcess, gate: Gate, folder: Path) -> None:
        self.id = id
        self._process = process
        self._gate = gate
        self._folder = folder

    @property
    def ended(self) -> str | None:
        """Why the engine is not started again, if it is not."""
        return self._process.ended

    async def chat(self, request: Request, question: dict[str, Any]) -> Response:
        """See `Gate.chat`."""
        return await self._gate.chat(request, question)

    async def say(self, words: str, *, max_tokens: int) -> str:
        """A whole answer to one sentence, the likeliest words.

        Raises:
            ApiError: the engine is not up in time, or failed.
        """
        question = {
            "model": self.id,
            "messages": [{"role": "user", "content": words}],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        answer = await self._gate.whole(question)
        return str(answer["choices"][0]["message"]["content"] or "")

    def close(self) -> None:
        self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)


async def check_generation(model: GenerationModel) -> None:
    """Ask for something that every language model knows.

    Raises:
        SelfTestError: it does not know: its weights or its memory are spoilt.
    """
    said = await model.say(QUESTION, max_tokens=TEST_TOKENS)
    if EXPECTED not in said.lower():
        raise SelfTestError(
            f"{model.id} was asked {QUESTION!r} and answered {said[:80]!r}; expected Paris"
        )
