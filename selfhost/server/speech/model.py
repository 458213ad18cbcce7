"""A voice that is loaded, with the thread that it works on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable
from dataclasses import dataclass

import numpy as np

from selfhost.server.health.broken import BrokenModelError
from selfhost.server.scheduling import Priority, Worker
from selfhost.server.speech.encoding import SAMPLE_RATE_HZ, OutputResampler, Pcm
from selfhost.server.speech.voices import Voice

UNSPEAKABLE_SILENCE_S = 0.2


@dataclass
class SpeechModel:
    id: str
    voice: Voice
    worker: Worker

    async def stream(
        self,
        text: str,
        *,
        speed: float,
        owner: Hashable,
        priority: Priority = Priority.FINAL,
        kind: str = "speech",
    ) -> AsyncGenerator[Pcm]:
        """Speak `text`: chunks of mono samples at 24 kHz, each as soon as it is computed.

        The next piece is computed while the consumer takes the last one, and no further ahead. When
        the consumer stops, so does the work.

        Args:
            priority: how urgent its beginning is; the rest is always in the background.
            owner, kind: as for Worker.run.

        Raises:
            BrokenModelError: what the voice makes is no sound.
        """
        pieces = await self.worker.run(
            lambda: self.voice.pieces(text), owner=owner, priority=priority, kind="phonemes"
        )
        if not pieces:  # only signs: a moment of silence, since players refuse empty sound
            yield np.zeros(int(UNSPEAKABLE_SILENCE_S * SAMPLE_RATE_HZ), np.int16)
            return
        resampler = OutputResampler(self.voice.sample_rate_hz)

        def speak(piece: str, priority: Priority, *, may_refuse: bool) -> asyncio.Task[Pcm]:
            def work() -> Pcm:
                samples = self.voice.speak(piece, speed)
                if not np.isfinite(samples).all():
                    raise BrokenModelError(f"{self.id} made samples that are not numbers")
                return resampler.push(samples)

            return asyncio.create_task(
                self.worker.run(
                    work, owner=owner, priority=priority, kind=kind, may_refuse=may_refuse
                )
            )

        ahead = speak(pieces[0], priority, may_refuse=True)
        try:
            for following in [*pieces[1:], None]:
                chunk = await ahead
                if following is not None:
                    # Whoever has not heard anything yet goes before; but a reply that has begun is
                    # never broken off for want of a place.
                    ahead = speak(following, Priority.BACKGROUND, may_refuse=False)
                if len(chunk):
                    yield chunk
            yield resampler.finish()
        finally:
            ahead.cancel()

    def close(self) -> None:
        self.worker.close()
