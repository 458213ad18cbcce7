"""The pool under any traffic: requests, sizes, failures, clients that leave, models slow to close.

Whatever comes: the budget holds, nobody loses a model in use, no model is loaded twice at once, and
every request is answered.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from selfhost.server.errors import ApiError
from selfhost.server.residency.entry import SelfTestError
from tests.selfhost.server.residency.simulation import Kind, Machine
from tests.selfhost.server.residency.virtual_time import run

MAX_WAIT_S = 20.0

tenths = st.integers(0, 60).map(lambda value: value / 10)


@dataclass(frozen=True)
class Request:
    """At `at_s` somebody asks for a model, to use it `for_s`; and leaves after `leaves_s`."""

    at_s: float
    model: str
    for_s: float
    leaves_s: float | None


@dataclass(frozen=True)
class Order:
    """At `at_s` the operator does something to a model."""

    at_s: float
    what: str
    model: str


def kinds(*, known_sizes: bool) -> st.SearchStrategy[list[Kind]]:
    failure = st.sampled_from([None, None, None, MemoryError, RuntimeError, SelfTestError])
    return st.lists(
        st.builds(
            Kind,
            memory_bytes=st.integers(1, 10),
            estimate_bytes=st.none() if known_sizes else st.integers(1, 10),
            load_s=tenths,
            close_s=tenths,
            failures=st.lists(failure, max_size=3).map(tuple),
        ),
        min_size=1,
        max_size=5,
    )


@st.composite
def scenarios(draw: st.DrawFn, *, known_sizes: bool) -> dict[str, Any]:
    chosen = draw(kinds(known_sizes=known_sizes))
    model = st.integers(0, len(chosen) - 1).map(lambda number: f"m{number}")
    request = st.builds(
        Request, tenths, model, for_s=tenths, leaves_s=st.none() | st.none() | tenths
    )
    order = st.builds(Order, tenths, st.sampled_from(["pin", "unpin", "condemn"]), model)
    return {
        "machine": Machine(chosen, draw(st.integers(5, 20)), allows_excess=not known_sizes),
        "requests": draw(st.lists(request, min_size=1, max_size=25)),
        "orders": draw(st.lists(order, max_size=5)),
        "idle_unload_s": draw(st.none() | st.just(1.0)),
    }


async def play(
    machine: Machine, requests: list[Request], orders: list[Order], idle_unload_s: float | None
) -> Counter[str]:
    """Everything that happens in one scenario; how the requests ended."""
    pool = machine.make_pool(max_wait_s=MAX_WAIT_S, idle_unload_s=idle_unload_s, max_waiting=8)
    ends: Counter[str] = Counter()

    async def ask(request: Request) -> None:
        await asyncio.sleep(request.at_s)
        try:
            await machine.use(request.model, request.for_s)
            ends["served"] += 1
        except ApiError as error:
            ends[str(error.status)] += 1
            # Whatever passes says when to come back.
            if error.status not in (429, 503) or not (
                error.retry_after_s or error.code == "no_room"
            ):
                machine.complain(f"{request} is told {error.status}: {error}")

    async def client(request: Request) -> None:
        asked = asyncio.create_task(ask(request))
        if request.leaves_s is not None:
            await asyncio.wait([asked], timeout=request.at_s + request.leaves_s)
            asked.cancel()
        # Nobody waits longer than he was told, however slow the rest is.
        await asyncio.wait([asked], timeout=request.at_s + MAX_WAIT_S + request.for_s + 1)
        if not asked.done():
            machine.complain(f"{request} is not answered")
        elif asked.cancelled():
            ends["left"] += 1
        else:
            asked.result()

    async def give(order: Order) -> None:
        await asyncio.sleep(order.at_s)
        if order.what == "condemn":
            pool.condemn(order.model, "told so")
            # It may be loaded again while its users have it; that is no second load.
            machine.alive.pop(order.model, None)
        else:
            getattr(pool, order.what)(order.model)

    async with asyncio.TaskGroup() as group:
        for request in requests:
            group.create_task(client(request))
        for order in orders:
            group.create_task(give(order))
    await asyncio.sleep(60)  # loads that nobody waits for any more end, too
    for state in pool.states():
        if state.users or state.waiting:
            machine.complain(f"{state.id} still has {state.users} users, {state.waiting} waiting")
    held = sum(state.memory_bytes or 0 for state in pool.states())
    if not machine.allows_excess and held != machine.held_bytes:
        machine.complain(f"{held} bytes in the books, {machine.held_bytes} held")
    machine.is_ending = True
    await pool.close()
    if machine.held_bytes:
        machine.complain(f"{machine.held_bytes} bytes are never freed")
    return ends


@given(scenarios(known_sizes=True))
@settings(max_examples=200, deadline=None)
def test_the_pool_keeps_its_word_whatever_comes(scenario: dict[str, Any]) -> None:
    ends = run(play(**scenario))
    assert scenario["machine"].complaints == []
    assert ends.total() == len(scenario["requests"])


@given(scenarios(known_sizes=False))
@settings(max_examples=100, deadline=None)
def test_wrong_sizes_in_the_catalogue_never_make_it_promise_more_than_there_is(
    scenario: dict[str, Any],
) -> None:
    ends = run(play(**scenario))
    assert scenario["machine"].complaints == []
    assert ends.total() == len(scenario["requests"])
