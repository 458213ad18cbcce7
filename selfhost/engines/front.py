"""The HTTP front of llama.cpp: gives each chat request a slot, and passes the rest through.

A slot that does not hold a request's standing instructions gets them from a saved copy first, in
milliseconds instead of the seconds that reading them takes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from selfhost.engines.slots import Conversation, Slot, choose
from selfhost.server import errors
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError

log = logging.getLogger(__name__)

MAX_SAVED_PREFIXES = 8
FINISHING_S = 0.5
MAX_BODY_BYTES = 1 << 20
PASSED_ON = ("authorization", "content-type")


class Slots:
    """The engine's slots: who holds which, and what each one has read.

    Args:
        engine: a client of the engine's own HTTP server.
        count: how many slots the engine has.
        folder: where the engine saves slots.
    """

    def __init__(self, engine: httpx.AsyncClient, count: int, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._slots = [Slot(number) for number in range(count)]
        self._queue = asyncio.Lock()  # fair: who asked first is served first
        self._freed = asyncio.Event()
        self._saved: dict[str, str] = {}  # file name by prefix, the least recently used first
        self._finishing: set[asyncio.Task[None]] = set()

    async def take(self, conversation: Conversation) -> int:
        """Wait for a slot and hold it until `finish`."""
        async with self._queue:
            while (slot := choose(self._slots, conversation)) is None:
                self._freed.clear()
                await self._freed.wait()
            self._slots[slot.number] = replace(slot, is_busy=True, used_at_s=time.monotonic())
            return slot.number

    async def prepare(self, number: int, conversation: Conversation) -> None:
        """Give a held slot the conversation's standing instructions, if they were saved."""
        prefix = conversation.prefix
        if prefix is not None and self._slots[number].holds.prefix != prefix:
            if self._finishing:  # one of them may be saving it: a moment, against seconds
                await asyncio.wait(self._finishing, timeout=FINISHING_S)
            name = self._saved.pop(prefix, None)
            if name is not None and await self._act(number, "restore", name):
                self._saved[prefix] = name
        self._slots[number] = replace(self._slots[number], holds=conversation)

    def finish(self, number: int, answer: httpx.Response | None) -> None:
        """Let go of a slot and of the engine's answer, read to its end or not.

        It returns at once and cannot be cancelled: the request that calls it may be.
        """
        task = asyncio.create_task(self._finish(number, answer))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    async def _finish(self, number: int, answer: httpx.Response | None) -> None:
        try:
            if answer is not None:
                await answer.aclose()
                if answer.status_code == 200:
                    await self._save_prefix(number)
        finally:
            self._slots[number] = replace(self._slots[number], is_busy=False)
            self._freed.set()

    async def _save_prefix(self, number: int) -> None:
        prefix = self._slots[number].holds.prefix
        if prefix is None or prefix in self._saved:
            return
        while len(self._saved) >= MAX_SAVED_PREFIXES:
            oldest = next(iter(self._saved))
            (self._folder / self._saved.pop(oldest)).unlink(missing_ok=True)
        if await self._act(number, "save", f"{prefix}.bin"):
            self._saved[prefix] = f"{prefix}.bin"

    async def _act(self, number: int, action: str, name: str) -> bool:
        try:
            answer = await self._engine.post(
                f"/slots/{number}", params={"action": action}, json={"filename": name}
            )
        except httpx.HTTPError as error:
            log.warning("slot %d: %s failed: %s", number, action, type(error).__name__)
            return False
        if answer.status_code != 200:
            log.warning("slot %d: %s answered %d", number, action, answer.status_code)
        return answer.status_code == 200


class _Relay(StreamingResponse):
    """The engine's answer as it comes; whatever becomes of the client, `finish` is called."""

    def __init__(self, answer: httpx.Response, finish: Callable[[], None]) -> None:
        media_type = answer.headers.get("content-type")
        super().__init__(answer.aiter_raw(), answer.status_code, media_type=media_type)
        self._finish = finish

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._finish()


def create_app(engine: httpx.AsyncClient, slot_count: int, folder: Path) -> FastAPI:
    """The front.

    Args:
        engine: a client of the engine's own HTTP server, which asks for the key, if one is set.
        slot_count: how many slots the engine has.
        folder: where the engine saves slots.
    """
    app = FastAPI(title="generation", docs_url=None, redoc_url=None, openapi_url=None)
    errors.install(app)
    slots = Slots(engine, slot_count, folder)

    @app.get("/health")
    @app.get("/metrics")
    @app.get("/slots")
    @app.get("/v1/models")
    async def pass_through(request: Request) -> Response:
        answer = await engine.get(request.url.path, headers=_passed_on(request))
        media_type = answer.headers.get("content-type")
        return Response(answer.content, answer.status_code, media_type=media_type)

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        question = _parse(await request.body())
        conversation = Conversation.of(question["messages"])
        number = await until_gone(request, slots.take(conversation))
        try:
            await slots.prepare(number, conversation)
            asked = engine.build_request(
                "POST",
                "/v1/chat/completions",
                json={**question, "id_slot": number, "cache_prompt": True},
                headers=_passed_on(request),
            )
            # The engine answers once it has read the prompt; a client may leave before that.
            answer = await until_gone(request, engine.send(asked, stream=True))
        except httpx.HTTPError as error:
            slots.finish(number, None)
            raise ApiError(502, f"The engine failed: {type(error).__name__}.") from error
        except BaseException:
            slots.finish(number, None)
            raise
        return _Relay(answer, lambda: slots.finish(number, answer))

    return app


def _parse(body: bytes) -> dict[str, Any]:
    """A chat request's JSON, as far as the front needs it; the engine checks the rest."""
    if len(body) > MAX_BODY_BYTES:
        raise ApiError(413, f"Expected at most {MAX_BODY_BYTES} bytes, got {len(body)}.")
    try:
        question = json.loads(body)
        messages = question["messages"]
    except (ValueError, KeyError, TypeError):
        messages = None
    if not isinstance(messages, list) or not messages:
        raise ApiError(400, "Expected a JSON object with a list of `messages`.", param="messages")
    return dict(question)


def _passed_on(request: Request) -> dict[str, str]:
    return {name: request.headers[name] for name in PASSED_ON if name in request.headers}
