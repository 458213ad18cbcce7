"""What holds memory, and which loads wait for some. Does what the rules decide.

Like the pool, whose part it is, it belongs to the event loop: see there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from selfhost.server.metrics import Metrics
from selfhost.server.residency import rules
from selfhost.server.residency.entry import Entry, Loaded
from selfhost.server.residency.memory import give_back
from selfhost.server.residency.rules import Evict, Phase, Refuse, Reserve, Wait
from selfhost.server.residency.sizes import Sizes
from selfhost.server.residency.threads import Run

log = logging.getLogger(__name__)

TIMER_MARGIN_S = 0.02  # an event loop's timer may be a little early


@dataclass(eq=False)
class Resident:
    entry: Entry[Any]
    memory_bytes: int
    phase: Phase = Phase.LOADING
    model: Loaded | None = None
    users: int = 0
    idle_since_s: float = 0.0
    idle_timer: asyncio.TimerHandle | None = None
    closing: asyncio.Task[None] | None = None


@dataclass(eq=False)
class Load:
    """One load, and who waits for it.

    Args:
        room: set once it has its memory.
        is_promised: enough is being freed for it.
    """

    entry: Entry[Any]
    wanted_bytes: int
    room: asyncio.Future[Resident]
    waiters: list[asyncio.Future[Resident]] = field(default_factory=list)
    is_promised: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def has_begun(self) -> bool:
        return self.room.done()

    def begin_again(self, wanted_bytes: int) -> None:
        """It needs more memory than it got."""
        self.wanted_bytes = wanted_bytes
        self.room = asyncio.get_running_loop().create_future()
        self.is_promised = False


class NoRoomError(Exception):
    """The model will not fit."""


class Ledger:
    """The memory of one pool.

    Args:
        idle_unload_s: models that nobody used for so long are closed; None keeps them.
        run, clock: as for the pool.
    """

    def __init__(
        self,
        budget_bytes: int,
        metrics: Metrics,
        *,
        idle_unload_s: float | None,
        run: Run,
        clock: Callable[[], float],
    ) -> None:
        self.budget_bytes = budget_bytes
        self.sizes = Sizes()
        self.current: dict[str, Resident] = {}
        """By id, what new requests get."""
        self.residents: list[Resident] = []
        """Whatever holds memory."""
        self.pinned: set[str] = set()
        self._metrics = metrics
        self._idle_unload_s = idle_unload_s
        self._run = run
        self._clock = clock
        self._waiting: list[Load] = []  # that have no memory yet, the oldest first
        metrics.budget_bytes.set(budget_bytes)

    async def reserve(self, load: Load) -> Resident:
        """Wait until the load has its memory.

        Raises:
            NoRoomError: it will not fit.
        """
        self._waiting.append(load)
        self.settle()
        try:
            return await load.room
        except asyncio.CancelledError:
            if has_result(load.room):
                self.residents.remove(load.room.result())
            raise
        finally:
            if load in self._waiting:
                self._waiting.remove(load)

    def admit(self, resident: Resident) -> None:
        """Let requests have it, now that it is loaded and tested."""
        resident.phase = Phase.LOADED
        resident.idle_since_s = self._clock()
        self.current[resident.entry.id] = resident

    def correct(self, resident: Resident) -> bool:
        """Count what the loaded model really takes, as far as that is known.

        Returns:
            Whether it can stay. If not, what it takes is not there: others in use have it.
        """
        resident.memory_bytes = self.sizes.expected_bytes(resident.entry)
        self._show(resident.entry.id)
        victims = rules.after_measuring(
            self._snapshot(),
            budget_bytes=self.budget_bytes,
            promised_bytes=self._promised_bytes(),
        )
        if victims is None:
            return False
        self.evict(victims, "memory")
        return True

    def release(self, resident: Resident, *, is_use: bool = True) -> None:
        """One user less. The idle time begins, unless it was a look and no use."""
        resident.users -= 1
        if is_use:
            resident.idle_since_s = self._clock()
        if resident.users == 0 and resident.phase is Phase.DRAINING:
            self.close(resident)
        self.watch_idle(resident)
        self.settle()

    def drop(self, resident: Resident) -> None:
        """Its load came to nothing, and has freed what it took."""
        self.residents.remove(resident)
        self._show(resident.entry.id)

    # -- memory ----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let in the loads that there is room for now, the oldest first."""
        for load in list(self._waiting):
            match rules.decide(
                load.wanted_bytes,
                self._snapshot(),
                budget_bytes=self.budget_bytes,
                promised_bytes=self._promised_bytes(but=load),
            ):
                case Reserve():
                    resident = Resident(load.entry, load.wanted_bytes)
                    self.residents.append(resident)
                    self._waiting.remove(load)
                    self._show(load.entry.id)
                    load.room.set_result(resident)
                case Evict(victims):
                    load.is_promised = True
                    self.evict(victims, "memory")
                case Wait(is_promised):
                    load.is_promised = is_promised
                case Refuse(reason):
                    self._waiting.remove(load)
                    load.room.set_exception(NoRoomError(reason))

    def _promised_bytes(self, but: Load | None = None) -> int:
        return sum(
            load.wanted_bytes for load in self._waiting if load.is_promised and load is not but
        )

    def _snapshot(self) -> list[rules.Resident]:
        return [
            rules.Resident(
                one.entry.id,
                one.memory_bytes,
                one.phase,
                one.users,
                one.entry.id in self.pinned,
                one.idle_since_s,
            )
            for one in self.residents
        ]

    def evict(self, victims: Iterable[str], reason: str) -> None:
        for id_ in victims:
            self._metrics.evictions.labels(id_, reason).inc()
            self.close(self.current[id_])

    def close(self, resident: Resident) -> asyncio.Task[None]:
        """Free a model that nobody uses, and count its bytes until that is done."""
        if self.current.get(resident.entry.id) is resident:
            del self.current[resident.entry.id]
        resident.phase = Phase.CLOSING
        if resident.idle_timer is not None:
            resident.idle_timer.cancel()
        resident.closing = asyncio.create_task(
            self._carry_out_close(resident), name=f"close-{resident.entry.id}"
        )
        return resident.closing

    async def _carry_out_close(self, resident: Resident) -> None:
        model, resident.model = resident.model, None
        with self.sizes.changing():
            try:
                if model is not None:
                    await self._run(model.close)
            except Exception:
                log.exception("%s did not close well", resident.entry.id)
            del model  # or its memory could not be given back
            await self._run(give_back)
        self.residents.remove(resident)
        self._show(resident.entry.id)
        log.info("%s is unloaded", resident.entry.id)
        self.settle()

    async def closed_before(self, id_: str) -> None:
        """Wait while an earlier copy of the model is being closed: two might not get on."""
        closings = [
            one.closing for one in self.residents if one.entry.id == id_ and one.closing is not None
        ]
        if closings:
            await asyncio.wait(closings)

    def watch_idle(self, resident: Resident) -> None:
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
        self.evict(idle, reason="idle")

    def _show(self, id_: str) -> None:
        held_bytes = sum(one.memory_bytes for one in self.residents if one.entry.id == id_)
        self._metrics.resident_bytes.labels(id_).set(held_bytes)


def has_result(future: asyncio.Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
