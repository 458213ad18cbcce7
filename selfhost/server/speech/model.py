"""A voice that is loaded, with the thread that it works on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from selfhost.server.errors import unknown_name
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.scheduling import Priority, Worker
from selfhost.server.speech.encoding import SAMPLE_RATE_HZ, OutputResampler, Pcm
from selfhost.server.speech.voices import Voice

UNSPEAKABLE_SILENCE_S = 0.2


@dataclass
class SpeechModel:
    """
    Args:
        voice: the one that it speaks in unless it is told otherwise.
        voices: those that it can be told to speak in, by name.
    """

    id: str
    voice: Voice
    worker: Worker
    voices: Mapping[str, Voice] = field(default_factory=dict)

    def voice_named(self, name: str | None) -> Voice:
        """
        Raises:
            ApiError: the model has no such voice.
        """
        if name is None or not self.voices:
            return self.voice
        if name not in self.voices:
            raise unknown_name("voice", name, list(self.voices))
        return self.voices[name]

    async def stream(
        self,
        text: str,
        *,
        speed: float,
        owner: Hashable,
        voice: str | None = None,
        priority: Priority = Priority.FINAL,
        kind: str = "speech",
    ) -> AsyncGenerator[Pcm]:
        """Speak `text`: chunks of mono samples at 24 kHz, each as soon as it is computed.

        The next piece is computed while the consumer takes the last one, and no further ahead. When
        the consumer stops, so does the work.

        Args:
            voice: one of `voices`, or None for the model's own.
            priority: how urgent its beginning is; the rest is always in the background.
            owner, kind: as for Worker.run.

        Raises:
            ApiError: the model has no such voice.
            BrokenModelError: what the voice makes is no sound.
        """
        speaker = self.voice_named(voice)
        pieces = await self.worker.run(
            lambda: speaker.pieces(text), owner=owner, priority=priority, kind="phonemes"
        )
        if not pieces:  # only signs: a moment of silence, since players refuse empty sound
            yield np.zeros(int(UNSPEAKABLE_SILENCE_S * SAMPLE_RATE_HZ), np.int16)
            return
        resampler = OutputResampler(speaker.sample_rate_hz)

        def speak(piece: str, priority: Priority, *, may_refuse: bool) -> asyncio.Task[Pcm]:
            def work() -> Pcm:
                samples = speaker.speak(piece, speed)
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
