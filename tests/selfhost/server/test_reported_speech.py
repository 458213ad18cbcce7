"""Faults of other speech servers that users reported, each as a test of its whole kind."""

from __future__ import annotations

import asyncio
import io
import time
from typing import Any

import av
import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from selfhost.server.transcription.guards import plain
from tests.selfhost.server.conftest import KEY, RATE_HZ, ModelServer, Pcm
from tests.selfhost.server.test_speech import speak
from tests.selfhost.server.test_transcriptions import error_of, transcribe, wav

REPLIES = [
    "Good evening, thank you for calling.",
    "Which nights would you like to stay?",
    "From the first to the third of May.",
    "How many guests are you?",
    "Two guests, a twin room, and breakfast.",
    "Could you spell the name for me?",
    "Your reference is K seven four Q two nine.",
    "I have noted a late arrival at eleven.",
    "Shall I read everything back to you?",
    "Our front desk will confirm it. Goodbye.",
]
LOSSLESS = ("wav", "flac")
TAIL = RATE_HZ * 3 // 10  # in samples: a last short word


def decoded(sound: bytes) -> Pcm:
    """The samples that a player makes of it, at 24 kHz."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE_HZ)
    parts: list[Pcm] = []
    with av.open(io.BytesIO(sound)) as container:
        for frame in container.decode(audio=0):
            frame.pts = None
            parts += [one.to_ndarray().reshape(-1) for one in resampler.resample(frame)]
        parts += [one.to_ndarray().reshape(-1) for one in resampler.resample(None)]
    return np.concatenate(parts)


def loudness(pcm: NDArray[Any]) -> float:
    return float(np.sqrt(np.mean(pcm.astype(float) ** 2)))


def assert_same(sound: NDArray[np.int16], expected: NDArray[np.int16]) -> None:
    """The same sound, but for what a voice's threads round otherwise from time to time."""
    assert len(sound) == len(expected)
    difference = loudness(sound.astype(np.int32) - expected)
    assert difference < 0.1 * loudness(expected)


@pytest.mark.parametrize("response_format", ["wav", "flac", "mp3", "opus", "aac"])
def test_ten_replies_are_as_long_in_each_format_as_they_are_spoken(
    client: httpx.Client, response_format: str
) -> None:
    for text in REPLIES:
        # This voice says a text the same way each time, so that the formats can be compared.
        spoken = np.frombuffer(speak(client, text, voice="hibari").content, "<i2")
        sound = decoded(
            speak(client, text, voice="hibari", response_format=response_format).content
        )
        if response_format in LOSSLESS:
            assert_same(sound, spoken)
            continue
        assert len(spoken) - RATE_HZ // 50 <= len(sound) <= len(spoken) + RATE_HZ // 5, text
        end = np.flatnonzero(np.abs(spoken) > 500)[-1]  # of the last sound
        assert loudness(sound[end - TAIL : end]) > 0.5 * loudness(spoken[end - TAIL : end]), text


@pytest.mark.parametrize("response_format", ["pcm", "mp3"])
@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\t \r\n", "\u00a0\u2003"])
def test_blank_text_is_refused_with_a_message_in_any_format(
    client: httpx.Client, text: str, response_format: str
) -> None:
    told = error_of(speak(client, text, response_format=response_format), 400)
    assert "no text" in told["message"]
    assert speak(client, "Hello.").status_code == 200


@pytest.mark.parametrize("voice", ["joe", "hibari"])
def test_six_hundred_words_without_a_full_stop_are_spoken_to_the_end(
    client: httpx.Client, voice: str
) -> None:
    line = "the hotel has a quiet garden behind the old house by"
    text = " ".join([line] * 55) + " the sea. Breakfast is included."
    assert len(text.split()) >= 600
    content = speak(client, text, voice=voice).content
    seconds = len(content) / 2 / RATE_HZ
    assert 600 / 5 < seconds < 600 / 1.5
    end = np.frombuffer(content[-2 * 3 * RATE_HZ :], "<i2").astype(np.int16)
    assert "breakfast" in plain(transcribe(client, wav(end)).json()["text"])


async def test_other_replies_neither_garble_a_reply_nor_tear_it(server: ModelServer) -> None:
    text = " ".join(REPLIES)
    body = {"model": "tts-1", "voice": "hibari", "input": text, "response_format": "pcm"}
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(base_url=server.root, headers=headers, timeout=120) as client:

        async def play() -> tuple[bytes, float]:
            """The sound, and for how long a player that began with it had nothing to play."""
            sound, torn_s, ends_at = b"", 0.0, 0.0
            async with client.stream("POST", "/v1/audio/speech", json=body) as answer:
                assert answer.status_code == 200
                async for chunk in answer.aiter_raw():
                    now = time.monotonic()
                    if ends_at:
                        torn_s += max(0.0, now - ends_at)
                    ends_at = max(ends_at, now) + len(chunk) / 2 / RATE_HZ
                    sound += chunk
            return sound, torn_s

        alone, _ = await play()
        together = await asyncio.gather(*(play() for _ in range(4)))
    for sound, torn_s in together:
        assert_same(np.frombuffer(sound, "<i2"), np.frombuffer(alone, "<i2"))
        assert torn_s < 1.0
