"""The pool with real models: what only memory and threads that are real can show."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from selfhost import models
from selfhost.server.errors import ApiError
from selfhost.server.health.hearing import clip
from selfhost.server.metrics import Metrics
from selfhost.server.residency.entry import Entry, Job
from selfhost.server.residency.memory import resident_bytes
from selfhost.server.residency.pool import Pool
from selfhost.server.residency.rules import Phase
from selfhost.server.residency.threads import WorkError, on_thread
from selfhost.server.scheduling import Priority
from selfhost.server.settings import ServerSettings
from selfhost.server.transcription import entries
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import Hints

TINY = "whisper-tiny"
BUDGET_BYTES = 1_000_000_000


@pytest.fixture
def tiny() -> Entry[TranscriptionModel]:
    offered = entries.entries(ServerSettings(), Metrics(), models.ensure)
    return next(entry for entry in offered if entry.id == TINY)


@pytest.fixture
async def pools() -> AsyncIterator[list[Pool]]:
    """Pools to close at the end."""
    made: list[Pool] = []
    yield made
    for pool in made:
        await pool.close()


async def transcribe(pool: Pool, times: int) -> list[str]:
    """What Whisper hears in so many pieces of sound, in one request."""
    async with pool.use(TINY) as model:
        heard = [
            await model.transcribe(
                partial(np.asarray, clip()),
                Hints("en"),
                owner="test",
                priority=Priority.BACKGROUND,
                kind="file",
                voiced_ms=2_000,
            )
            for _ in range(times)
        ]
    return [one.text for one in heard]


async def gone(pool: Pool) -> None:
    """Wait until the model holds no memory."""
    for _ in range(200):
        if pool.state(TINY).memory_bytes is None:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the model is never unloaded")


async def test_no_unload_nor_word_of_it_while_a_transcription_runs(
    tiny: Entry[TranscriptionModel], pools: list[Pool], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    pool = Pool([tiny], budget_bytes=BUDGET_BYTES, metrics=Metrics(), idle_unload_s=0.3)
    pools.append(pool)
    texts = await transcribe(pool, 8)  # takes several times the limit
    assert all("hotel" in text for text in texts)
    assert "unloaded" not in caplog.text
    assert pool.state(TINY).state is Phase.LOADED
    await gone(pool)
    assert caplog.text.count("unloaded") == 1
    assert await transcribe(pool, 1)  # and it comes back


async def test_an_unloaded_model_gives_its_memory_back(
    tiny: Entry[TranscriptionModel], pools: list[Pool]
) -> None:
    pool = Pool([tiny], budget_bytes=BUDGET_BYTES, metrics=Metrics())
    pools.append(pool)
    await transcribe(pool, 1)
    pool.condemn(TINY, "the test ends it")
    await gone(pool)
    before_bytes = resident_bytes()
    await asyncio.sleep(1)  # the pause after it was taken out
    await transcribe(pool, 1)
    assert resident_bytes() > before_bytes + 30_000_000
    held_bytes = pool.state(TINY).memory_bytes
    assert held_bytes is not None
    assert held_bytes > 30_000_000
    pool.condemn(TINY, "the test ends it")
    await gone(pool)
    assert resident_bytes() < before_bytes + 15_000_000


class TooLarge:
    def close(self) -> None:
        raise AssertionError("it was never there")


def load_too_large() -> TooLarge:
    np.ones(1 << 56)  # more than any machine has
    return TooLarge()


async def self_test(_: object) -> None:
    pass


async def test_a_load_that_runs_out_of_memory_leaves_the_others_at_work(
    tiny: Entry[TranscriptionModel], pools: list[Pool]
) -> None:
    too_large = Entry("large", Job.EMBEDDING, 500_000_000, load_too_large, self_test)
    pool = Pool([tiny, too_large], budget_bytes=BUDGET_BYTES, metrics=Metrics())
    pools.append(pool)
    working = asyncio.create_task(transcribe(pool, 4))
    with pytest.raises(ApiError, match="too little memory") as told:
        async with pool.use("large"):
            pass
    assert (told.value.status, told.value.retry_after_s) == (503, 1)
    assert pool.state("large").memory_bytes is None
    assert all("hotel" in text for text in await working)


async def test_missing_files_are_told_as_such_and_other_models_go_on(
    tiny: Entry[TranscriptionModel], pools: list[Pool]
) -> None:
    missing = replace(tiny, id="missing", aliases=(), load=partial(models.path, "no-such-model"))
    pool = Pool([tiny, missing], budget_bytes=BUDGET_BYTES, metrics=Metrics())
    pools.append(pool)
    with pytest.raises(ApiError, match="no-such-model") as told:
        async with pool.use("missing"):
            pass
    assert told.value.code == "not_installed"
    assert await transcribe(pool, 1)


async def test_a_panic_of_a_native_library_ends_the_work_and_not_the_server() -> None:
    def panic() -> None:
        raise SystemExit(3)  # no `Exception`, as the panics of Rust's libraries are none

    def stop() -> None:
        raise StopIteration

    for work in (panic, stop):
        with pytest.raises(WorkError):
            await on_thread(work)
    assert await on_thread(lambda: 7) == 7
