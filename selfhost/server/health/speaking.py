"""The test of a voice: is what it makes a voice, as loud and as long as the sentence asks for?"""

from __future__ import annotations

import asyncio
import uuid

import numpy as np

from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority
from selfhost.server.speech.encoding import SAMPLE_RATE_HZ, Pcm
from selfhost.server.speech.model import SpeechModel
from selfhost.server.transcription.activity import VoiceDetector
from selfhost.server.transcription.audio import Resampler, as_audio

SENTENCE = "Good evening, the hotel has three rooms."
MIN_S, MAX_S = 1.2, 6.0  # twice as fast as anyone speaks, and less than half as fast
MIN_LOUDNESS = 0.01  # root mean square
VOICE_PROBABILITY = 0.5
MIN_VOICED = 0.4  # of the sound; a natural sentence has about 0.8


async def check_speaking(model: SpeechModel) -> None:
    """Let `model` say a sentence, after everything that callers wait for.

    Raises:
        SelfTestError: it is silent, too short, too long, or no voice.
        BrokenModelError: what it makes are no numbers.
    """
    chunks = [
        chunk
        async for chunk in model.stream(
            SENTENCE,
            speed=1.0,
            owner=f"self-test-{uuid.uuid4().hex}",
            priority=Priority.BACKGROUND,
            kind="self-test",
        )
    ]
    pcm = np.concatenate(chunks)
    length_s = len(pcm) / SAMPLE_RATE_HZ
    if not MIN_S <= length_s <= MAX_S:
        raise SelfTestError(
            f"{model.id} took {length_s:.1f} s for a sentence of {MIN_S:g} to {MAX_S:g} s"
        )
    loudness = float(np.sqrt(np.mean(as_audio(pcm) ** 2)))
    if loudness < MIN_LOUDNESS:
        raise SelfTestError(f"{model.id} speaks silence (loudness {loudness:.4f})")
    voiced = await asyncio.to_thread(_voiced, pcm)
    if voiced < MIN_VOICED:
        raise SelfTestError(f"{model.id} makes a sound of which {voiced:.0%} is a voice")


def _voiced(pcm: Pcm) -> float:
    """How much of the sound the voice detector takes for a voice, from 0 to 1."""
    probabilities = VoiceDetector().push(Resampler(SAMPLE_RATE_HZ).push(pcm))
    return float(np.mean(np.array(probabilities) >= VOICE_PROBABILITY))
