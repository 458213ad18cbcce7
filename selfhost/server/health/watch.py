"""Tests the loaded models again and again, and says which of them must not serve any more."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from selfhost.server.errors import ApiError
from selfhost.server.health.progress import Progress, State
from selfhost.server.health.schedule import Schedule
from selfhost.server.metrics import Metrics
from selfhost.server.residency.pool import Pool

log = logging.getLogger(__name__)

TEST_TIMEOUT_S = 60.0


@dataclass(eq=False)
class _Watched:
    """One model as it was loaded; loaded again, it is another."""

    model: object
    tested_at_s: float
    is_in_test: bool = False


class Watch:
    """Runs the tests of whatever the pool has loaded.

    A test that fails takes the model out at once. A test that does not end says nothing: the model
    may have much to do. Whether it is hung is told by its progress.

    Args:
        on_failure: called with what failed, once for each failure; the process should then end,
            since what spoilt one model's memory may have spoilt more.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        pool: Pool,
        schedule: Schedule,
        metrics: Metrics,
        on_failure: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool = pool
        self._schedule = schedule
        self._metrics = metrics
        self._on_failure = on_failure
        self._clock = clock
        self._watched: dict[str, _Watched] = {}
        self._tests: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                self._begin_one_test()
                await asyncio.sleep(self._schedule.look_every_s)
        finally:
            for test in self._tests:
                test.cancel()

    def _begin_one_test(self) -> None:
        """At most one, so that models loaded together do not all take the cores at once."""
        now_s = self._clock()
        models = self._pool.models()
        self._watched = {
            id_: self._watched.get(id_) or _Watched(model, now_s) for id_, model in models.items()
        }
        for id_, model in models.items():
            watched = self._watched[id_]
            if watched.model is not model:  # unloaded and loaded again
                watched = self._watched[id_] = _Watched(model, now_s)
            if not watched.is_in_test and self._schedule.is_due(
                since_test_s=now_s - watched.tested_at_s,
                is_idle=_is_idle(model),
                is_suspect=id_ in self._pool.suspects,
            ):
                self._pool.suspects.discard(id_)
                test = asyncio.create_task(self._test(id_, watched), name=f"self-test-{id_}")
                self._tests.add(test)
                test.add_done_callback(self._tests.discard)
                return

    async def _test(self, id_: str, watched: _Watched) -> None:
        watched.is_in_test = True
        try:
            outcome = await self._judge(id_, watched)
            self._metrics.self_tests.labels(id_, outcome).inc()
        finally:
            watched.is_in_test = False

    async def _judge(self, id_: str, watched: _Watched) -> str:
        began_s = self._clock()
        try:
            async with self._pool.probe(id_) as model, asyncio.timeout(TEST_TIMEOUT_S):
                if model is not watched.model:
                    return "unloaded"
                await self._pool.entries[id_].self_test(model)
        except TimeoutError:
            log.warning("%s did not end its test within %.0f s", id_, TEST_TIMEOUT_S)
            watched.tested_at_s = self._clock()
            return "unfinished"
        except ApiError as error:  # it has too much to do, or is closing
            log.debug("%s was not tested: %s", id_, error)
            return "unfinished"
        except Exception as error:
            in_use_s = began_s - watched.tested_at_s
            log.exception("%s failed its test, %.0f s after the last that it passed", id_, in_use_s)
            reason = f"{id_} failed its test: {error or type(error).__name__}"
            self._pool.condemn(id_, reason)
            self._on_failure(reason)
            return "failed"
        watched.tested_at_s = began_s
        return "passed"


def _is_idle(model: Any) -> bool:
    progress = progress_of(model)
    return progress is None or progress.state(0.0, float("inf")) is State.IDLE


def progress_of(model: Any) -> Progress | None:
    """What a model's thread does; None for a model that computes elsewhere."""
    worker = getattr(model, "worker", None)
    progress = getattr(worker, "progress", None)
    return progress if isinstance(progress, Progress) else None
