"""A machine whose models are simulated, and which notices every wrong that a pool can do to it.

Its loads and closings take virtual time and fail on demand, which real ones cannot be made to do a
thousand times over. What is under test, the pool and its rules, is the real one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job, SelfTestError
from selfhost.server.residency.pool import Pool


@dataclass(frozen=True)
class Kind:
    """How the copies of one model behave.

    Args:
        memory_bytes: what one really takes, from the beginning of its load.
        estimate_bytes: what the catalogue says that it takes; None for the truth.
        failures: of the first loads, in turn: the error of each, None where it loads well. Later
            ones load well.
    """

    memory_bytes: int
    estimate_bytes: int | None = None
    load_s: float = 1.0
    close_s: float = 0.1
    failures: Sequence[type[Exception] | None] = ()


@dataclass(eq=False)
class Model:
    machine: Machine
    id: str
    number: int
    users: int = 0
    is_closed: bool = False

    async def close(self) -> None:
        await self.machine.close(self)


@dataclass
class Machine:
    """Holds models, and complains.

    `allows_excess`: the catalogue tells sizes wrong, so that only what is promised must fit.
    """

    kinds: Sequence[Kind]
    budget_bytes: int
    allows_excess: bool = False
    held_bytes: int = 0
    most_held_bytes: int = 0
    loads: list[str] = field(default_factory=list)
    closings: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    pinned: set[str] = field(default_factory=set)
    loading: set[str] = field(default_factory=set)
    alive: dict[str, Model] = field(default_factory=dict)
    is_ending: bool = False
    pool: Pool | None = None

    def make_pool(self, **settings: Any) -> Pool:
        loop = asyncio.get_running_loop()
        self.pool = Pool(
            [self._entry(number, kind) for number, kind in enumerate(self.kinds)],
            budget_bytes=self.budget_bytes,
            metrics=Metrics(),
            meter=lambda: self.held_bytes,
            run=self.run,
            clock=loop.time,
            **settings,
        )
        return self.pool

    @staticmethod
    async def run(work: Callable[[], Any]) -> Any:
        result = work()
        return await result if asyncio.iscoroutine(result) else result

    def complain(self, text: str) -> None:
        self.complaints.append(f"{asyncio.get_running_loop().time():.3f} s: {text}")

    def _entry(self, number: int, kind: Kind) -> Entry[Any]:
        name = f"m{number}"
        estimate = kind.memory_bytes if kind.estimate_bytes is None else kind.estimate_bytes
        return Entry(name, Job.EMBEDDING, estimate, lambda: self.load(name, kind), self._test)

    async def load(self, name: str, kind: Kind) -> Model:
        if name in self.loading:
            self.complain(f"two loads of {name} at once")
        if name in self.alive:
            self.complain(f"{name} is loaded while a copy of it is there")
        turn = self.loads.count(name)
        failure = kind.failures[turn] if turn < len(kind.failures) else None
        self.loads.append(name)
        self.loading.add(name)
        self._take(kind.memory_bytes)
        try:
            await asyncio.sleep(kind.load_s)
        finally:
            self.loading.discard(name)
        if failure is not None and failure is not SelfTestError:
            self.held_bytes -= kind.memory_bytes
            raise failure("simulated")
        model = Model(self, name, turn)
        self.alive[name] = model
        return model

    async def _test(self, model: Model) -> None:
        await asyncio.sleep(0)  # so that things that happen at once meet
        failures = self.kinds[int(model.id[1:])].failures
        if model.number < len(failures) and failures[model.number] is SelfTestError:
            raise SelfTestError("simulated garbage")

    async def close(self, model: Model) -> None:
        if model.is_closed:
            self.complain(f"{model.id} is closed twice")
        if model.users and not self.is_ending:
            self.complain(f"{model.id} is closed in use")
        model.is_closed = True
        self.closings.append(model.id)
        kind = self.kinds[int(model.id[1:])]
        await asyncio.sleep(kind.close_s)
        if self.alive.get(model.id) is model:
            del self.alive[model.id]
        self.held_bytes -= kind.memory_bytes

    async def use(self, name: str, for_s: float, **settings: Any) -> None:
        """A request: gets its model and works for a while with it."""
        assert self.pool is not None
        async with self.pool.use(name, **settings) as model:
            if model.is_closed or model.id != name:
                self.complain(f"a request for {name} got {model.id}, closed: {model.is_closed}")
            model.users += 1
            try:
                await asyncio.sleep(for_s)
                if model.is_closed and not self.is_ending:
                    self.complain(f"{name} was closed under a request")
            finally:
                model.users -= 1

    def _take(self, memory_bytes: int) -> None:
        self.held_bytes += memory_bytes
        self.most_held_bytes = max(self.most_held_bytes, self.held_bytes)
        assert self.pool is not None
        promised = sum(one.memory_bytes or 0 for one in self.pool.states())
        if promised > self.budget_bytes:
            self.complain(f"{promised} of {self.budget_bytes} bytes are promised")
        if self.held_bytes > self.budget_bytes and not self.allows_excess:
            self.complain(f"{self.held_bytes} of {self.budget_bytes} bytes are held")
