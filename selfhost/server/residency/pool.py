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
from dataclasses import dataclass
from typing import Any

from selfhost.errors import SetupError
from selfhost.server.errors import ApiError, unknown_name
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.metrics import Metrics
from selfhost.server.residency import refusals
from selfhost.server.residency.entry import Entry, Job, Loaded
from selfhost.server.residency.failures import Failures
from selfhost.server.residency.ledger import Ledger, Load, NoRoomError, Resident, has_result
from selfhost.server.residency.memory import Meter, resident_bytes
from selfhost.server.residency.rules import Phase
from selfhost.server.residency.threads import Run, on_thread

log = logging.getLogger(__name__)

SELF_TEST_TIMEOUT_S = 120.0


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
        self._metrics = metrics
        self._max_wait_s = max_wait_s
        self._max_waiting = max_waiting
        self._meter = meter
        self._run = run
        self._clock = clock
        self._ledger = Ledger(
            budget_bytes, metrics, idle_unload_s=idle_unload_s, run=run, clock=clock
        )
        self._loads: dict[str, Load] = {}
        self._failures = Failures()
        self._is_closed = False
        self.suspects: set[str] = set()
        """Models that made garbage of a request since somebody last looked: they need a test."""

    # -- for those who need a model --------------------------------------------------------------

    @property
    def budget_bytes(self) -> int:
        return self._ledger.budget_bytes

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
            raise refusals.garbage(error) from error
        except ApiError:
            raise
        except Exception:
            self.suspects.add(resident.entry.id)  # whatever failed, a broken model may be why
            raise
        finally:
            self._ledger.release(resident)

    @asynccontextmanager
    async def probe(self, name: str) -> AsyncGenerator[Any]:
        """The model `name` if it is loaded, else None. Looking at it does not make it used: its
        idle time runs on."""
        resident = self._ledger.current.get(self.resolve(name))
        if resident is None:
            yield None
            return
        resident.users += 1
        try:
            yield resident.model
        finally:
            self._ledger.release(resident, is_use=False)

    def models(self) -> dict[str, Loaded]:
        """The models that requests get now, by id."""
        return {
            id_: one.model for id_, one in self._ledger.current.items() if one.model is not None
        }

    def at_work(self) -> list[Loaded]:
        """Every model that may compute: also one that is being tested, or that ends its work before
        it goes."""
        return [one.model for one in self._ledger.residents if one.model is not None]

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
        self._ledger.pinned.add(self.resolve(name))

    def unpin(self, name: str) -> None:
        self._ledger.pinned.discard(self.resolve(name))
        self._ledger.settle()

    def condemn(self, name: str, reason: str) -> None:
        """Take a loaded model out at once: no further request gets it. Those in flight end, then it
        is closed; the next request loads it anew, after a pause."""
        resident = self._ledger.current.pop(self.resolve(name), None)
        if resident is None:
            return
        log.error("%s is taken out: %s", resident.entry.id, reason)
        self._failures.add(resident.entry.id, reason, self._clock())
        resident.phase = Phase.DRAINING
        if resident.users == 0:
            self._ledger.close(resident)

    async def close(self, timeout_s: float = 10.0) -> None:
        """Take no more requests, and free every model; those that are not free after `timeout_s`
        are left to the end of the process."""
        self._is_closed = True
        for load in list(self._loads.values()):
            self._answer(load, refusals.stopping())
            if not load.has_begun and load.task is not None:
                load.task.cancel()
        if running := [load.task for load in self._loads.values() if load.task is not None]:
            await asyncio.wait(running, timeout=timeout_s)
        for resident in list(self._ledger.current.values()):
            self._ledger.close(resident)
        if closings := [one.closing for one in self._ledger.residents if one.closing is not None]:
            await asyncio.wait(closings, timeout=timeout_s)

    # -- use -------------------------------------------------------------------------------------

    async def _acquire(self, entry: Entry[Any], max_wait_s: float | None) -> Resident:
        if self._is_closed:
            raise refusals.stopping()
        resident = self._ledger.current.get(entry.id)
        if resident is not None:
            resident.users += 1
            return resident
        if (failure := self._failures.recent(entry.id, self._clock())) is not None:
            self._refuse(entry, "failed")
            raise refusals.failed(entry.id, failure)
        load = self._loads.get(entry.id) or self._begin_load(entry)
        if len(load.waiters) >= self._max_waiting:
            self._refuse(entry, "queue_full")
            raise refusals.queue_full(entry.id, len(load.waiters))
        return await self._wait(load, self._max_wait_s if max_wait_s is None else max_wait_s)

    async def _wait(self, load: Load, max_wait_s: float) -> Resident:
        waiter: asyncio.Future[Resident] = asyncio.get_running_loop().create_future()
        load.waiters.append(waiter)
        try:
            async with asyncio.timeout(max_wait_s):
                return await waiter
        except TimeoutError:
            if has_result(waiter):  # it came at the last moment
                return waiter.result()
            self._refuse(load.entry, "timeout")
            raise refusals.too_late(load.entry.id, has_begun=load.has_begun) from None
        except BaseException:
            if has_result(waiter):  # it came just as its client left
                self._ledger.release(waiter.result())
            raise
        finally:
            load.waiters.remove(waiter)
            if not load.waiters and not load.has_begun and load.task is not None:
                # Nobody wants it any more, and nothing has begun: its place is free.
                self._forget(load)
                load.task.cancel()

    # -- loading ---------------------------------------------------------------------------------

    def _begin_load(self, entry: Entry[Any]) -> Load:
        room: asyncio.Future[Resident] = asyncio.get_running_loop().create_future()
        load = self._loads[entry.id] = Load(entry, self._ledger.sizes.expected_bytes(entry), room)
        load.task = asyncio.create_task(self._carry_out(load), name=f"load-{entry.id}")
        return load

    async def _carry_out(self, load: Load) -> None:
        entry = load.entry
        started_s = self._clock()
        try:
            resident = await self._bring_in(load)
        except asyncio.CancelledError:
            self._answer(load, refusals.stopping())
            raise
        except Exception as error:
            self._answer(load, self._failed(entry, error))
        else:
            now_s = self._clock()
            self._failures.clear(entry.id)
            self._metrics.loads.labels(entry.id, "loaded").inc()
            self._metrics.load_seconds.labels(entry.id).observe(now_s - started_s)
            self._ledger.admit(resident)
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
            self._ledger.watch_idle(resident)
        finally:
            self._forget(load)
            self._ledger.settle()

    async def _bring_in(self, load: Load) -> Resident:
        """Find room for a model, load it, test it.

        Raises:
            NoRoomError: it will not fit.
            Exception: what its loader or its test raised.
        """
        entry = load.entry
        while True:
            await self._ledger.closed_before(entry.id)
            resident = await self._ledger.reserve(load)
            try:
                with self._ledger.sizes.changing() as change:
                    before_bytes = await self._run(self._meter)
                    resident.model = await self._run(entry.load)
                    async with asyncio.timeout(SELF_TEST_TIMEOUT_S):
                        await entry.self_test(resident.model)
                    after_bytes = await self._run(self._meter)
            except BaseException:
                await self._give_up(resident)
                raise
            self._ledger.sizes.learn(entry, before_bytes, after_bytes, change)
            if self._ledger.correct(resident):
                return resident
            # It is larger than it was thought to be. Now that its size is known, it waits for
            # enough room like any other.
            log.warning(
                "%s took %.0f MB, for which there is no room now",
                entry.id,
                resident.memory_bytes / 1e6,
            )
            load.begin_again(resident.memory_bytes)
            await self._give_up(resident)
            if not load.waiters:
                raise asyncio.CancelledError

    async def _give_up(self, resident: Resident) -> None:
        """Free what a load took that came to nothing."""
        if resident.model is None:
            self._ledger.drop(resident)
        else:
            await asyncio.shield(self._ledger.close(resident))

    def _failed(self, entry: Entry[Any], error: Exception) -> ApiError:
        """Note why a load failed; what those who wait for it are told."""
        if isinstance(error, NoRoomError):
            self._refuse(entry, "no_room")
            if self._ledger.sizes.forget(entry):
                return refusals.failed(
                    entry.id, self._failures.add(entry.id, str(error), self._clock())
                )
            return refusals.no_room(entry.id, str(error))
        self._metrics.loads.labels(entry.id, "failed").inc()
        if isinstance(error, SetupError):
            return refusals.not_installed(error)
        reason = refusals.reason(error, SELF_TEST_TIMEOUT_S)
        log.error("%s: %s", entry.id, reason, exc_info=error)
        return refusals.failed(entry.id, self._failures.add(entry.id, reason, self._clock()))

    def _answer(self, load: Load, error: Exception) -> None:
        for waiter in load.waiters:
            if not waiter.done():
                waiter.set_exception(error)

    def _forget(self, load: Load) -> None:
        if self._loads.get(load.entry.id) is load:
            del self._loads[load.entry.id]

    # -- telling ---------------------------------------------------------------------------------

    def _state(self, entry: Entry[Any]) -> ModelState:
        mine = [one for one in self._ledger.residents if one.entry is entry]
        load = self._loads.get(entry.id)
        current = self._ledger.current.get(entry.id)
        failure = self._failures.recent(entry.id, self._clock())
        phase = current.phase if current else Phase.LOADING if load else None
        if phase is None and mine:
            phase = mine[-1].phase
        return ModelState(
            id=entry.id,
            job=entry.job,
            state=phase,
            memory_bytes=sum(one.memory_bytes for one in mine) if mine else None,
            expected_bytes=self._ledger.sizes.expected_bytes(entry),
            users=sum(one.users for one in mine),
            waiting=len(load.waiters) if load else 0,
            is_pinned=entry.id in self._ledger.pinned,
            failure=failure.reason if failure else None,
        )

    def _refuse(self, entry: Entry[Any], reason: str) -> None:
        self._metrics.refusals.labels(entry.id, reason).inc()
