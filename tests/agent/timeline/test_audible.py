"""The worker calls audible what the caller does, and is not deceived by a line's noise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.timeline.audible import FRAME_MS, Ear, Sound, levels_dbfs
from agent.timeline.sample_clock import SampleClock
from selfhost.load.ears import audible_spans

RATE = 16_000


def noise(seconds: float, dbfs: float, seed: int = 0) -> NDArray[np.int16]:
    amplitude = 32768 * 10 ** (dbfs / 20)
    samples = np.random.default_rng(seed).normal(0, amplitude, round(seconds * RATE))
    return np.rint(np.clip(samples, -32768, 32767)).astype(np.int16)


def hear(sound: NDArray[np.int16], *, over_noise: bool) -> list[Sound]:
    """Every stretch that was the last one at some moment."""
    ear = Ear(over_noise=over_noise)
    heard: dict[float, Sound] = {}
    for index, level in enumerate(levels_dbfs(sound, RATE)):
        ear.hear(float(level), index * FRAME_MS)
        if ear.sound is not None:
            heard[ear.sound.start_ms] = ear.sound
    return list(heard.values())


def spoken(line_dbfs: float) -> NDArray[np.int16]:
    """Two words with a pause between words, a longer pause, and one more, on a noisy line."""
    sound = noise(4.0, line_dbfs).astype(np.int32)
    for start_s, end_s in ((1.0, 1.4), (1.5, 2.0), (2.6, 3.0)):
        word = noise(end_s - start_s, -20, seed=1)
        start = round(start_s * RATE)
        sound[start : start + len(word)] += word
    return np.clip(sound, -32768, 32767).astype(np.int16)


def test_both_ends_of_a_line_hear_the_same_on_it() -> None:
    sound = spoken(line_dbfs=-65)
    at_the_caller = audible_spans(sound, RATE)
    for over_noise in (False, True):
        heard = hear(sound, over_noise=over_noise)
        assert [(s.start_ms / 1000, s.end_ms / 1000) for s in heard] == [
            (pytest.approx(span.start_s), pytest.approx(span.end_s)) for span in at_the_caller
        ]


def test_speech_ends_in_a_noisy_room_too() -> None:
    sound = spoken(line_dbfs=-40)
    assert [(round(s.start_ms), round(s.end_ms)) for s in hear(sound, over_noise=True)][-2:] == [
        (1000, 2000),
        (2600, 3000),
    ]


def test_a_click_is_no_sound() -> None:
    sound = noise(1.0, -65)
    sound[8000:8160] = 20_000
    assert hear(sound, over_noise=False) == []


def test_samples_are_placed_by_their_stream_and_not_by_a_busy_loop() -> None:
    clock = SampleClock()
    ends = [clock.frame(50, now_ms) for now_ms in (1050, 1100, 1290, 1291, 1292, 1300)]
    assert ends == [1050, 1100, 1150, 1200, 1250, 1300]


def test_a_stream_that_lost_samples_is_placed_anew() -> None:
    clock = SampleClock()
    for now_ms in range(50, 1050, 50):
        clock.frame(50, now_ms)
    late = [clock.frame(50, now_ms) for now_ms in range(1550, 4100, 50)]
    assert late[-1] == 4050
