"""Sentences whose sound is made before they are wanted.

The code often knows what it will say while the caller still speaks. A sentence that is synthesised
then is heard at once when its turn comes; one that never comes has cost some work in the background
and nothing else. What is spoken is decided elsewhere: here, sound is found by its exact text.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress

from livekit import rtc

from agent.speech.synthesis import Synthesise, plain

logger = logging.getLogger("agent.speech.prepared")

# Two minutes of 16-bit mono sound at 24 kHz are 6 MB: more than all sentences of a call.
CAPACITY_S = 120.0


class Shelf:
    """Finished sound by its text; what was not asked for the longest goes first.

    Args:
        capacity_s: seconds of sound that are kept at most.
    """

    def __init__(self, capacity_s: float = CAPACITY_S) -> None:
        self._capacity_s = capacity_s
        self._held_s = 0.0
        self._sounds: OrderedDict[str, tuple[rtc.AudioFrame, ...]] = OrderedDict()

    def __contains__(self, sentence: str) -> bool:
        return sentence in self._sounds

    def get(self, sentence: str) -> tuple[rtc.AudioFrame, ...] | None:
        """The sentence's sound, or None if it is not here."""
        if sentence in self._sounds:
            self._sounds.move_to_end(sentence)
        return self._sounds.get(sentence)

    def put(self, sentence: str, frames: Sequence[rtc.AudioFrame]) -> None:
        """Keep a whole sentence's sound; silence that came of a failure is not kept."""
        length_s = seconds(frames)
        if sentence in self._sounds or not 0 < length_s <= self._capacity_s:
            return
        self._sounds[sentence] = tuple(frames)
        self._held_s += length_s
        while self._held_s > self._capacity_s:
            _, dropped = self._sounds.popitem(last=False)
            self._held_s -= seconds(dropped)


class _Rendering:
    """A sentence that is being synthesised; whoever wants it follows from its beginning."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        self.frames: list[rtc.AudioFrame] = []
        self.followers = 0
        self.ended = False
        self.whole = False
        self._grown = asyncio.Event()

    async def run(self, synthesise: Synthesise) -> None:
        try:
            async with aclosing(synthesise(self.sentence)) as stream:
                async for frame in stream:
                    self.frames.append(plain(frame))
                    self._grown.set()
            self.whole = True
        finally:
            self.ended = True
            self._grown.set()

    async def follow(self) -> AsyncIterator[rtc.AudioFrame]:
        """Its frames so far, then each as it comes; ends early where the synthesis failed."""
        self.followers += 1
        given = 0
        try:
            while given < len(self.frames) or not self.ended:
                if given == len(self.frames):
                    self._grown.clear()
                    await self._grown.wait()
                    continue
                yield self.frames[given]
                given += 1
        finally:
            self.followers -= 1


class PreparedVoice:
    """A voice that makes the sound of expected sentences ahead, one at a time.

    Args:
        synthesise: for a sentence that a caller waits for.
        synthesise_ahead: for one that may never be wanted, so its failure must harm nobody; None
            to make nothing ahead.
        shelf: sound that is there already, and where more is put.
    """

    def __init__(
        self,
        synthesise: Synthesise,
        synthesise_ahead: Synthesise | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self._synthesise = synthesise
        self._synthesise_ahead = synthesise_ahead
        self._shelf = shelf or Shelf()
        self._expected: deque[str] = deque()
        self._ahead: _Rendering | None = None
        self._work: asyncio.Task[None] | None = None
        self._waiting = 0  # sentences that somebody waits for now
        self._quiet = asyncio.Event()
        self._quiet.set()

    def expect(self, sentences: Sequence[str]) -> None:
        """Make these ready, in this order, instead of whatever was expected before.

        What is being made and neither expected any more nor listened to is given up.
        """
        if self._synthesise_ahead is None:
            return
        ahead = self._ahead
        if ahead is not None and ahead.sentence not in sentences and not ahead.followers:
            self._give_up()
            ahead = None
        in_hand = ahead.sentence if ahead is not None else None
        self._expected = deque(s for s in sentences if s not in self._shelf and s != in_hand)
        if self._expected and self._work is None:
            self._work = asyncio.create_task(self._make_ahead(self._synthesise_ahead))

    async def speak(self, sentence: str) -> AsyncIterator[rtc.AudioFrame]:
        """The sentence's sound: what is ready of it at once, the rest as it is made.

        Raises:
            APIError: it could not be synthesised.
        """
        if (ready := self._shelf.get(sentence)) is not None:
            for frame in ready:
                yield frame
            return
        heard_s = 0.0
        ahead = self._ahead
        if ahead is not None and ahead.sentence == sentence:
            async for frame in ahead.follow():
                heard_s += frame.duration
                yield frame
            if ahead.whole:
                return
        # What failed half-way goes on from about where the caller heard it last.
        async for frame in self._made_now(sentence, heard_s):
            yield frame

    def is_ready(self, sentence: str) -> bool:
        """Whether some of its sound is there or on its way already."""
        return sentence in self._shelf or (
            self._ahead is not None and self._ahead.sentence == sentence
        )

    async def aclose(self) -> None:
        """Give up what is being made."""
        self._expected.clear()
        if (work := self._work) is not None:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def _made_now(self, sentence: str, skip_s: float) -> AsyncIterator[rtc.AudioFrame]:
        frames: list[rtc.AudioFrame] = []
        passed_s = 0.0
        self._waiting += 1
        self._quiet.clear()
        try:
            async with aclosing(self._synthesise(sentence)) as stream:
                async for frame in stream:
                    frames.append(plain(frame))
                    passed_s += frame.duration
                    if passed_s > skip_s:
                        yield frame
            self._shelf.put(sentence, frames)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._quiet.set()

    async def _make_ahead(self, synthesise: Synthesise) -> None:
        try:
            while True:
                # Nothing is begun while a caller waits for a sentence that is not ready.
                await self._quiet.wait()
                if not self._expected:
                    return
                self._ahead = rendering = _Rendering(self._expected.popleft())
                try:
                    await rendering.run(synthesise)
                    self._shelf.put(rendering.sentence, rendering.frames)
                except Exception as error:
                    # Whoever wants it later has it synthesised then, and hears of what is wrong.
                    logger.debug("not made ahead: %s", type(error).__name__)
                self._ahead = None
        finally:
            if self._work is asyncio.current_task():
                self._work = self._ahead = None

    def _give_up(self) -> None:
        assert self._work is not None
        self._work.cancel()
        self._work = self._ahead = None


def seconds(frames: Sequence[rtc.AudioFrame]) -> float:
    """How long these frames sound."""
    return sum(frame.duration for frame in frames)
