"""The caller's microphone: an open line that never stops, in 10 ms frames on a steady schedule."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from livekit import rtc

from selfhost.load.ears import FRAME_MS, FRAME_S, Samples
from selfhost.load.recording import Side

NOISE_DBFS = -65.0  # a quiet room: detectors of speech expect a live line, not digital silence
QUEUE_MS = 20  # sound waits no longer than this between the push and the wire
LOST_S = 0.02  # this far behind, a microphone loses sound rather than send it late


@dataclass(frozen=True)
class Utterance:
    """Which frames of the line carried a turn: from `first`, up to and without `end`."""

    first: int
    end: int


class Microphone:
    """Pushes noise, and speech when there is some, until it is cancelled.

    Args:
        source: where the frames go; made with `queue_size_ms=QUEUE_MS`.
        clock: seconds of the call.
    """

    def __init__(self, source: rtc.AudioSource, clock: Callable[[], float]) -> None:
        self._source = source
        self._clock = clock
        self._size = source.sample_rate * FRAME_MS // 1000
        generator = np.random.default_rng(seed=0)
        amplitude = 32768 * 10 ** (NOISE_DBFS / 20)
        self._noise = np.rint(generator.normal(0, amplitude, (100, self._size))).astype(np.int16)
        self._speech: Samples | None = None
        self._position = 0  # the next sample of it
        self._done: asyncio.Future[Utterance] | None = None
        self.line = Side(source.sample_rate)

    async def speak(self, speech: Samples) -> Utterance:
        """Say mono samples at the source's rate; returns when the last frame was pushed."""
        padding = -len(speech) % self._size
        self._done = asyncio.get_running_loop().create_future()
        self._speech = np.concatenate((speech, np.zeros(padding, dtype=np.int16)))
        return await self._done

    def break_off(self) -> None:
        """Say the next frame, and leave the rest of what is being said unsaid."""
        if self._speech is not None:
            self._speech = self._speech[: self._position + self._size]

    async def run(self) -> None:
        """Keep the line open."""
        next_s = self._clock()
        first = 0
        while True:
            await asyncio.sleep(max(0.0, next_s - self._clock()))
            frame = self._noise[len(self.line) % len(self._noise)]
            if self._speech is not None:
                if self._position == 0:
                    first = len(self.line)
                # In 32 bits, so that noise on a full-scale sample does not wrap around.
                part = self._speech[self._position : self._position + self._size]
                mixed = frame + part.astype(np.int32)
                frame = np.clip(mixed, -32768, 32767).astype(np.int16)
                self._position += self._size
            # A microphone hands a frame over when it is full: its sound began a frame ago.
            self.line.add(frame, self._clock() - FRAME_S)
            await self._source.capture_frame(
                rtc.AudioFrame(frame.tobytes(), self._source.sample_rate, 1, self._size)
            )
            if self._speech is not None and self._position >= len(self._speech):
                self._speech, self._position = None, 0
                if self._done is not None and not self._done.done():
                    self._done.set_result(Utterance(first, len(self.line)))
            next_s += FRAME_S
            if self._clock() - next_s > LOST_S:
                next_s = self._clock()
