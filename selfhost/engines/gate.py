"""Every chat request goes through here to an engine that may die, hang, or not be up yet.

A request that finds no engine is held for a while. One whose engine fails under it gets a clear
error at once, in whatever form its answer has by then.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from selfhost.engines.placement import Placement
from selfhost.engines.process import EngineEndedError, EngineProcess, Life
from selfhost.engines.slots import Conversation
from selfhost.engines.warm_up import NEUTRAL
from selfhost.server.disconnect import until_gone
from selfhost.server.errors import ApiError

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 1 << 20
HOLD_S = 30.0
MAX_HELD = 64
COME_BACK_S = 5
NOTICING_S = 1.0
DONE = b"[DONE]"


@dataclass(frozen=True)
class _Open:
    """One life of the engine, and the connections to it."""

    life: Life
    client: httpx.AsyncClient
    placement: Placement


class Gate:
    """The way to one engine, for the requests of one event loop.

    Args:
        process: the engine.
        place: makes the placement for a new life of it.
        hold_s: how long a request waits for an engine that is not ready.
    """

    def __init__(
        self,
        process: EngineProcess,
        place: Callable[[httpx.AsyncClient], Placement],
        *,
        hold_s: float = HOLD_S,
    ) -> None:
        self._process = process
        self._place = place
        self._hold_s = hold_s
        self._held = 0
        self._open: _Open | None = None

    async def chat(self, request: Request, question: dict[str, Any]) -> Response:
        """Answer a chat request, streamed or whole.

        Args:
            request: its body has been read.
            question: that body, as `parse` gives it.

        Raises:
            ApiError: the engine is not up in time (503), or failed (502).
        """
        conversation = Conversation.of(question["messages"])
        while True:
            opened = await until_gone(request, self._ready())
            try:
                return await self._ask(request, opened, question, conversation)
            except httpx.ConnectError:
                # It is gone, and has seen nothing of this request: the next life may answer it.
                if not await self._has_ended(opened.life):
                    raise self._failed("could not be reached") from None
            except httpx.HTTPError as error:
                await self._has_ended(opened.life)
                raise self._failed(f"failed ({type(error).__name__})") from error

    async def whole(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question of this process's own.

        Args:
            question: a chat request that is not streamed.

        Raises:
            ApiError: the engine is not up in time (503), or failed or refused (502).
        """
        opened = await self._ready()
        conversation = Conversation.of(question["messages"])
        number = await opened.placement.take(conversation)
        answer: httpx.Response | None = None
        try:
            await opened.placement.prepare(number, conversation)
            with self._process.working():
                asked = {**question, **opened.placement.fields(number)}
                answer = await opened.client.post("/v1/chat/completions", json=asked)
        except httpx.HTTPError as error:
            raise self._failed(f"failed ({type(error).__name__})") from error
        finally:
            opened.placement.finish(number, answer)
        if answer.status_code != 200:
            raise self._failed(f"answered {answer.status_code}")
        return dict(answer.json())

    async def read(self, instructions: Sequence[Any]) -> None:
        """Have the engine read standing instructions before any request begins with them.

        Args:
            instructions: chat messages of the system.

        Raises:
            ApiError: the engine is down (503), or failed or refused (502).
        """
        await asyncio.wait([asyncio.wrap_future(self._process.next_life())])  # however long
        await self.whole({"messages": [*instructions, *NEUTRAL], "max_tokens": 1})
        if (prefix := Conversation.of(instructions).prefix) is not None:
            self._process.remember(prefix, instructions)

    async def get(self, path: str) -> Response:
        """The engine's own answer to a question without a body.

        Raises:
            ApiError: it is not ready (503), or failed (502).
        """
        opened = self._opened(self._process.life)
        if opened is None:
            raise self.not_ready()
        try:
            answer = await opened.client.get(path, timeout=HOLD_S)
        except httpx.HTTPError as error:
            raise self._failed(f"failed ({type(error).__name__})") from error
        media_type = answer.headers.get("content-type")
        return Response(answer.content, answer.status_code, media_type=media_type)

    async def _has_ended(self, life: Life) -> bool:
        """Whether a life is over; its supervisor may need a moment to see it.

        Whoever is told of a failure is told after this moment: what they ask next must not go to
        the engine that has just died.
        """
        deadline_s = time.monotonic() + NOTICING_S
        while self._process.life is life:
            if time.monotonic() > deadline_s:
                return False
            await asyncio.sleep(0.02)
        return True

    def not_ready(self) -> ApiError:
        return ApiError(
            503,
            f"The language model {self._process.doing}. Ask again in {COME_BACK_S} s.",
            code="engine_not_ready",
            retry_after_s=COME_BACK_S,
        )

    async def _ready(self) -> _Open:
        """The engine's current life, or its next one.

        Raises:
            ApiError: it did not come in time, or will not come.
        """
        if (opened := self._opened(self._process.life)) is not None:
            return opened
        if self._held >= MAX_HELD:
            raise self.not_ready()
        self._held += 1
        try:
            async with asyncio.timeout(self._hold_s):
                life = await asyncio.wrap_future(self._process.next_life())
        except TimeoutError:
            raise self.not_ready() from None
        except EngineEndedError as error:
            raise ApiError(
                503, f"The language model is down: it {error}.", code="engine_down"
            ) from None
        finally:
            self._held -= 1
        opened = self._opened(life)
        assert opened is not None
        return opened

    def _opened(self, life: Life | None) -> _Open | None:
        if life is None:
            return None
        if self._open is None or self._open.life is not life:
            # The old client is left to its requests, which fail by themselves.
            client = httpx.AsyncClient(
                base_url=life.url,
                headers={"Authorization": f"Bearer {life.key}"},
                timeout=None,
                limits=httpx.Limits(max_connections=None),
                trust_env=False,
            )
            self._open = _Open(life, client, self._place(client))
        return self._open

    async def _ask(
        self,
        request: Request,
        opened: _Open,
        question: dict[str, Any],
        conversation: Conversation,
    ) -> Response:
        placement = opened.placement
        number = await until_gone(request, placement.take(conversation))
        answer: httpx.Response | None = None
        with ExitStack() as held:
            held.callback(lambda: placement.finish(number, answer))
            held.enter_context(self._process.working())
            await placement.prepare(number, conversation)
            asked = opened.client.build_request(
                "POST", "/v1/chat/completions", json={**question, **placement.fields(number)}
            )
            # The engine answers once it has read the prompt; a client may leave before that.
            answer = await until_gone(request, opened.client.send(asked, stream=True))
            if answer.status_code == 200 and (prefix := conversation.prefix) is not None:
                instructions = question["messages"][: conversation.instructions]
                self._process.remember(prefix, instructions)
            media_type = answer.headers.get("content-type", "")
            if not media_type.startswith("text/event-stream"):
                content = await until_gone(request, answer.aread())
                return Response(content, answer.status_code, media_type=media_type or None)
            return _Relay(
                self._events(answer, opened.life), answer.status_code, media_type, held.pop_all()
            )

    async def _events(self, answer: httpx.Response, life: Life) -> AsyncIterator[bytes]:
        """A stream as it comes; if it breaks off, an error event as OpenAI's clients read it."""
        end = b""
        try:
            async for chunk in answer.aiter_raw():
                end = (end + chunk)[-2 * len(DONE) :]
                yield chunk
        except httpx.HTTPError as error:
            log.warning("an answer broke off: %s", type(error).__name__)
        if DONE not in end:
            await self._has_ended(life)
            failure = self._failed("ended in the middle of this answer")
            yield b"\n\ndata: " + json.dumps({"error": failure.body()}).encode() + b"\n\n"
            yield b"data: " + DONE + b"\n\n"

    def _failed(self, how: str) -> ApiError:
        return ApiError(
            502,
            f"The language model {how}. It is started again by itself; ask again.",
            code="engine_failed",
            retry_after_s=COME_BACK_S,
        )


class _Relay(StreamingResponse):
    """The engine's answer as it comes; whatever becomes of the client, what was held is let go."""

    def __init__(
        self, events: AsyncIterator[bytes], status: int, media_type: str, held: ExitStack
    ) -> None:
        super().__init__(events, status, media_type=media_type)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held:
            await super().__call__(scope, receive, send)


def parse(body: bytes) -> dict[str, Any]:
    """A chat request's JSON, as far as it is needed here; the engine checks the rest.

    Raises:
        ApiError: it is too long (413), or not a chat request (400).
    """
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
