"""The pool, case by case: what went wrong elsewhere, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from selfhost.server.errors import ApiError
from selfhost.server.residency.entry import Job, SelfTestError
from selfhost.server.residency.rules import Phase
from tests.selfhost.server.residency.simulation import Kind, Machine
from tests.selfhost.server.residency.virtual_time import run


def now_s() -> float:
    return asyncio.get_running_loop().time()


def later(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.create_task(work)


def loaded(machine: Machine) -> list[str]:
    assert machine.pool is not None
    return [one.id for one in machine.pool.states() if one.state is Phase.LOADED]


def test_a_load_waits_for_requests_in_flight_and_never_ends_them() -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6)], budget_bytes=10)
        machine.make_pool()
        first = later(machine.use("m0", 10))
        await asyncio.sleep(2)
        await machine.use("m1", 1)
        assert first.done()
        assert now_s() == pytest.approx(1 + 10 + 0.1 + 1 + 1)  # load, use, close, load, use
        assert machine.complaints == []

    run(case())


def test_two_loads_at_once_are_not_promised_the_same_bytes() -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6)], budget_bytes=10)
        machine.make_pool()
        await asyncio.gather(machine.use("m0", 1), machine.use("m1", 1))
        assert machine.most_held_bytes == 6
        assert machine.complaints == []

    run(case())


def test_two_loads_that_fit_together_go_on_at_once() -> None:
    async def case() -> None:
        machine = Machine([Kind(5, load_s=10), Kind(5, load_s=10)], budget_bytes=10)
        machine.make_pool()
        await asyncio.gather(machine.use("m0", 0), machine.use("m1", 0))
        assert now_s() == pytest.approx(10)

    run(case())


def test_all_who_ask_for_a_model_share_one_load() -> None:
    async def case() -> None:
        machine = Machine([Kind(6, load_s=5)], budget_bytes=10)
        machine.make_pool()
        await asyncio.gather(*(machine.use("m0", 1) for _ in range(20)))
        assert machine.loads == ["m0"]
        assert now_s() == pytest.approx(6)

    run(case())


def test_one_idle_model_goes_where_it_suffices() -> None:
    async def case() -> None:
        machine = Machine([Kind(2), Kind(2), Kind(2), Kind(6), Kind(6)], budget_bytes=12)
        machine.make_pool()
        for number in range(4):
            await machine.use(f"m{number}", 1)
        await machine.use("m4", 1)
        assert machine.closings == ["m3"]
        assert loaded(machine) == ["m0", "m1", "m2", "m4"]

    run(case())


def test_who_is_idle_longest_is_told_by_the_end_of_the_last_answer() -> None:
    """m0 was asked first, but its answer has only just ended."""

    async def case() -> None:
        machine = Machine([Kind(4), Kind(4), Kind(4)], budget_bytes=8)
        machine.make_pool()
        long = later(machine.use("m0", 20))
        await machine.use("m1", 1)
        await long
        await machine.use("m2", 1)
        assert machine.closings == ["m1"]

    run(case())


def test_the_idle_limit_never_ends_work_and_counts_from_its_end() -> None:
    async def case() -> None:
        machine = Machine([Kind(6)], budget_bytes=10)
        machine.make_pool(idle_unload_s=10)
        await machine.use("m0", 60)
        assert machine.closings == []
        await asyncio.sleep(9.9)
        assert loaded(machine) == ["m0"]
        await asyncio.sleep(0.2)
        assert machine.closings == ["m0"]

    run(case())


def test_looking_at_a_model_keeps_it_but_does_not_make_it_used() -> None:
    async def case() -> None:
        machine = Machine([Kind(6)], budget_bytes=10)
        pool = machine.make_pool(idle_unload_s=10)
        async with pool.probe("m0") as model:
            assert model is None  # and it is not loaded for that
        await machine.use("m0", 1)
        await asyncio.sleep(9)
        async with pool.probe("m0") as model:
            assert model is not None
            await asyncio.sleep(5)
            assert machine.closings == []
        await asyncio.sleep(0.1)
        assert machine.closings == ["m0"]

    run(case())


def test_a_model_that_closes_slowly_holds_up_nobody_else() -> None:
    async def case() -> None:
        machine = Machine([Kind(6, close_s=50), Kind(4), Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        await machine.use("m0", 1)
        await machine.use("m1", 1)
        waiting = later(machine.use("m2", 1, max_wait_s=100))
        await asyncio.sleep(1)
        assert pool.state("m0").state is Phase.CLOSING
        before_s = now_s()
        await machine.use("m1", 1)
        assert now_s() == pytest.approx(before_s + 1)
        assert machine.held_bytes == 10  # what closes is not free before it is
        await waiting
        assert machine.complaints == []

    run(case())


def test_a_failed_load_frees_its_memory_and_the_others_go_on() -> None:
    async def case() -> None:
        broken = Kind(6, failures=(MemoryError,))
        machine = Machine([broken, Kind(4), Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        working = later(machine.use("m1", 10))
        await asyncio.sleep(1)
        asked = [later(machine.use("m0", 1)) for _ in range(3)]
        await asyncio.sleep(0.5)
        next_in_line = later(machine.use("m2", 1))
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(answer, ApiError)
            assert (answer.status, answer.code, answer.retry_after_s) == (503, "model_failed", 1)
            assert "too little memory" in answer.message
        await next_in_line
        assert now_s() == pytest.approx(1 + 1 + 1 + 1)  # it got its room as soon as the load failed
        assert not working.done()
        assert pool.state("m0").memory_bytes is None
        await working
        assert machine.complaints == []

    run(case())


@pytest.mark.parametrize("failure", [RuntimeError, MemoryError, SelfTestError])
def test_a_broken_model_is_not_loaded_in_a_tight_loop_but_tried_again(
    failure: type[Exception],
) -> None:
    async def case() -> None:
        machine = Machine([Kind(6, load_s=0, failures=(failure, failure))], budget_bytes=10)
        machine.make_pool()
        for _ in range(100):  # 10 s of requests
            with pytest.raises(ApiError) as told:
                await machine.use("m0", 1)
            assert told.value.retry_after_s
            if len(machine.loads) == 2:
                break
            await asyncio.sleep(0.1)
        assert now_s() == pytest.approx(1.15, abs=0.2)
        await asyncio.sleep(1.5)
        with pytest.raises(ApiError):  # twice as long after the second failure
            await machine.use("m0", 1)
        await asyncio.sleep(0.6)
        await machine.use("m0", 1)
        assert len(machine.loads) == 3
        assert machine.complaints == []

    run(case())


def test_a_model_that_fails_its_test_is_never_handed_out() -> None:
    async def case() -> None:
        machine = Machine([Kind(6, failures=(SelfTestError,))], budget_bytes=10)
        pool = machine.make_pool()
        with pytest.raises(ApiError) as told:
            await machine.use("m0", 1)
        assert "simulated garbage" in told.value.message
        assert machine.closings == ["m0"]
        assert machine.held_bytes == 0
        assert pool.state("m0").failure is not None

    run(case())


def test_a_condemned_model_gets_no_new_request_and_is_closed_after_its_last() -> None:
    async def case() -> None:
        machine = Machine([Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        last = later(machine.use("m0", 10))
        await asyncio.sleep(2)
        pool.condemn("m0", "its numbers are not numbers")
        with pytest.raises(ApiError, match="not numbers"):
            await machine.use("m0", 1)
        assert machine.closings == []
        await last
        await asyncio.sleep(2)
        assert machine.closings == ["m0"]
        await machine.use("m0", 1)
        assert machine.complaints == []

    run(case())


def test_waiting_is_bounded_in_time_and_says_when_to_come_back() -> None:
    async def case() -> None:
        machine = Machine([Kind(6, load_s=100), Kind(6)], budget_bytes=10)
        machine.make_pool(max_wait_s=5)
        slow = later(machine.use("m0", 1))
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="memory that others use") as told:
            await machine.use("m1", 1)
        assert now_s() == pytest.approx(5)
        assert (told.value.status, told.value.retry_after_s) == (503, 5)
        with pytest.raises(ApiError, match="still loading"):
            await slow
        await asyncio.sleep(100)
        assert loaded(machine) == ["m0"]  # a load that has begun is not lost
        assert machine.loads == ["m0"]  # and one that nobody waits for does not begin

    run(case())


def test_waiting_is_bounded_in_number() -> None:
    async def case() -> None:
        machine = Machine([Kind(6)], budget_bytes=10)
        machine.make_pool(max_waiting=3)
        waiting = [later(machine.use("m0", 1)) for _ in range(3)]
        await asyncio.sleep(0.1)
        with pytest.raises(ApiError) as told:
            await machine.use("m0", 1)
        assert (told.value.status, told.value.code) == (429, "overloaded")
        assert told.value.retry_after_s
        waiting[0].cancel()
        await asyncio.sleep(0)
        await machine.use("m0", 1)  # the place of the one who left
        await asyncio.gather(*waiting[1:])

    run(case())


def test_a_client_that_leaves_frees_its_place_before_the_others() -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6), Kind(4)], budget_bytes=10)
        pool = machine.make_pool()
        busy = later(machine.use("m0", 10))
        await asyncio.sleep(2)
        leaving = later(machine.use("m1", 1))
        await asyncio.sleep(1)
        leaving.cancel()
        await asyncio.sleep(0)
        assert pool.state("m1").waiting == 0
        await busy
        await machine.use("m2", 1)
        assert machine.loads == ["m0", "m2"]
        assert machine.closings == []  # nobody was evicted for the one who left

    run(case())


def test_who_asks_again_as_another_leaves_is_served() -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6)], budget_bytes=10)
        machine.make_pool()
        busy = later(machine.use("m0", 5))
        await asyncio.sleep(2)
        leaving = later(machine.use("m1", 1))
        await asyncio.sleep(1)
        leaving.cancel()
        staying = later(machine.use("m1", 1))
        await asyncio.gather(busy, staying)
        assert machine.complaints == []

    run(case())


@pytest.mark.parametrize("leaves_after_s", [0.999, 1.0, 1.001])
def test_a_client_that_leaves_as_its_model_comes_does_not_keep_it(leaves_after_s: float) -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        asked = later(machine.use("m0", 10))
        await asyncio.sleep(leaves_after_s)
        for _ in range(10):  # whatever the order of what happens at that moment
            asked.cancel()
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        assert pool.state("m0").users == 0
        await machine.use("m1", 1)
        assert machine.complaints == []

    run(case())


def test_a_client_that_leaves_when_its_model_is_there_but_not_yet_taken_does_not_keep_it() -> None:
    async def case() -> None:
        machine = Machine([Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        others: list[asyncio.Task[None]] = []

        async def first() -> None:
            async with pool.use("m0"):
                others[0].cancel()  # it has been given the model, and has not woken yet

        asked = later(first())
        await asyncio.sleep(0)
        others.append(later(machine.use("m0", 10)))
        await asyncio.wait([asked, *others])
        assert others[0].cancelled()
        assert pool.state("m0").users == 0

    run(case())


def test_bytes_that_come_free_are_kept_for_the_one_who_waits_for_them() -> None:
    async def case() -> None:
        kinds = [Kind(6, close_s=10), Kind(4), Kind(6), Kind(6), Kind(4)]
        machine = Machine(kinds, budget_bytes=10)
        machine.make_pool()
        await machine.use("m0", 0)
        await machine.use("m1", 0)
        leaving = later(machine.use("m2", 0))  # m0 goes for it
        await asyncio.sleep(0.5)
        leaving.cancel()
        waiting = later(machine.use("m3", 0))  # takes what m0 frees
        await asyncio.sleep(0.5)
        before_s = now_s()
        await machine.use("m4", 0)  # so m1 goes for this one, at once
        assert now_s() == pytest.approx(before_s + 0.1 + 1)
        await waiting
        assert machine.complaints == []

    run(case())


def test_a_model_is_not_loaded_again_before_its_last_copy_is_gone() -> None:
    async def case() -> None:
        machine = Machine([Kind(4, close_s=5)], budget_bytes=10)
        machine.make_pool(idle_unload_s=1)
        await machine.use("m0", 1)
        await asyncio.sleep(2)
        assert machine.closings == ["m0"]
        before_s = now_s()
        await machine.use("m0", 1)
        assert now_s() > before_s + 3
        assert machine.complaints == []

    run(case())


def test_a_pinned_model_stays_and_what_cannot_fit_beside_it_is_told_at_once() -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        pool.pin("m0")
        await machine.use("m0", 1)
        before_s = now_s()
        with pytest.raises(ApiError, match="pinned") as told:
            await machine.use("m1", 1)
        assert now_s() == before_s
        assert told.value.retry_after_s is None
        pool.unpin("m0")
        await machine.use("m1", 1)
        assert machine.closings == ["m0"]

    run(case())


def test_what_a_load_really_took_is_reserved_the_next_time() -> None:
    async def case() -> None:
        machine = Machine([Kind(8, estimate_bytes=4), Kind(4)], budget_bytes=10, allows_excess=True)
        pool = machine.make_pool()
        await machine.use("m0", 1)
        assert pool.state("m0").memory_bytes == 8
        await machine.use("m1", 1)
        assert machine.closings == ["m0"]
        await machine.use("m0", 1)
        assert machine.closings == ["m0", "m1"]
        assert machine.most_held_bytes == 8
        assert machine.complaints == []

    run(case())


def test_a_load_larger_than_thought_makes_way_for_those_in_use_and_waits_its_turn() -> None:
    async def case() -> None:
        machine = Machine([Kind(8, estimate_bytes=4), Kind(4)], budget_bytes=10, allows_excess=True)
        machine.make_pool()
        busy = later(machine.use("m1", 10))
        await asyncio.sleep(2)
        await machine.use("m0", 1)
        assert busy.done()
        assert machine.loads == ["m1", "m0", "m0"]
        assert machine.complaints == []

    run(case())


def test_a_measurement_that_keeps_a_model_out_for_good_is_not_trusted_for_good() -> None:
    """Memory is measured while others work, and their work may seem to be the model's."""

    async def case() -> None:
        machine = Machine([Kind(4, load_s=2)], budget_bytes=10)
        pool = machine.make_pool()
        asked = later(machine.use("m0", 1))
        await asyncio.sleep(1)
        machine.held_bytes += 9
        with pytest.raises(ApiError, match="it takes") as told:
            await asked
        assert told.value.retry_after_s == 1
        machine.held_bytes -= 9
        await asyncio.sleep(1)
        await machine.use("m0", 1)
        assert pool.state("m0").memory_bytes == 4

    run(case())


def test_a_small_model_passes_a_large_one_that_waits_for_others_to_finish() -> None:
    async def case() -> None:
        machine = Machine([Kind(5), Kind(9), Kind(3)], budget_bytes=10)
        machine.make_pool()
        busy = later(machine.use("m0", 10))
        await asyncio.sleep(2)
        large = later(machine.use("m1", 1))
        await asyncio.sleep(0.5)
        await machine.use("m2", 1)
        assert now_s() == pytest.approx(2 + 0.5 + 1 + 1)
        await asyncio.gather(busy, large)
        assert machine.complaints == []

    run(case())


def test_unknown_models_and_models_for_another_job_are_told_apart_from_slow_ones() -> None:
    async def case() -> None:
        machine = Machine([Kind(6)], budget_bytes=10)
        pool = machine.make_pool()
        for name, job in (("m7", None), ("m0", Job.SPEECH)):
            with pytest.raises(ApiError) as told:
                async with pool.use(name, job):
                    pass
            assert (told.value.status, told.value.code) == (404, "model_not_found")
        assert machine.loads == []

    run(case())


def test_the_end_answers_those_who_wait_and_closes_what_is_there() -> None:
    async def case() -> None:
        machine = Machine([Kind(6), Kind(6), Kind(4)], budget_bytes=10)
        pool = machine.make_pool()
        await machine.use("m2", 1)
        loading = later(machine.use("m0", 1))
        await asyncio.sleep(0.5)
        without_room = later(machine.use("m1", 1))
        await asyncio.sleep(0)
        await pool.close()
        for task in (loading, without_room):
            with pytest.raises(ApiError, match="stopping"):
                await task
        assert machine.held_bytes == 0
        with pytest.raises(ApiError, match="stopping"):
            await machine.use("m2", 1)

    run(case())
