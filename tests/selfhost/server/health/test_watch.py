"""Models that go bad while they serve, in a real pool; the models are real ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from selfhost import models
from selfhost.server.errors import ApiError
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.health.hearing import clip
from selfhost.server.health.schedule import Schedule
from selfhost.server.health.watch import Watch
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry
from selfhost.server.residency.pool import Pool
from selfhost.server.scheduling import Priority
from selfhost.server.settings import ServerSettings
from selfhost.server.speech import entries as speech
from selfhost.server.speech.model import SpeechModel
from selfhost.server.transcription import entries as transcription
from selfhost.server.transcription.whisper import Hints

EVERY_S = 3.0


class Watched:
    def __init__(self, pool: Pool, metrics: Metrics) -> None:
        self.pool = pool
        self.metrics = metrics
        self.failures: list[str] = []

    def tests(self, model: str, outcome: str) -> float:
        labels = {"model": model, "outcome": outcome}
        return self.metrics.registry.get_sample_value("model_server_self_tests_total", labels) or 0

    async def until(self, condition: Any, within_s: float) -> float:
        """How long it took until `condition` held."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < within_s, self.failures
            await asyncio.sleep(0.02)
        return time.monotonic() - began


@asynccontextmanager
async def watched(
    every_s: float = EVERY_S, idle_unload_s: float | None = None
) -> AsyncIterator[Watched]:
    settings, metrics = ServerSettings(), Metrics()
    offered: list[Entry[Any]] = [
        *speech.entries(settings, metrics, models.ensure),
        *transcription.entries(settings, metrics, models.ensure),
    ]
    pool = Pool(offered, budget_bytes=4_000_000_000, metrics=metrics, idle_unload_s=idle_unload_s)
    found = Watched(pool, metrics)
    running = asyncio.create_task(
        Watch(pool, Schedule(every_s), metrics, found.failures.append).run()
    )
    try:
        yield found
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await pool.close()


def spoil(model: SpeechModel) -> None:
    """From here on the voice's real samples come out as no numbers."""
    real = model.voice.speak

    def speak(piece: str, speed: float) -> NDArray[np.float32]:
        return real(piece, speed) * np.float32(np.nan)

    model.voice.speak = speak  # type: ignore[method-assign]


async def say(pool: Pool) -> None:
    async with pool.use("piper") as model:
        async for _ in model.stream("Hello.", speed=1.0, owner="a caller"):
            pass


async def choke(pool: Pool) -> None:
    """A request whose input alone is at fault."""
    async with pool.use("piper"):
        raise BrokenModelError("joe made samples that are not numbers")


async def test_sound_models_are_tested_in_every_interval_and_stay() -> None:
    async with watched() as found:
        for name in ("piper", "whisper-tiny"):
            async with found.pool.use(name):
                pass
        await found.until(
            lambda: all(found.tests(name, "passed") >= 2 for name in ("piper", "whisper-tiny")),
            within_s=3 * EVERY_S,
        )
        assert found.failures == []
        assert set(found.pool.models()) == {"piper", "whisper-tiny"}


async def test_a_model_that_goes_bad_unnoticed_is_out_within_one_interval() -> None:
    async with watched() as found:
        async with found.pool.use("piper") as model:
            spoil(model)
        async with found.pool.use("whisper-tiny"):
            pass
        await found.until(lambda: found.failures, within_s=EVERY_S)
        assert "piper failed its test: joe made samples that are not numbers" in found.failures[0]
        with pytest.raises(ApiError) as refused:
            async with found.pool.use("piper"):
                pass
        assert refused.value.status == 503
        assert refused.value.retry_after_s
        async with found.pool.use("whisper-tiny"):  # the others serve on until the process ends
            pass


async def test_garbage_in_answer_to_a_request_is_never_sent_and_brings_the_test_at_once() -> None:
    async with watched(every_s=600.0) as found:
        async with found.pool.use("piper") as model:
            spoil(model)
        with pytest.raises(ApiError) as answer:
            await say(found.pool)
        assert answer.value.status == 500
        assert answer.value.code == "model_output_invalid"
        await found.until(lambda: found.failures, within_s=10.0)


async def test_one_input_that_a_sound_model_cannot_take_costs_nobody_the_model() -> None:
    async with watched(every_s=600.0) as found:
        with pytest.raises(ApiError):
            await choke(found.pool)
        await found.until(lambda: found.tests("piper", "passed") == 1, within_s=10.0)
        assert found.failures == []
        assert "piper" in found.pool.models()


async def test_a_model_that_is_never_idle_is_tested_all_the_same() -> None:
    async with watched() as found, found.pool.use("whisper-tiny") as model:

        async def keep_busy(owner: int) -> None:
            while True:
                await model.transcribe(
                    partial(np.asarray, clip()),
                    Hints("en"),
                    owner=owner,
                    priority=Priority.BACKGROUND,
                    kind="file",
                    voiced_ms=2_500,
                )

        callers = [asyncio.create_task(keep_busy(owner)) for owner in range(3)]
        await found.until(lambda: found.tests("whisper-tiny", "passed") >= 1, within_s=4 * EVERY_S)
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)


async def test_tests_do_not_keep_an_unused_model_in_memory() -> None:
    async with watched(every_s=0.6, idle_unload_s=2.0) as found:
        async with found.pool.use("piper"):
            pass
        await found.until(lambda: not found.pool.models(), within_s=10.0)
        assert found.tests("piper", "passed") >= 1
