"""One sentence's sound from whichever voice the settings name."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from livekit import rtc
from livekit.agents import APIConnectOptions
from livekit.agents import tts as agents_tts

Synthesise = Callable[[str], AsyncGenerator[rtc.AudioFrame]]
"""The sound of one sentence, frame by frame, each as soon as it is there."""


def synthesiser(voice: agents_tts.TTS[Any], options: APIConnectOptions) -> Synthesise:
    """What makes a sentence's sound with this client.

    Args:
        voice: the speech client.
        options: how often it is tried, and for how long.
    """

    async def synthesise(sentence: str) -> AsyncGenerator[rtc.AudioFrame]:
        async with voice.synthesize(sentence, conn_options=options) as stream:
            async for audio in stream:
                yield audio.frame

    return synthesise


def plain(frame: rtc.AudioFrame) -> rtc.AudioFrame:
    """The frame's sound alone, to be kept: what the client says beside it is true only once."""
    return rtc.AudioFrame(
        bytes(frame.data), frame.sample_rate, frame.num_channels, frame.samples_per_channel
    )
