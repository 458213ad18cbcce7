from __future__ import annotations

import asyncio
import threading
import time

import pytest

from selfhost.server.health.progress import Progress, State, why_hung
from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import Priority, Worker

LIMIT_S = 60.0


@pytest.mark.parametrize(
    ("in_hand", "waiting", "quiet_s", "state"),
    [
        (None, 0, 1e6, State.IDLE),
        ("file", 0, LIMIT_S, State.BUSY),
        ("file", 1000, 1.0, State.BUSY),
        ("file", 0, LIMIT_S + 1, State.HUNG),
        (None, 1, LIMIT_S + 1, State.HUNG),  # its thread has died
        (None, 1, 0.0, State.BUSY),
    ],
)
def test_only_work_that_does_not_move_is_hung(
    in_hand: str | None, waiting: int, quiet_s: float, state: State
) -> None:
    progress = Progress("whisper", in_hand, waiting, moved_at_s=100.0)
    assert progress.state(100.0 + quiet_s, LIMIT_S) is state


def test_what_is_hung_is_named_with_since_when() -> None:
    threads = [Progress("a", "file", 3, 0.0), Progress("b", "speech", 0, 70.0)]
    assert why_hung(threads, 72.0, LIMIT_S) == "a has not moved for 72 s (file in hand, 3 waiting)"
    assert why_hung(threads[1:], 72.0, LIMIT_S) is None


@pytest.fixture
def worker() -> Worker:
    return Worker("test-model", max_queued=8, metrics=Metrics())


async def test_a_thread_that_never_comes_back_is_told_from_one_at_work(worker: Worker) -> None:
    limit_s = 0.3
    entered, gate = threading.Event(), threading.Event()

    def state() -> State:
        return worker.progress.state(time.monotonic(), limit_s)

    def stuck() -> None:
        entered.set()
        gate.wait(30)

    def long_but_moving() -> None:
        for _ in range(10):
            time.sleep(0.1)
            worker.advanced()

    assert state() is State.IDLE
    moving = asyncio.create_task(
        worker.run(long_but_moving, owner="a", priority=Priority.FINAL, kind="long")
    )
    seen = set()
    while not moving.done():
        seen.add(state())
        await asyncio.sleep(0.02)
    assert State.HUNG not in seen
    assert State.BUSY in seen
    many = [
        asyncio.create_task(
            worker.run(lambda: time.sleep(0.1), owner=n, priority=Priority.BACKGROUND, kind="short")
        )
        for n in range(8)
    ]
    while not all(task.done() for task in many):  # together longer than the limit
        assert state() is not State.HUNG
        await asyncio.sleep(0.02)
    hanging = asyncio.create_task(
        worker.run(stuck, owner="a", priority=Priority.FINAL, kind="stuck")
    )
    await asyncio.to_thread(entered.wait, 5)
    assert state() is State.BUSY
    await asyncio.sleep(2 * limit_s)
    assert state() is State.HUNG
    assert worker.progress.in_hand == "stuck"
    gate.set()
    await hanging
    assert state() is State.IDLE
    worker.close()


async def test_work_that_comes_after_a_long_idle_time_is_not_hung_at_once(worker: Worker) -> None:
    await asyncio.sleep(0.4)
    entered, gate = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        gate.wait(30)

    task = asyncio.create_task(worker.run(hold, owner="a", priority=Priority.FINAL, kind="t"))
    await asyncio.to_thread(entered.wait, 5)
    assert worker.progress.state(time.monotonic(), 0.3) is State.BUSY
    gate.set()
    await task
    worker.close()
