"""Keeps ready, while the caller speaks, the sound of what the reply to it would be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence

from livekit import rtc
from livekit.agents import AgentSession, UserInputTranscribedEvent

from agent.foresight import sentences_of
from agent.reply import Plan
from agent.speech.onset import from_onset
from agent.speech.prepared import PreparedVoice
from agent.speech.sentences import split

# How much faster than it is heard a reply's sound is handed on.
FASTER_THAN_HEARD = 4

SpeakWhole = Callable[[AsyncIterable[str]], AsyncIterable[rtc.AudioFrame]]
"""Speaks a text as it streams, in one breath."""


class Readiness:
    """What a call's voice has ready, by what the caller has said so far.

    Args:
        voice: makes the sound.
        foresee: what the reply would be if the caller's turn ended with these words; changes
            nothing.
    """

    def __init__(self, voice: PreparedVoice, foresee: Callable[[str], Plan]) -> None:
        self._voice = voice
        self._foresee = foresee
        self._finals: list[str] = []
        self._likely: list[str] = []
        self._words = ""

    def attach(self, session: AgentSession[None]) -> None:
        """Listen to what is heard from now on."""
        session.on("user_input_transcribed", self._on_transcribed)

    def turn_over(self, reply: Plan, likely: Sequence[str]) -> None:
        """The caller's turn is decided.

        Args:
            reply: what is said now.
            likely: sentences that may follow the caller's next turn, whatever that says.
        """
        self._finals.clear()
        self._words = ""
        self._likely = list(likely)
        self._voice.expect([*sentences_of(reply), *self._likely])

    async def aclose(self) -> None:
        """The call has ended: give up what is being made."""
        await self._voice.aclose()

    def _on_transcribed(self, event: UserInputTranscribedEvent) -> None:
        words = " ".join([*self._finals, event.transcript]).strip()
        if event.is_final:
            self._finals.append(event.transcript)
        if words and words != self._words:
            self._words = words
            # The rest of a reply is made while its first sentence is heard; until the words are
            # final, more would be work for nothing, on cores that the recogniser needs.
            self._voice.expect([*sentences_of(self._foresee(words))[:1], *self._likely])

    async def speak(
        self, text: AsyncIterable[str], whole: SpeakWhole | None = None
    ) -> AsyncIterator[rtc.AudioFrame]:
        """The sound of a reply, from its first audible moment.

        Args:
            text: the reply as it is made, in whole sentences.
            whole: for voices that take a text as it streams: speaks what is left of it from the
                first sentence on that is not ready.
        """
        handed_on_s, begun_s = 0.0, None
        async for frame in from_onset(self._sentences(text, whole)):
            yield frame
            # What is ready would otherwise be handed on all at once: the framework looks through it
            # for the pace of its words on the loop, before the first of it leaves for the room.
            now_s = asyncio.get_running_loop().time()
            begun_s = now_s if begun_s is None else begun_s
            handed_on_s += frame.duration
            await asyncio.sleep(max(handed_on_s / FASTER_THAN_HEARD - (now_s - begun_s), 0.0))

    async def _sentences(
        self, text: AsyncIterable[str], whole: SpeakWhole | None
    ) -> AsyncIterator[rtc.AudioFrame]:
        stream = aiter(text)
        async for part in stream:
            sentences = split(part)
            for index, sentence in enumerate(sentences):
                if whole is not None and not self._voice.is_ready(sentence):
                    async for frame in whole(_chained(sentences[index:], stream)):
                        yield frame
                    return
                async for frame in self._voice.speak(sentence):
                    yield frame


async def _chained(first: Sequence[str], rest: AsyncIterator[str]) -> AsyncIterator[str]:
    for sentence in first:
        yield f"{sentence} "
    async for part in rest:
        yield part
