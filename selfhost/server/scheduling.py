"""Who uses a model next: one thread a model, urgent work first, and turns among its owners.

A model's work never runs on the event loop, and two decodes never share a model: on a few cores
they would only slow each other, and the one that a caller waits for would be as slow as the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, TypeVar

from selfhost.server.errors import ApiError
from selfhost.server.health.progress import Progress
from selfhost.server.metrics import Metrics

T = TypeVar("T")


class Priority(IntEnum):
    """How urgent a piece of work is: a lower value goes first."""

    FINAL = 0  # a caller has stopped speaking and waits
    SPECULATIVE = 1  # a caller may have stopped speaking
    BACKGROUND = 2  # partial transcripts, and the pieces of an uploaded file


class FairQueue(Generic[T]):
    """Items by priority; within a priority the owners take turns, each in its own order."""

    def __init__(self) -> None:
        self._levels: dict[Priority, OrderedDict[Hashable, deque[T]]] = {
            priority: OrderedDict() for priority in Priority
        }

    def __len__(self) -> int:
        return sum(len(items) for level in self._levels.values() for items in level.values())

    def push(self, item: T, *, owner: Hashable, priority: Priority) -> None:
        self._levels[priority].setdefault(owner, deque()).append(item)

    def pop(self) -> T | None:
        """The next item, or None if there is none."""
        for level in self._levels.values():
            if level:
                owner, items = level.popitem(last=False)
                item = items.popleft()
                if items:
                    level[owner] = items
                return item
        return None

    def pop_if(self, fits: Callable[[T], bool]) -> T | None:
        """The next item that fits, of those that are their owners' next; None if there is none.

        Whoever is passed over keeps its turn.
        """
        for level in self._levels.values():
            for owner, items in level.items():
                if fits(items[0]):
                    item = items.popleft()
                    del level[owner]
                    if items:
                        level[owner] = items
                    return item
        return None

    def remove_all(self, gone: Callable[[T], bool], *, owner: Hashable) -> list[T]:
        """Take out the items of `owner` that are `gone`; says which."""
        removed: list[T] = []
        for level in self._levels.values():
            if (items := level.get(owner)) is None:
                continue
            removed += [item for item in items if gone(item)]
            kept = deque(item for item in items if not gone(item))
            if kept:
                level[owner] = kept
            else:
                del level[owner]
        return removed

    def remove(self, item: T) -> bool:
        """Take `item` out, wherever it waits; False if it is not here any more."""
        for level in self._levels.values():
            for owner, items in level.items():
                if item in items:
                    items.remove(item)
                    if not items:
                        del level[owner]
                    return True
        return False


@dataclass(eq=False)
class Task:
    """A piece of a model's work, and who waits for it."""

    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    kind: str
    queued_at: float = field(default_factory=time.perf_counter)


Outcome = tuple[Any, Exception | None]
"""What a piece of work returned or, in the second place, what it raised."""


class Worker:
    """Runs the work of one model on one thread.

    Args:
        model: the model's id, for the metrics.
        max_queued: how many jobs may wait.
    """

    def __init__(self, model: str, *, max_queued: int, metrics: Metrics) -> None:
        self._model = model
        self._max_queued = max_queued
        self._metrics = metrics
        self._queue: FairQueue[Task] = FairQueue()
        self._changed = threading.Condition()
        self._closed = False
        self._in_hand: str | None = None
        self._moved_at_s = time.monotonic()
        self._thread = threading.Thread(target=self._loop, name=f"model-{model}", daemon=True)
        self._thread.start()

    async def run(
        self,
        work: Callable[[], T],
        *,
        owner: Hashable,
        priority: Priority,
        kind: str,
        may_refuse: bool = True,
    ) -> T:
        """Do `work` on the model's thread when its turn comes.

        If the awaiting task is cancelled, work that has not begun is never done.

        Args:
            kind: what the work is, for the metrics.
            may_refuse: whether it can be turned away where too much waits. What was accepted
                already, such as an open session's transcript, cannot.

        Raises:
            ApiError: too much work waits already (429), or the server is stopping (503).
        """
        loop = asyncio.get_running_loop()
        task = Task(work, loop.create_future(), loop, kind)
        with self._changed:
            if self._closed:
                raise stopping()
            if may_refuse and len(self._queue) >= self._max_queued:
                raise self._overloaded(len(self._queue))
            self._begin_if_idle()
            self._queue.push(task, owner=owner, priority=priority)
            self._changed.notify()
        try:
            result: T = await task.future
            return result
        except asyncio.CancelledError:
            with self._changed:
                if self._queue.remove(task):
                    self._metrics.dropped.labels(self._model, kind).inc()
            raise

    @property
    def progress(self) -> Progress:
        """What the thread has before it now, and since when nothing has moved."""
        with self._changed:
            return Progress(self._model, self._in_hand, len(self._queue), self._moved_at_s)

    def advanced(self) -> None:
        """Work that takes long tells from within that it gets on, so that it is not taken for
        hung."""
        with self._changed:
            self._moved_at_s = time.monotonic()

    def close(self) -> None:
        """Finish the work in hand, if any, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(timeout=10)

    def _loop(self) -> None:
        while tasks := self._next():
            started = time.perf_counter()
            outcomes = self._do(tasks)
            finished = time.perf_counter()
            self._put_down()
            self._metrics.compute_seconds.labels(self._model, tasks[0].kind).observe(
                finished - started
            )
            try:
                for task, outcome in zip(tasks, outcomes, strict=True):
                    waited_s = started - task.queued_at
                    self._metrics.queue_seconds.labels(self._model, task.kind).observe(waited_s)
                    self._finish(task, outcome)
            except RuntimeError:  # the event loop has ended: nobody waits any more
                return
        self._send_away()

    def _send_away(self) -> None:
        """Tell those that still wait that nothing more is done."""
        with self._changed:
            while (task := self._queue.pop()) is not None:
                with contextlib.suppress(RuntimeError):
                    self._finish(task, (None, stopping()))

    def _take(self) -> list[Task]:
        """What is done next, all at once; nothing if nothing waits. Called with the lock held."""
        task = self._queue.pop()
        return [] if task is None else [task]

    def _do(self, tasks: list[Task]) -> list[Outcome]:
        return [attempt(task.work) for task in tasks]

    def _finish(self, task: Task, outcome: Outcome) -> None:
        task.loop.call_soon_threadsafe(settle, task.future, *outcome)

    def _overloaded(self, waiting: int) -> ApiError:
        return ApiError(
            429,
            f"{waiting} requests already wait for {self._model}; try again soon.",
            code="overloaded",
            retry_after_s=1,
        )

    def _next(self) -> list[Task]:
        with self._changed:
            while not self._closed:
                if tasks := self._take():
                    self._in_hand = tasks[0].kind
                    self._moved_at_s = time.monotonic()
                    return tasks
                self._changed.wait()
            return []

    def _begin_if_idle(self) -> None:
        """Work comes: if none was there, whatever moves from now on counts. With the lock held."""
        if self._in_hand is None and not len(self._queue):
            self._moved_at_s = time.monotonic()

    def _put_down(self) -> None:
        with self._changed:
            self._in_hand = None
            self._moved_at_s = time.monotonic()


def attempt(work: Callable[[], Any]) -> Outcome:
    """Do `work`, and keep what it raises for whoever waits for it."""
    try:
        return work(), None
    except Exception as error:
        return None, error


def settle(future: asyncio.Future[Any], result: object, error: Exception | None) -> None:
    """Answer whoever waits. On the event loop of `future`."""
    if future.done():  # cancelled while the work ran
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


def stopping() -> ApiError:
    """The error for work that comes when the server ends."""
    return ApiError(503, "The server is stopping.", code="stopping")
