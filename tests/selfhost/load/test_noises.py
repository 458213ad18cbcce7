from __future__ import annotations

import numpy as np
import pytest

from selfhost.load.ears import HEARING, audible_spans
from selfhost.load.noises import LASTING, SAMPLE_RATE, Noise, Sound, make
from selfhost.load.voice import to_pcm


def tone(_: str) -> Sound:
    """A second of somebody's voice."""
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    return np.sin(2 * np.pi * 200 * time).astype(np.float32)


@pytest.mark.parametrize("noise", Noise)
def test_a_noise_is_heard_and_is_the_same_each_time(noise: Noise) -> None:
    lasts_ms = 3_000 if noise in LASTING else 0
    sound = make(noise, lasts_ms, tone)
    spans = audible_spans(to_pcm(sound), SAMPLE_RATE, HEARING)
    heard_s = spans[-1].end_s - spans[0].start_s
    if noise in LASTING:
        assert len(sound) == 3 * SAMPLE_RATE
        assert heard_s == pytest.approx(3.0, abs=0.1)
    else:
        assert 0.02 < heard_s < 0.5
    assert np.array_equal(sound, make(noise, lasts_ms, tone))
