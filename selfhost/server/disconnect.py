"""Giving up a request's work when its client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from selfhost.server.errors import ApiError

T = TypeVar("T")


async def until_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, but cancel it as soon as the request's client disconnects.

    The request's body must have been read. A streamed response needs no such care: the server
    cancels it by itself.

    Raises:
        ApiError: the client has gone; nobody reads this answer.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ApiError(499, "The client went away.", code="client_closed_request")
    finally:
        task.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
