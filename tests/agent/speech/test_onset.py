"""The silence that a reply begins with is left out, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
from livekit import rtc

from agent.speech.onset import KEPT_S, LONGEST_S, from_onset

RATE_HZ = 24_000


def sound(*parts: tuple[float, float]) -> np.ndarray:
    """Noise, as (seconds, dBFS) after (seconds, dBFS)."""
    random = np.random.default_rng(1)
    noise = [
        random.standard_normal(round(length_s * RATE_HZ)) * 10 ** (level / 20)
        for length_s, level in parts
    ]
    return (np.clip(np.concatenate(noise), -1, 1) * 32767).astype(np.int16)


async def trimmed(samples: np.ndarray, frame_s: float) -> np.ndarray:
    async def frames() -> AsyncIterator[rtc.AudioFrame]:
        step = round(frame_s * RATE_HZ)
        for start in range(0, len(samples), step):
            part = samples[start : start + step]
            yield rtc.AudioFrame(part.tobytes(), RATE_HZ, 1, len(part))

    out = [np.frombuffer(frame.data, np.int16) async for frame in from_onset(frames())]
    return np.concatenate(out) if out else np.zeros(0, np.int16)


@pytest.mark.parametrize("frame_s", [0.01, 0.05, 0.2, 2.0])
async def test_the_silence_before_the_first_word_is_left_out(frame_s: float) -> None:
    samples = sound((0.08, -90), (0.5, -20), (0.3, -90), (0.5, -20))
    out = await trimmed(samples, frame_s)
    # All that was audible is there, and the pause between the words.
    assert np.array_equal(out[-round(1.3 * RATE_HZ) :], samples[-round(1.3 * RATE_HZ) :])
    assert len(out) <= (1.3 + KEPT_S) * RATE_HZ + 1


async def test_a_soft_beginning_is_kept() -> None:
    samples = sound((0.05, -48), (0.5, -20))
    assert np.array_equal(await trimmed(samples, 0.2), samples)


async def test_a_long_silence_was_meant() -> None:
    samples = sound((LONGEST_S + 1, -90), (0.2, -20))
    out = await trimmed(samples, 0.1)
    assert len(out) / RATE_HZ == pytest.approx(1.2, abs=0.11)
