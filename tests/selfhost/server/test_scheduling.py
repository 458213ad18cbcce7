from __future__ import annotations

import asyncio
import threading

import pytest

from selfhost.server.errors import ApiError
from selfhost.server.metrics import Metrics
from selfhost.server.scheduling import FairQueue, Priority, Worker


def drain(queue: FairQueue[str]) -> list[str]:
    taken = []
    while (item := queue.pop()) is not None:
        taken.append(item)
    return taken


def test_urgent_work_goes_first_and_owners_take_turns() -> None:
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "a2", "a3", "b1", "b2", "c1"):
        queue.push(item, owner=item[0], priority=Priority.BACKGROUND)
    queue.push("urgent", owner="d", priority=Priority.FINAL)
    queue.push("guess", owner="a", priority=Priority.SPECULATIVE)
    assert drain(queue) == ["urgent", "guess", "a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_removed_item_is_gone_and_its_owner_with_it() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.push("a1", owner="a", priority=Priority.FINAL)
    assert queue.remove("a1")
    assert not queue.remove("a1")
    assert len(queue) == 0
    assert queue.pop() is None


@pytest.fixture
def worker() -> Worker:
    return Worker("test-model", max_queued=3, metrics=Metrics())


async def test_work_runs_off_the_event_loop_and_its_result_comes_back(worker: Worker) -> None:
    name = await worker.run(
        lambda: threading.current_thread().name, owner="a", priority=Priority.FINAL, kind="t"
    )
    assert name == "model-test-model"
    worker.close()


async def test_a_failure_reaches_whoever_waits_and_the_thread_lives_on(worker: Worker) -> None:
    def fail() -> None:
        raise ValueError("broken sound")

    with pytest.raises(ValueError, match="broken sound"):
        await worker.run(fail, owner="a", priority=Priority.FINAL, kind="t")
    assert await worker.run(lambda: 7, owner="a", priority=Priority.FINAL, kind="t") == 7
    worker.close()


async def test_cancelled_work_that_has_not_begun_is_never_done(worker: Worker) -> None:
    gate = threading.Event()
    done: list[str] = []
    first = asyncio.create_task(
        worker.run(lambda: gate.wait(5), owner="a", priority=Priority.FINAL, kind="t")
    )
    waiting = asyncio.create_task(
        worker.run(lambda: done.append("no"), owner="b", priority=Priority.FINAL, kind="t")
    )
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    gate.set()
    await first
    await worker.run(lambda: done.append("yes"), owner="c", priority=Priority.FINAL, kind="t")
    assert done == ["yes"]
    worker.close()


async def test_a_full_queue_refuses_and_says_when_to_come_back(worker: Worker) -> None:
    started, gate = threading.Event(), threading.Event()

    def hold() -> None:
        started.set()
        gate.wait(5)

    def submit(owner: str) -> asyncio.Task[None]:
        return asyncio.create_task(
            worker.run(hold, owner=owner, priority=Priority.BACKGROUND, kind="t")
        )

    tasks = [submit("first")]
    await asyncio.to_thread(started.wait, 5)
    tasks += [submit(owner) for owner in ("second", "third", "fourth")]
    await asyncio.sleep(0)  # let the three join the queue
    with pytest.raises(ApiError) as refused:
        await worker.run(lambda: None, owner="late", priority=Priority.FINAL, kind="t")
    assert refused.value.status == 429
    assert refused.value.retry_after_s
    gate.set()
    await asyncio.gather(*tasks)
    worker.close()


async def test_a_closed_worker_says_that_the_server_is_stopping(worker: Worker) -> None:
    worker.close()
    with pytest.raises(ApiError) as refused:
        await worker.run(lambda: None, owner="a", priority=Priority.FINAL, kind="t")
    assert refused.value.status == 503
