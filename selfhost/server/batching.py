"""Rows of several requests in one run of a model.

A request is cut into rows (a text, a pair), and each waits for itself in the worker's fair queue.
When the model is free, the next row in turn takes others of about its length along, of whichever
request. Nothing waits for company: the first row of an idle model runs at once, and what arrives
meanwhile is the next batch. So a batch grows with the load and delays nobody without it.

What it gains with MiniLM (int8, one thread, two cores that others used too), unbatched against at
most 16 rows and 256 tokens, at 1, 4 and 16 requests at once: questions of 12 tokens 71, 47 and 60
against 72, 107 and 97 a second; eight sentences in a request 5.5, 5.7 and 4.1 against 7.5, 7.7 and
6.1; a question over eight sentences by late interaction 3.3, 4.2 and 4.0 against 4.9, 6.6 and 6.0.
Texts of 100 tokens and more gain nothing (5.4 against 5.1 at 4 requests), which is why a batch
there holds no more tokens.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import (
    Outcome,
    Priority,
    Task,
    Worker,
    attempt,
    settle,
    stopping,
)

# Rows are filled up to the longest of their batch, so only those of one bucket share one.
BUCKET_TOKENS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096)


def bucket(tokens: int) -> int:
    """Which bucket a row of that length is in."""
    return bisect_left(BUCKET_TOKENS, tokens)


@dataclass(frozen=True)
class BatchLimits:
    """How much one run may hold. A single row always runs, however long it is.

    Args:
        max_rows: of one batch.
        max_tokens: of one batch, padding included.
    """

    max_rows: int
    max_tokens: int


UNBATCHED = BatchLimits(max_rows=1, max_tokens=1)


def joins(lengths: Sequence[int], length: int, limits: BatchLimits) -> bool:
    """Whether a row of `length` tokens may join a batch of rows of `lengths`."""
    rows = len(lengths) + 1
    return (
        rows <= limits.max_rows
        and bucket(length) == bucket(lengths[0])
        and rows * max(length, *lengths) <= limits.max_tokens
    )


X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True)
class Row(Generic[X]):
    """A part of a request that the model can do by itself.

    Args:
        given: what the model takes.
        tokens: how long it is.
    """

    given: X
    tokens: int


@dataclass(eq=False)
class _Request:
    answers: list[Any]
    left: int  # rows without an answer
    waiting: int  # rows in the queue
    future: asyncio.Future[Any]


@dataclass(eq=False)
class _RowTask(Task):
    request: _Request = field(kw_only=True)
    place: int = field(kw_only=True)
    row: Row[Any] = field(kw_only=True)


class BatchingWorker(Worker, Generic[X, Y]):
    """A worker that computes rows together.

    Args:
        compute: the model: an answer for each row, in their order. On the model's thread.
        limits: of one batch.
        max_queued: how many requests may wait.
        max_queued_tokens: how much they may hold together. A request longer than that is taken
            when nothing else waits.
    """

    def __init__(
        self,
        model: str,
        compute: Callable[[list[X]], Iterable[Y]],
        *,
        limits: BatchLimits,
        max_queued: int,
        metrics: Metrics,
        max_queued_tokens: int = 500_000,
    ) -> None:
        self._compute = compute
        self._limits = limits
        self._max_queued_tokens = max_queued_tokens
        self._waiting_requests = 0
        self._waiting_tokens = 0
        super().__init__(model, max_queued=max_queued, metrics=metrics)

    async def run_rows(
        self,
        rows: Sequence[Row[X]],
        *,
        owner: Hashable,
        priority: Priority,
        kind: str,
        may_refuse: bool = True,
    ) -> list[Y]:
        """The answer to each row, in their order.

        If the awaiting task is cancelled, rows that have not begun are never done.

        Args:
            owner, priority, kind, may_refuse: as for `Worker.run`.

        Raises:
            ApiError: too much work waits already (429), or the server is stopping (503).
            Exception: what the model raised on one of these rows.
        """
        if not rows:
            return []
        loop = asyncio.get_running_loop()
        request = _Request([None] * len(rows), len(rows), len(rows), loop.create_future())
        tokens = sum(row.tokens for row in rows)
        # The longest first: rows of like length then follow each other, and batch well.
        places = sorted(range(len(rows)), key=lambda place: -rows[place].tokens)
        with self._changed:
            if self._closed:
                raise stopping()
            is_full = self._waiting_requests >= self._max_queued or (
                self._waiting_tokens and self._waiting_tokens + tokens > self._max_queued_tokens
            )
            if may_refuse and is_full:
                raise self._overloaded(self._waiting_requests)
            self._begin_if_idle()
            for place in places:
                task = _RowTask(
                    lambda: None,
                    request.future,
                    loop,
                    kind,
                    request=request,
                    place=place,
                    row=rows[place],
                )
                self._queue.push(task, owner=owner, priority=priority)
            self._waiting_requests += 1
            self._waiting_tokens += tokens
            self._changed.notify()
        try:
            await request.future
        except asyncio.CancelledError:
            if self._give_up(request, owner):
                self._metrics.dropped.labels(self._model, kind).inc()
            raise
        except Exception:
            self._give_up(request, owner)  # it failed: nobody needs its other rows
            raise
        return request.answers

    def _give_up(self, request: _Request, owner: Hashable) -> bool:
        """Take what waits of a request out of the queue; False if nothing does."""
        with self._changed:
            removed = self._queue.remove_all(
                lambda task: isinstance(task, _RowTask) and task.request is request, owner=owner
            )
            for task in removed:
                self._no_longer_waits(task)
            return bool(removed)

    def _no_longer_waits(self, task: Task) -> None:
        if isinstance(task, _RowTask):
            self._waiting_tokens -= task.row.tokens
            task.request.waiting -= 1
            self._waiting_requests -= task.request.waiting == 0

    def _take(self) -> list[Task]:
        batch = super()._take()
        if batch and isinstance(batch[0], _RowTask):
            lengths = [batch[0].row.tokens]

            def fits(task: Task) -> bool:
                return isinstance(task, _RowTask) and joins(lengths, task.row.tokens, self._limits)

            while (task := self._queue.pop_if(fits)) is not None:
                assert isinstance(task, _RowTask)
                batch.append(task)
                lengths.append(task.row.tokens)
        for task in batch:
            self._no_longer_waits(task)
        return batch

    def _do(self, tasks: list[Task]) -> list[Outcome]:
        rows = [task.row for task in tasks if isinstance(task, _RowTask)]
        if not rows:
            return super()._do(tasks)
        self._metrics.batch_rows.labels(self._model).observe(len(rows))
        outcomes = self._computed(rows)
        if len(rows) > 1 and outcomes[0][1] is not None:
            # One by one, so that a request's fault, or a batch too large for the memory that is
            # left, is not its neighbours' fault.
            outcomes = [outcome for row in rows for outcome in self._computed([row])]
        return outcomes

    def _computed(self, rows: list[Row[X]]) -> list[Outcome]:
        answers, error = attempt(lambda: list(self._compute([row.given for row in rows])))
        if error is None and len(answers) != len(rows):
            error = RuntimeError(f"{len(answers)} answers to {len(rows)} rows")
        if error is not None:
            return [(None, error)] * len(rows)
        return [(answer, None) for answer in answers]

    def _finish(self, task: Task, outcome: Outcome) -> None:
        if not isinstance(task, _RowTask):
            super()._finish(task, outcome)
            return
        answer, error = outcome
        request = task.request
        request.answers[task.place] = answer
        request.left -= 1
        if error is not None or request.left == 0:
            task.loop.call_soon_threadsafe(settle, request.future, None, error)
