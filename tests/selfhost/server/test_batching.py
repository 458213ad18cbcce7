from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfhost.server.batching import (
    UNBATCHED,
    BatchingWorker,
    BatchLimits,
    Row,
    bucket,
    joins,
)
from selfhost.server.errors import ApiError
from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import Priority

LIMITS = BatchLimits(max_rows=4, max_tokens=64)


def test_rows_of_about_one_length_join_until_the_batch_is_full() -> None:
    assert joins([10], 12, LIMITS)
    assert not joins([10], 40, LIMITS)  # the short one would be mostly filling
    assert not joins([10, 10, 10, 10], 10, LIMITS)  # four rows are the most
    assert joins([30], 32, LIMITS)
    assert not joins([30, 30], 32, LIMITS)  # 96 tokens
    assert not joins([16], 16, UNBATCHED)


def test_a_batch_holds_at_most_half_filling_of_longer_rows() -> None:
    for tokens in range(9, 4096):
        shortest = next(one for one in range(1, tokens + 1) if bucket(one) == bucket(tokens))
        assert tokens <= 2 * shortest


@dataclass
class Model:
    """Doubles numbers; remembers its batches. A negative number is one that it fails on."""

    def __post_init__(self) -> None:
        self.batches: list[list[tuple[str, int]]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Event()

    def compute(self, rows: list[tuple[str, int]]) -> list[tuple[str, int]]:
        self.batches.append(rows)
        self.began.set()
        self.gate.wait(5)
        if any(number < 0 for _, number in rows):
            raise ValueError("a number below zero")
        return [(name, 2 * number) for name, number in rows]


def worker_of(
    model: Model, limits: BatchLimits = LIMITS, **bounds: int
) -> BatchingWorker[tuple[str, int], tuple[str, int]]:
    return BatchingWorker(
        "test-model", model.compute, limits=limits, metrics=Metrics(), **{"max_queued": 8} | bounds
    )


def rows(name: str, lengths: list[int], fails: int | None = None) -> list[Row[tuple[str, int]]]:
    return [
        Row((name, -1 if place == fails else place), tokens) for place, tokens in enumerate(lengths)
    ]


async def ask(
    worker: BatchingWorker[tuple[str, int], tuple[str, int]],
    name: str,
    lengths: list[int],
    fails: int | None = None,
) -> list[tuple[str, int]]:
    return await worker.run_rows(
        rows(name, lengths, fails), owner=name, priority=Priority.FINAL, kind="t"
    )


@dataclass(frozen=True)
class Request:
    lengths: list[int]
    fails: int | None
    arrives_after: int  # turns of the event loop
    leaves_after: int | None


requests = st.builds(
    Request,
    lengths=st.lists(st.integers(1, 100), min_size=1, max_size=12),
    fails=st.none() | st.integers(0, 11),
    arrives_after=st.integers(0, 6),
    leaves_after=st.none() | st.integers(0, 6),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(requests, min_size=1, max_size=8),
    st.builds(BatchLimits, max_rows=st.integers(1, 6), max_tokens=st.integers(1, 200)),
)
async def test_each_request_gets_its_own_rows_once_whoever_comes_and_leaves(
    asked: list[Request], limits: BatchLimits
) -> None:
    model = Model()
    worker = worker_of(model, limits)

    async def client(number: int, request: Request) -> object:
        for _ in range(request.arrives_after):
            await asyncio.sleep(0)
        asking = asyncio.create_task(
            ask(worker, str(number), request.lengths, request.fails), name=str(number)
        )
        if request.leaves_after is not None:
            for _ in range(request.leaves_after):
                await asyncio.sleep(0)
            asking.cancel()
        (answer,) = await asyncio.gather(asking, return_exceptions=True)
        return answer

    async with asyncio.timeout(10):
        answers = await asyncio.gather(*(client(*one) for one in enumerate(asked)))
    for number, (request, answer) in enumerate(zip(asked, answers, strict=True)):
        fails = request.fails is not None and request.fails < len(request.lengths)
        if request.leaves_after is not None and isinstance(answer, asyncio.CancelledError):
            continue
        if fails:
            assert isinstance(answer, ValueError)
        else:
            own = [(str(number), 2 * place) for place in range(len(request.lengths))]
            assert answer == own
    lengths = {
        row.given: row.tokens
        for number, request in enumerate(asked)
        for row in rows(str(number), request.lengths)
    }
    for batch in model.batches:
        sizes = [lengths[row] for row in batch if row in lengths]
        assert len(batch) <= limits.max_rows
        assert len(batch) == 1 or len(batch) * max(sizes, default=0) <= limits.max_tokens
        assert len({bucket(size) for size in sizes}) <= 1
    if all(request.fails is None for request in asked):
        times = Counter(row for batch in model.batches for row in batch)
        assert set(times.values()) <= {1}
    # Nothing is left behind: neither rows nor places.
    assert len(worker._queue) == 0
    assert (worker._waiting_requests, worker._waiting_tokens) == (0, 0)
    worker.close()


async def test_an_idle_model_waits_for_nobody() -> None:
    model = Model()
    worker = worker_of(model)
    await ask(worker, "a", [10])
    assert model.batches == [[("a", 0)]]
    worker.close()


async def held(
    model: Model, worker: BatchingWorker[tuple[str, int], tuple[str, int]]
) -> asyncio.Task[list[tuple[str, int]]]:
    """A request that keeps the model busy until its gate opens."""
    model.gate.clear()
    first = asyncio.create_task(ask(worker, "first", [1]))
    await asyncio.to_thread(model.began.wait, 5)
    return first


async def test_what_arrives_while_the_model_is_busy_is_its_next_batch() -> None:
    model = Model()
    worker = worker_of(model)
    first = await held(model, worker)
    others = [asyncio.create_task(ask(worker, name, [10])) for name in "abc"]
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(first, *others)
    assert model.batches[1:] == [[("a", 0), ("b", 0), ("c", 0)]]
    worker.close()


async def test_a_request_of_many_rows_gives_way_to_one_of_few() -> None:
    model = Model()
    worker = worker_of(model, UNBATCHED)
    first = await held(model, worker)
    many = asyncio.create_task(ask(worker, "many", [10] * 50))
    await asyncio.sleep(0)
    few = asyncio.create_task(ask(worker, "few", [10]))
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(first, many, few)
    assert ("few", 0) in [row for batch in model.batches[:3] for row in batch]
    worker.close()


async def test_rows_that_share_a_batch_are_taken_in_turns_too() -> None:
    model = Model()
    worker = worker_of(model)
    first = await held(model, worker)
    asked = [asyncio.create_task(ask(worker, name, [10] * 6)) for name in "ab"]
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(first, *asked)
    assert Counter(name for name, _ in model.batches[1]) == {"a": 2, "b": 2}
    worker.close()


async def test_a_client_that_leaves_frees_its_place_and_its_rows_are_not_done() -> None:
    model = Model()
    worker = worker_of(model, max_queued=1)
    first = await held(model, worker)
    leaving = asyncio.create_task(ask(worker, "leaving", [10] * 20))
    await asyncio.sleep(0)
    with pytest.raises(ApiError):
        await ask(worker, "late", [10])
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    staying = asyncio.create_task(ask(worker, "staying", [10]))
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(first, staying)
    assert not [row for batch in model.batches for row in batch if row[0] == "leaving"]
    worker.close()


@pytest.mark.parametrize("bounds", [{"max_queued": 2}, {"max_queued_tokens": 60}])
async def test_a_full_queue_refuses_and_says_when_to_come_back(bounds: dict[str, int]) -> None:
    model = Model()
    worker = worker_of(model, **bounds)
    first = await held(model, worker)
    waiting = [asyncio.create_task(ask(worker, name, [10, 15])) for name in "ab"]
    await asyncio.sleep(0)
    with pytest.raises(ApiError) as refused:
        await ask(worker, "late", [10, 15])
    assert (refused.value.status, refused.value.retry_after_s) == (429, 1)
    model.gate.set()
    await asyncio.gather(first, *waiting)
    worker.close()


async def test_a_request_longer_than_the_queue_is_taken_when_nothing_waits() -> None:
    model = Model()
    worker = worker_of(model, max_queued_tokens=5)
    assert len(await ask(worker, "long", [10] * 9)) == 9
    worker.close()


async def test_a_failing_row_fails_its_own_request_and_no_other() -> None:
    model = Model()
    worker = worker_of(model)
    first = await held(model, worker)
    bad = asyncio.create_task(ask(worker, "bad", [10] * 9, fails=0))
    good = asyncio.create_task(ask(worker, "good", [10]))
    await asyncio.sleep(0)
    model.gate.set()
    assert await good == [("good", 0)]
    with pytest.raises(ValueError, match="below zero"):
        await bad
    await first
    assert await ask(worker, "next", [10]) == [("next", 0)]
    worker.close()


async def test_a_closed_worker_says_that_the_server_is_stopping() -> None:
    worker = worker_of(Model())
    worker.close()
    with pytest.raises(ApiError) as refused:
        await ask(worker, "a", [1])
    assert refused.value.status == 503


async def test_who_waits_when_the_worker_ends_is_told_so() -> None:
    model = Model()
    worker = worker_of(model)
    first = await held(model, worker)
    waiting = asyncio.create_task(ask(worker, "waiting", [10] * 3))
    plain = asyncio.create_task(worker.run(lambda: 7, owner="b", priority=Priority.FINAL, kind="t"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(worker.close))
    await asyncio.sleep(0.05)
    model.gate.set()
    await asyncio.gather(first, closing)
    for one in (waiting, plain):
        with pytest.raises(ApiError) as refused:
            await asyncio.wait_for(one, 5)
        assert refused.value.status == 503
