"""A reply never waits for late words, and never loses those that came in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from agent.deadline import until_late

DEADLINE_S = 0.2


async def words(*steps: str | float | Exception) -> AsyncIterator[str]:
    """Text is generated, a number is a pause in seconds, an exception is raised."""
    for step in steps:
        if isinstance(step, Exception):
            raise step
        if isinstance(step, float):
            await asyncio.sleep(step)
        else:
            yield step


async def listen(
    *steps: str | float | Exception, filler: str = ""
) -> tuple[list[str], list[Exception]]:
    failures: list[Exception] = []
    heard = [
        sentence
        async for sentence in until_late(
            words(*steps), deadline_s=DEADLINE_S, filler=filler, on_failure=failures.append
        )
    ]
    return heard, failures


async def test_words_in_time_are_all_passed_on() -> None:
    assert await listen("One.", 0.01, "Two.") == (["One.", "Two."], [])


async def test_a_late_sentence_ends_the_reply_after_those_in_time() -> None:
    assert await listen("One.", 30.0, "Two.") == (["One."], [])


async def test_a_late_first_sentence_is_waited_for_behind_a_filler() -> None:
    assert await listen(0.3, "One.", filler="Let me see.") == (["Let me see.", "One."], [])


async def test_the_filler_is_not_spoken_when_the_words_are_in_time() -> None:
    assert await listen("One.", filler="Let me see.") == (["One."], [])


async def test_the_filler_is_not_spoken_between_sentences() -> None:
    assert await listen("One.", 30.0, "Two.", filler="Let me see.") == (["One."], [])


async def test_words_that_never_come_end_the_wait() -> None:
    assert await listen(30.0, "One.", filler="Let me see.") == (["Let me see."], [])


async def test_a_failure_is_reported_and_keeps_what_was_said() -> None:
    failure = ConnectionError("gone")
    assert await listen("One.", failure) == (["One."], [failure])


async def test_a_failure_behind_the_filler_is_reported() -> None:
    failure = ConnectionError("gone")
    assert await listen(0.3, failure, filler="Let me see.") == (["Let me see."], [failure])


async def test_what_is_late_is_closed() -> None:
    closed = asyncio.Event()

    async def slow() -> AsyncIterator[str]:
        try:
            await asyncio.sleep(30)
            yield "One."
        finally:
            closed.set()

    async for _ in until_late(slow(), deadline_s=0.01, filler="", on_failure=lambda _: None):
        pass
    assert closed.is_set()
