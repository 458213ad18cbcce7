"""A voice that is loaded, with the thread that it works on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from selfhost.server.scheduling import Priority, Worker
from selfhost.server.speech.encoding import SAMPLE_RATE_HZ, OutputResampler
from selfhost.server.speech.voices import Samples, Voice

UNSPEAKABLE_SILENCE_S = 0.2


@dataclass
class SpeechModel:
    id: str
    voice: Voice
    worker: Worker

    async def stream(
        self, text: str, *, speed: float, owner: Hashable
    ) -> AsyncGenerator[NDArray[np.int16]]:
        """Speak `text`: chunks of mono samples at 24 kHz, each as soon as it is computed.

        The next piece is computed while the consumer takes the last one, and no further ahead. When
        the consumer stops, so does the work.
        """
        pieces = await self.worker.run(
            lambda: self.voice.pieces(text), owner=owner, priority=Priority.FINAL, kind="phonemes"
        )
        if not pieces:  # only signs: a moment of silence, since players refuse empty sound
            yield np.zeros(int(UNSPEAKABLE_SILENCE_S * SAMPLE_RATE_HZ), np.int16)
            return
        resampler = OutputResampler(self.voice.sample_rate_hz)
        ahead = self._speak(pieces[0], speed, owner, Priority.FINAL)
        try:
            for following in [*pieces[1:], None]:
                samples = await ahead
                if following is not None:
                    # Whoever has not heard anything yet goes before.
                    ahead = self._speak(following, speed, owner, Priority.BACKGROUND)
                chunk = resampler.push(samples)
                if len(chunk):
                    yield chunk
            yield resampler.finish()
        finally:
            ahead.cancel()

    def _speak(
        self, piece: str, speed: float, owner: Hashable, priority: Priority
    ) -> asyncio.Task[Samples]:
        return asyncio.create_task(
            self.worker.run(
                lambda: self.voice.speak(piece, speed),
                owner=owner,
                priority=priority,
                kind="speech",
            )
        )
