"""The models in memory: loaded when they are asked for, shared, evicted when another needs room.

There is no lock. Everything here runs on the event loop, and no state is read before an `await` and
trusted after it: what must hold together changes between two awaits. What blocks (loading, closing)
runs on threads that touch no state. So a model that closes slowly holds up nobody but those who
wait for its memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from selfhost.errors import SetupError
from selfhost.server.errors import ApiError, unknown_name
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.metrics import Metrics
from selfhost.server.residency import rules
from selfhost.server.residency.entry import Entry, Job, Loaded, SelfTestError
from selfhost.server.residency.failures import Failures
from selfhost.server.residency.memory import Meter, give_back, resident_bytes
from selfhost.server.residency.rules import Evict, Phase, Refuse, Reserve, Wait
from selfhost.server.residency.sizes import Sizes
from selfhost.server.residency.threads import Run, on_thread

log = logging.getLogger(__name__)

SELF_TEST_TIMEOUT_S = 120.0
COME_BACK_S = 5
TIMER_MARGIN_S = 0.02  # an event loop's timer may be a little early


@dataclass(frozen=True)
class ModelState:
    """What the pool says of one model.

    Args:
        memory_bytes: what it holds; None if it holds nothing.
        expected_bytes: what its next load will reserve.
        failure: why it could not be loaded, or was taken out, if it may not be tried yet.
    """

    id: str
    job: Job
    state: Phase | None
    memory_bytes: int | None
    expected_bytes: int
    users: int
    waiting: int
    is_pinned: bool
    failure: str | None


@dataclass(eq=False)
class _Resident:
    entry: Entry[Any]
    memory_bytes: int
    phase: Phase = Phase.LOADING
    model: Loaded | None = None
    users: int = 0
    idle_since_s: float = 0.0
    idle_timer: asyncio.TimerHandle | None = None
    closing: asyncio.Task[None] | None = None


@dataclass(eq=False)
class _Load:
    """One load, and who waits for it.

    Args:
        room: set once it has its memory.
        is_promised: enough is being freed for it.
    """

    entry: Entry[Any]
    wanted_bytes: int
    room: asyncio.Future[_Resident]
    waiters: set[asyncio.Future[_Resident]] = field(default_factory=set)
    is_promised: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def has_begun(self) -> bool:
        return self.room.done()


class _NoRoomError(Exception):
    """The model will not fit."""


class Pool:
    """Gives loaded models to whoever asks, within one budget.

    Args:
        entries: every model that can be asked for.
        budget_bytes: what all of them together may hold.
        max_wait_s: how long a request waits for its model.
        max_waiting: how many requests may wait for one model.
        idle_unload_s: models that nobody used for so long are closed; None keeps them until
            another needs their memory.
        meter: reads the memory that is held now, on a thread.
        run: does blocking work elsewhere.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        entries: Iterable[Entry[Any]],
        *,
        budget_bytes: int,
        metrics: Metrics,
        max_wait_s: float = 60.0,
        max_waiting: int = 64,
        idle_unload_s: float | None = None,
        meter: Meter = resident_bytes,
        run: Run = on_thread,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self._names = {
            name: entry.id
            for entry in self._entries.values()
            for name in (entry.id, *entry.aliases)
        }
        self.budget_bytes = budget_bytes
        self._metrics = metrics
        self._max_wait_s = max_wait_s
        self._max_waiting = max_waiting
        self._idle_unload_s = idle_unload_s
        self._meter = meter
        self._run = run
        self._clock = clock
        self._current: dict[str, _Resident] = {}  # loaded, by id: what new requests get
        self._residents: list[_Resident] = []  # whatever holds memory
        self._loads: dict[str, _Load] = {}
        self._wishes: list[_Load] = []  # that have no memory yet, the oldest first
        self._pinned: set[str] = set()
        self._failures = Failures()
        self._sizes = Sizes()
        self._is_closed = False
        self.suspects: set[str] = set()
        """Models that made garbage of a request since somebody last looked: they need a test."""
        metrics.budget_bytes.set(budget_bytes)

    # -- for those who need a model --------------------------------------------------------------

    @property
    def entries(self) -> Mapping[str, Entry[Any]]:
        return self._entries

    def resolve(self, name: str, job: Job | None = None) -> str:
        """The id of the model that `name` means.

        Raises:
            ApiError: there is none of that name that does this job (404).
        """
        found = self._names.get(name)
        if found is None or (job is not None and self._entries[found].job is not job):
            known = [
                known
                for known, id_ in self._names.items()
                if job is None or self._entries[id_].job is job
            ]
            raise unknown_name("model", name, known)
        return found

    @asynccontextmanager
    async def use(
        self, name: str, job: Job | None = None, *, max_wait_s: float | None = None
    ) -> AsyncGenerator[Any]:
        """The model `name`, loaded and tested; it stays at least until the block is left.

        Args:
            job: what it must be able to do; None takes a model of any kind.
            max_wait_s: how long to wait for it, instead of the pool's own limit.

        Raises:
            ApiError: no such model (404), too many wait for it already (429), it could not be
                loaded, or not in time (503), or what it made in the block is garbage (500).
        """
        resident = await self._acquire(self._entries[self.resolve(name, job)], max_wait_s)
        try:
            yield resident.model
        except BrokenModelError as error:
            # Perhaps the model is broken, perhaps only this input is too much for it. Its test
            # tells which; taking it out here would let one bad input take it from everybody.
            log.error("%s gave no answer: %s", resident.entry.id, error)
            self.suspects.add(resident.entry.id)
            raise _garbage(error) from error
        finally:
            self._release(resident)

    @asynccontextmanager
    async def probe(self, name: str) -> AsyncGenerator[Any]:
        """The model `name` if it is loaded, else None. Looking at it does not make it used: its
        idle time runs on."""
        resident = self._current.get(self.resolve(name))
        if resident is None:
            yield None
            return
        resident.users += 1
        try:
            yield resident.model
        finally:
            self._release(resident, is_use=False)

    def models(self) -> dict[str, Loaded]:
        """The models that requests get now, by id."""
        return {id_: one.model for id_, one in self._current.items() if one.model is not None}

    def at_work(self) -> list[Loaded]:
        """Every model that may compute: also one that is being tested, or that ends its work before
        it goes."""
        return [one.model for one in self._residents if one.model is not None]

    def states(self) -> list[ModelState]:
        """Every model, in the catalogue's order."""
        return [self._state(entry) for entry in self._entries.values()]

    def state(self, name: str) -> ModelState:
        """
        Raises:
            ApiError: there is no such model (404).
        """
        return self._state(self._entries[self.resolve(name)])

    # -- for those who run the server ------------------------------------------------------------

    def pin(self, name: str) -> None:
        """Never evict it. It is not loaded by this."""
        self._pinned.add(self.resolve(name))

    def unpin(self, name: str) -> None:
        self._pinned.discard(self.resolve(name))
        self._settle()

    def condemn(self, name: str, reason: str) -> None:
        """Take a loaded model out at once: no further request gets it. Those in flight end, then it
        is closed; the next request loads it anew, after a pause."""
        resident = self._current.pop(self.resolve(name), None)
        if resident is None:
            return
        log.error("%s is taken out: %s", resident.entry.id, reason)
        self._failures.add(resident.entry.id, reason, self._clock())
        resident.phase = Phase.DRAINING
        if resident.users == 0:
            self._close(resident)

    async def close(self, timeout_s: float = 10.0) -> None:
        """Take no more requests, and free every model; those that are not free after `timeout_s`
        are left to the end of the process."""
        self._is_closed = True
        for load in list(self._loads.values()):
            self._answer(load, _stopping())
            if not load.has_begun and load.task is not None:
                load.task.cancel()
        if running := [load.task for load in self._loads.values() if load.task is not None]:
            await asyncio.wait(running, timeout=timeout_s)
        for resident in list(self._current.values()):
            self._close(resident)
        if closings := [one.closing for one in self._residents if one.closing is not None]:
            await asyncio.wait(closings, timeout=timeout_s)

    # -- use -------------------------------------------------------------------------------------

    async def _acquire(self, entry: Entry[Any], max_wait_s: float | None) -> _Resident:
        if self._is_closed:
            raise _stopping()
        resident = self._current.get(entry.id)
        if resident is not None:
            resident.users += 1
            return resident
        if (failure := self._failures.recent(entry.id, self._clock())) is not None:
            self._refuse(entry, "failed")
            raise ApiError(
                503,
                f"{entry.id} cannot serve: {failure.reason}. It is tried again in "
                f"{failure.seconds_left} s.",
                code="model_failed",
                retry_after_s=failure.seconds_left,
            )
        load = self._loads.get(entry.id) or self._begin_load(entry)
        if len(load.waiters) >= self._max_waiting:
            self._refuse(entry, "queue_full")
            raise ApiError(
                429,
                f"{len(load.waiters)} requests already wait for {entry.id} to load; try again "
                "soon.",
                code="overloaded",
                retry_after_s=COME_BACK_S,
            )
        return await self._wait(load, self._max_wait_s if max_wait_s is None else max_wait_s)

    async def _wait(self, load: _Load, max_wait_s: float) -> _Resident:
        waiter: asyncio.Future[_Resident] = asyncio.get_running_loop().create_future()
        load.waiters.add(waiter)
        try:
            async with asyncio.timeout(max_wait_s):
                return await waiter
        except TimeoutError:
            if _has_result(waiter):  # it came at the last moment
                return waiter.result()
            self._refuse(load.entry, "timeout")
            why = "is still loading" if load.has_begun else "waits for memory that others use"
            raise ApiError(
                503,
                f"{load.entry.id} {why}; try again in a moment.",
                code="model_loading",
                retry_after_s=COME_BACK_S,
            ) from None
        except BaseException:
            if _has_result(waiter):  # it came just as its client left
                self._release(waiter.result())
            raise
        finally:
            load.waiters.discard(waiter)
            if not load.waiters and not load.has_begun and load.task is not None:
                # Nobody wants it any more, and nothing has begun: its place is free.
                self._forget(load)
                load.task.cancel()

    def _release(self, resident: _Resident, *, is_use: bool = True) -> None:
        resident.users -= 1
        if is_use:
            resident.idle_since_s = self._clock()
        if resident.users == 0:
            if resident.phase is Phase.DRAINING:
                self._close(resident)
            self._watch_idle(resident)
        self._settle()

    # -- loading ---------------------------------------------------------------------------------

    def _begin_load(self, entry: Entry[Any]) -> _Load:
        room: asyncio.Future[_Resident] = asyncio.get_running_loop().create_future()
        load = self._loads[entry.id] = _Load(entry, self._sizes.expected_bytes(entry), room)
        load.task = asyncio.create_task(self._carry_out(load), name=f"load-{entry.id}")
        return load

    async def _carry_out(self, load: _Load) -> None:
        entry = load.entry
        started_s = self._clock()
        try:
            resident = await self._bring_in(load)
        except asyncio.CancelledError:
            self._answer(load, _stopping())
            raise
        except Exception as error:
            self._answer(load, self._failed(entry, error))
        else:
            now_s = self._clock()
            self._failures.clear(entry.id)
            self._metrics.loads.labels(entry.id, "loaded").inc()
            self._metrics.load_seconds.labels(entry.id).observe(now_s - started_s)
            resident.phase = Phase.LOADED
            resident.idle_since_s = now_s
            self._current[entry.id] = resident
            # Counted here, not when each waiter wakes: in between it would pass for idle.
            for waiter in load.waiters:
                if not waiter.done():
                    resident.users += 1
                    waiter.set_result(resident)
            log.info(
                "%s is loaded: %.1f s, %.0f MB",
                entry.id,
                now_s - started_s,
                resident.memory_bytes / 1e6,
            )
            self._watch_idle(resident)
        finally:
            self._forget(load)
            self._settle()

    async def _bring_in(self, load: _Load) -> _Resident:
        """Find room for a model, load it, test it.

        Raises:
            _NoRoomError: it will not fit.
            Exception: what its loader or its test raised.
        """
        entry = load.entry
        while True:
            await self._closed_before(entry.id)
            resident = await self._room(load)
            try:
                with self._sizes.changing() as change:
                    before_bytes = await self._run(self._meter)
                    resident.model = await self._run(entry.load)
                    async with asyncio.timeout(SELF_TEST_TIMEOUT_S):
                        await entry.self_test(resident.model)
                    taken_bytes = await self._run(self._meter) - before_bytes
            except BaseException:
                await self._give_up(resident)
                raise
            self._sizes.learn(entry, taken_bytes, change)
            resident.memory_bytes = self._sizes.expected_bytes(entry)
            victims = rules.after_measuring(
                self._snapshot(),
                budget_bytes=self.budget_bytes,
                promised_bytes=self._promised_bytes(),
            )
            if victims is not None:
                self._evict(victims)
                self._show(entry.id)
                return resident
            # It is larger than it was thought to be. Now that its size is known, it waits for
            # enough room like any other.
            log.warning(
                "%s took %.0f MB, for which there is no room now",
                entry.id,
                resident.memory_bytes / 1e6,
            )
            load.wanted_bytes = resident.memory_bytes
            load.room = asyncio.get_running_loop().create_future()
            load.is_promised = False
            await self._give_up(resident)
            if not load.waiters:
                raise asyncio.CancelledError

    async def _room(self, load: _Load) -> _Resident:
        """Wait until the load's memory is reserved."""
        self._wishes.append(load)
        self._settle()
        try:
            return await load.room
        except asyncio.CancelledError:
            if _has_result(load.room):
                self._residents.remove(load.room.result())
            raise
        finally:
            if load in self._wishes:
                self._wishes.remove(load)

    async def _give_up(self, resident: _Resident) -> None:
        """Free what a load took that came to nothing."""
        if resident.model is None:
            self._residents.remove(resident)
            self._show(resident.entry.id)
        else:
            await asyncio.shield(self._close(resident))

    def _failed(self, entry: Entry[Any], error: Exception) -> ApiError:
        """Note why a load failed; what those who wait for it are told."""
        if isinstance(error, _NoRoomError):
            self._refuse(entry, "no_room")
            return ApiError(503, f"{entry.id} cannot be loaded: {error}.", code="no_room")
        self._metrics.loads.labels(entry.id, "failed").inc()
        if isinstance(error, SetupError):
            return ApiError(503, str(error), code="not_installed")
        if isinstance(error, SelfTestError | BrokenModelError):
            reason = f"it failed its test: {error}"
        elif isinstance(error, MemoryError):
            reason = "there was too little memory to load it"
        elif isinstance(error, TimeoutError):
            reason = f"its test took longer than {SELF_TEST_TIMEOUT_S:.0f} s"
        else:
            reason = f"its load failed ({type(error).__name__}; the server's log says more)"
        log.error("%s: %s", entry.id, reason, exc_info=error)
        failure = self._failures.add(entry.id, reason, self._clock())
        return ApiError(
            503,
            f"{entry.id} cannot serve: {reason}.",
            code="model_failed",
            retry_after_s=failure.seconds_left,
        )

    def _answer(self, load: _Load, error: Exception) -> None:
        for waiter in load.waiters:
            if not waiter.done():
                waiter.set_exception(error)

    def _forget(self, load: _Load) -> None:
        if self._loads.get(load.entry.id) is load:
            del self._loads[load.entry.id]

    # -- memory ----------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Let in the loads that there is room for now, the oldest first."""
        for load in list(self._wishes):
            match rules.decide(
                load.wanted_bytes,
                self._snapshot(),
                budget_bytes=self.budget_bytes,
                promised_bytes=self._promised_bytes(but=load),
            ):
                case Reserve():
                    resident = _Resident(load.entry, load.wanted_bytes)
                    self._residents.append(resident)
                    self._wishes.remove(load)
                    self._show(load.entry.id)
                    load.room.set_result(resident)
                case Evict(victims):
                    load.is_promised = True
                    self._evict(victims)
                case Wait(is_promised):
                    load.is_promised = is_promised
                case Refuse(reason):
                    self._wishes.remove(load)
                    load.room.set_exception(_NoRoomError(reason))

    def _promised_bytes(self, but: _Load | None = None) -> int:
        return sum(
            load.wanted_bytes for load in self._wishes if load.is_promised and load is not but
        )

    def _snapshot(self) -> list[rules.Resident]:
        return [
            rules.Resident(
                one.entry.id,
                one.memory_bytes,
                one.phase,
                one.users,
                one.entry.id in self._pinned,
                one.idle_since_s,
            )
            for one in self._residents
        ]

    def _evict(self, victims: Iterable[str], reason: str = "memory") -> None:
        for id_ in victims:
            self._metrics.evictions.labels(id_, reason).inc()
            self._close(self._current[id_])

    def _close(self, resident: _Resident) -> asyncio.Task[None]:
        """Free a model that nobody uses, and count its bytes until that is done."""
        if self._current.get(resident.entry.id) is resident:
            del self._current[resident.entry.id]
        resident.phase = Phase.CLOSING
        if resident.idle_timer is not None:
            resident.idle_timer.cancel()
        resident.closing = asyncio.create_task(
            self._carry_out_close(resident), name=f"close-{resident.entry.id}"
        )
        return resident.closing

    async def _carry_out_close(self, resident: _Resident) -> None:
        model, resident.model = resident.model, None
        with self._sizes.changing():
            try:
                if model is not None:
                    await self._run(model.close)
            except Exception:
                log.exception("%s did not close well", resident.entry.id)
            del model  # or its memory could not be given back
            await self._run(give_back)
        self._residents.remove(resident)
        self._show(resident.entry.id)
        log.info("%s is unloaded", resident.entry.id)
        self._settle()

    async def _closed_before(self, id_: str) -> None:
        """Wait while an earlier copy of the model is being closed: two might not get on."""
        closings = [
            one.closing
            for one in self._residents
            if one.entry.id == id_ and one.closing is not None
        ]
        if closings:
            await asyncio.wait(closings)

    def _watch_idle(self, resident: _Resident) -> None:
        limit_s = self._idle_unload_s
        if limit_s is None or resident.phase is not Phase.LOADED:
            return
        if resident.idle_timer is not None:
            resident.idle_timer.cancel()
        due_s = max(0.0, resident.idle_since_s + limit_s - self._clock())
        resident.idle_timer = asyncio.get_running_loop().call_later(
            due_s + TIMER_MARGIN_S, self._unload_idle, limit_s
        )

    def _unload_idle(self, limit_s: float) -> None:
        idle = rules.idle_too_long(self._snapshot(), now_s=self._clock(), limit_s=limit_s)
        self._evict(idle, reason="idle")

    # -- telling ---------------------------------------------------------------------------------

    def _state(self, entry: Entry[Any]) -> ModelState:
        mine = [one for one in self._residents if one.entry is entry]
        load = self._loads.get(entry.id)
        current = self._current.get(entry.id)
        failure = self._failures.recent(entry.id, self._clock())
        phase = current.phase if current else Phase.LOADING if load else None
        if phase is None and mine:
            phase = mine[-1].phase
        return ModelState(
            id=entry.id,
            job=entry.job,
            state=phase,
            memory_bytes=sum(one.memory_bytes for one in mine) if mine else None,
            expected_bytes=self._sizes.expected_bytes(entry),
            users=sum(one.users for one in mine),
            waiting=len(load.waiters) if load else 0,
            is_pinned=entry.id in self._pinned,
            failure=failure.reason if failure else None,
        )

    def _show(self, id_: str) -> None:
        held_bytes = sum(one.memory_bytes for one in self._residents if one.entry.id == id_)
        self._metrics.resident_bytes.labels(id_).set(held_bytes)

    def _refuse(self, entry: Entry[Any], reason: str) -> None:
        self._metrics.refusals.labels(entry.id, reason).inc()


def _has_result(future: asyncio.Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _stopping() -> ApiError:
    return ApiError(503, "The server is stopping.", code="stopping", retry_after_s=COME_BACK_S)


def _garbage(error: BrokenModelError) -> ApiError:
    return ApiError(
        500,
        f"{error}. None of it was sent. The model is tested now, and does not serve if it fails; "
        "try again in a moment, and if this comes back, with another input.",
        code="model_output_invalid",
    )
