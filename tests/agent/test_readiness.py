"""While the caller speaks, the sound of the reply to the words so far is made ready."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Any, cast

import numpy as np
from livekit import rtc
from livekit.agents import AgentSession, UserInputTranscribedEvent

from agent.readiness import Readiness
from agent.reply import Move, Plan
from agent.speech.prepared import PreparedVoice
from tests.agent.speech.test_prepared import settle


class Call:
    """A voice that notes what it makes; the reply to any words says them back."""

    def __init__(self) -> None:
        self.ahead: list[str] = []
        self.now: list[str] = []
        voice = PreparedVoice(self._makes(self.now), self._makes(self.ahead))
        self.readiness = Readiness(voice, lambda words: Plan(Move.ASK, f"{words}.", "And then?"))
        self._session: rtc.EventEmitter[Any] = rtc.EventEmitter()
        self.readiness.attach(cast("AgentSession[None]", self._session))

    def _makes(self, made: list[str]) -> Any:
        def synthesise(sentence: str) -> AsyncGenerator[rtc.AudioFrame]:
            made.append(sentence)
            return tone(len(sentence))

        return synthesise

    async def heard(self, text: str, *, final: bool = False) -> None:
        self._session.emit(
            "user_input_transcribed", UserInputTranscribedEvent(transcript=text, is_final=final)
        )
        await settle()

    async def speak(self, *parts: str, whole: Any = None) -> list[int]:
        """The lengths of the sentences that are heard."""

        async def text() -> AsyncIterator[str]:
            for part in parts:
                yield part

        return [frame.data[0] // 100 async for frame in self.readiness.speak(text(), whole)]


async def tone(sentence_length: int) -> AsyncGenerator[rtc.AudioFrame]:
    samples = np.full(2400, 100 * sentence_length, np.int16)
    yield rtc.AudioFrame(samples.tobytes(), 24_000, 1, len(samples))


async def test_each_new_partial_has_its_reply_made() -> None:
    call = Call()
    await call.heard("Two")
    await call.heard("Two guests")
    assert call.ahead == ["Two.", "Two guests."]
    assert await call.speak("Two guests. ", "And then? ") == [11, 9]
    assert call.now == ["And then?"]


async def test_words_after_a_pause_go_on_from_those_before_it() -> None:
    call = Call()
    await call.heard("From Monday", final=True)
    await call.heard("to Friday")
    assert "From Monday to Friday." in call.ahead


async def test_a_turn_that_is_over_leaves_no_words_to_the_next() -> None:
    call = Call()
    await call.heard("Two guests", final=True)
    call.readiness.turn_over(Plan(Move.ASK, "Two guests.", "And then?"), ["Thank you, Emma."])
    await settle()
    await call.heard("Yes")
    assert call.ahead == ["Two guests.", "And then?", "Thank you, Emma.", "Yes."]


async def test_what_was_foreseen_wrongly_is_not_spoken() -> None:
    call = Call()
    await call.heard("Two guests")
    assert await call.speak("Three guests. ") == [13]
    assert call.now == ["Three guests."]


async def test_a_voice_that_streams_speaks_on_from_the_first_sentence_that_is_not_ready() -> None:
    call = Call()
    await call.heard("Two guests")
    given: list[str] = []

    async def whole(rest: AsyncIterable[str]) -> AsyncIterator[rtc.AudioFrame]:
        given.extend([part async for part in rest])
        async for frame in tone(77):
            yield frame

    parts = ("Two guests. ", "Which room? And which day? ", "Thank you. ")
    assert await call.speak(*parts, whole=whole) == [11, 77]
    assert given == ["Which room? ", "And which day? ", "Thank you. "]


async def test_ready_sound_is_handed_on_little_by_little() -> None:
    call = Call()
    await call.heard("Two guests")

    async def text() -> AsyncIterator[str]:
        yield "Two guests. "

    frames = call.readiness.speak(text())
    await anext(frames)
    turns_of_the_loop = 0

    async def count() -> None:
        nonlocal turns_of_the_loop
        while True:
            await asyncio.sleep(0)
            turns_of_the_loop += 1

    counting = asyncio.create_task(count())
    assert await anext(frames, None) is None
    counting.cancel()
    # Others had their turn before the next frame: the first has left for the room by then.
    assert turns_of_the_loop > 2
