"""Sound that is made before it is wanted: found by its exact text, and never in anybody's way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest
from livekit import rtc

from agent.speech.prepared import PreparedVoice, Shelf
from agent.speech.synthesis import Synthesise

RATE_HZ = 24_000


def frame(value: int, length_s: float = 0.1) -> rtc.AudioFrame:
    samples = int(RATE_HZ * length_s)
    return rtc.AudioFrame(value.to_bytes(2, "little") * samples, RATE_HZ, 1, samples)


class Studio:
    """Makes two frames a sentence, the second only once it may; both hold the text's length."""

    def __init__(self, *, fails_after: int | None = None) -> None:
        self.made: list[str] = []
        self.closed: list[str] = []
        self.may_end = asyncio.Event()
        self.may_end.set()
        self._fails_after = fails_after

    def __call__(self, sentence: str) -> AsyncGenerator[rtc.AudioFrame]:
        self.made.append(sentence)
        return self._sound(sentence)

    async def _sound(self, sentence: str) -> AsyncGenerator[rtc.AudioFrame]:
        try:
            for index in range(2):
                if index == self._fails_after:
                    raise ConnectionError
                if index:
                    await self.may_end.wait()
                yield frame(10 * len(sentence) + index)
        finally:
            self.closed.append(sentence)


def values(frames: list[rtc.AudioFrame]) -> list[int]:
    return [frame.data[0] for frame in frames]


async def heard(frames: AsyncIterator[rtc.AudioFrame]) -> list[int]:
    return values([frame async for frame in frames])


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def voice(now: Synthesise, ahead: Synthesise | None) -> PreparedVoice:
    return PreparedVoice(now, ahead, Shelf())


async def test_what_was_expected_is_heard_without_being_made_again() -> None:
    now, ahead = Studio(), Studio()
    speaker = voice(now, ahead)
    speaker.expect(["Good.", "Two guests."])
    await settle()
    assert await heard(speaker.speak("Two guests.")) == [110, 111]
    assert await heard(speaker.speak("Good.")) == [50, 51]
    assert (ahead.made, now.made) == (["Good.", "Two guests."], [])


@pytest.mark.parametrize("other", ["Two guests", "two guests.", "Two guests. ", "Ten guests."])
async def test_only_the_very_text_is_taken_for_it(other: str) -> None:
    now, ahead = Studio(), Studio()
    speaker = voice(now, ahead)
    speaker.expect(["Two guests."])
    await settle()
    assert await heard(speaker.speak(other)) == [10 * len(other), 10 * len(other) + 1]
    assert now.made == [other]


async def test_a_sentence_in_the_making_is_heard_from_its_beginning_before_its_end() -> None:
    now, ahead = Studio(), Studio()
    ahead.may_end.clear()
    speaker = voice(now, ahead)
    speaker.expect(["Good."])
    await settle()
    listening = speaker.speak("Good.")
    first = await anext(listening)
    ahead.may_end.set()
    assert values([first, *[frame async for frame in listening]]) == [50, 51]
    assert now.made == []


async def test_what_is_no_longer_expected_is_given_up() -> None:
    ahead = Studio()
    ahead.may_end.clear()
    speaker = voice(Studio(), ahead)
    speaker.expect(["From Monday.", "Is that right?"])
    await settle()
    speaker.expect(["From Tuesday."])
    await settle()
    assert ahead.closed == ["From Monday."]
    ahead.may_end.set()
    await settle()
    assert ahead.made == ["From Monday.", "From Tuesday."]


async def test_what_somebody_listens_to_is_not_given_up() -> None:
    now, ahead = Studio(), Studio()
    ahead.may_end.clear()
    speaker = voice(now, ahead)
    speaker.expect(["Good."])
    await settle()
    listening = asyncio.create_task(heard(speaker.speak("Good.")))
    await settle()
    speaker.expect(["Is that right?"])
    ahead.may_end.set()
    assert await listening == [50, 51]
    await settle()
    assert ahead.made == ["Good.", "Is that right?"]


async def test_a_reply_that_is_dropped_ends_only_what_nobody_else_needs() -> None:
    ahead = Studio()
    ahead.may_end.clear()
    speaker = voice(Studio(), ahead)
    speaker.expect(["Good."])
    await settle()
    listening = asyncio.create_task(heard(speaker.speak("Good.")))
    await settle()
    listening.cancel()
    await settle()
    assert ahead.closed == []
    ahead.may_end.set()
    await settle()
    assert await heard(speaker.speak("Good.")) == [50, 51]
    assert ahead.made == ["Good."]


async def test_nothing_is_begun_ahead_while_a_caller_waits() -> None:
    now, ahead = Studio(), Studio()
    now.may_end.clear()
    speaker = voice(now, ahead)
    waiting = asyncio.create_task(heard(speaker.speak("Good.")))
    await settle()
    speaker.expect(["Is that right?"])
    await settle()
    assert ahead.made == []
    now.may_end.set()
    assert await waiting == [50, 51]
    await settle()
    assert ahead.made == ["Is that right?"]


@pytest.mark.parametrize("failing", [0, 1])
async def test_what_failed_ahead_is_made_for_the_caller_who_wants_it(failing: int) -> None:
    now, ahead = Studio(), Studio(fails_after=failing)
    speaker = voice(now, ahead)
    speaker.expect(["Good.", "Is that right?"])
    await settle()
    assert ahead.made == ["Good.", "Is that right?"]
    assert await heard(speaker.speak("Good.")) == [50, 51]


async def test_what_fails_while_it_is_heard_goes_on_where_it_was() -> None:
    now, ahead = Studio(), Studio(fails_after=1)
    speaker = voice(now, ahead)
    speaker.expect(["Good."])
    listening = asyncio.create_task(heard(speaker.speak("Good.")))
    assert await listening == [50, 51]
    assert now.made == ["Good."]


async def test_a_failure_of_what_is_wanted_is_told() -> None:
    speaker = voice(Studio(fails_after=1), None)
    with pytest.raises(ConnectionError):
        await heard(speaker.speak("Good."))


async def test_without_a_voice_for_it_nothing_is_made_ahead() -> None:
    now = Studio()
    speaker = voice(now, None)
    speaker.expect(["Good."])
    await settle()
    assert now.made == []
    assert await heard(speaker.speak("Good.")) == await heard(speaker.speak("Good."))
    assert now.made == ["Good."]


async def test_the_end_of_the_call_ends_the_work() -> None:
    ahead = Studio()
    ahead.may_end.clear()
    speaker = voice(Studio(), ahead)
    speaker.expect(["Good.", "Is that right?"])
    await settle()
    await speaker.aclose()
    assert (ahead.made, ahead.closed) == (["Good."], ["Good."])


def test_the_shelf_keeps_what_was_asked_for_last() -> None:
    shelf = Shelf(capacity_s=0.35)
    for sentence in ("one", "two", "three"):
        shelf.put(sentence, [frame(1)])
    assert shelf.get("one")
    shelf.put("four", [frame(1)])
    assert [s for s in ("one", "two", "three", "four") if s in shelf] == ["one", "three", "four"]


def test_the_shelf_keeps_neither_nothing_nor_what_is_longer_than_it() -> None:
    shelf = Shelf(capacity_s=0.35)
    shelf.put("empty", [])
    shelf.put("long", [frame(1, length_s=0.4)])
    assert "empty" not in shelf
    assert "long" not in shelf
