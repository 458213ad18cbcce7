"""Blocking work on a thread of its own.

Not on a pool of threads: a load that hangs would hold one of few, and the interpreter waits for a
pool's threads when it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Run(Protocol):
    """Does blocking work without holding up the event loop."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class WorkError(Exception):
    """The work raised what is no `Exception`, such as the panic of a native library."""


def on_thread(work: Callable[[], T]) -> Awaitable[T]:
    """Do `work` on a new thread.

    Raises:
        WorkError: it raised something that would end the event loop.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        error: Exception | None = None
        try:
            result = work()
        except StopIteration as raised:  # a future takes none
            error = WorkError(repr(raised))
        except Exception as raised:
            error = raised
        except BaseException as raised:
            error = WorkError(repr(raised))
        with contextlib.suppress(RuntimeError):  # the event loop has ended: nobody waits
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="residency", daemon=True).start()
    return future
