from __future__ import annotations

import numpy as np
import pytest

from selfhost.load.ears import FRAME_S, Ear, Span, audible_spans, levels_dbfs
from tests.selfhost.load.double import RATE, tone


def line(*parts: float | np.ndarray) -> np.ndarray:
    """Noise at −65 dBFS, for as long as a number says, with sounds in between."""
    noise = np.random.default_rng(1)

    def part(item: float | np.ndarray) -> np.ndarray:
        sound = np.zeros(round(item * RATE)) if isinstance(item, float) else item
        return sound + noise.normal(0, 32768 * 10 ** (-65 / 20), len(sound))

    return np.concatenate([part(item) for item in parts]).astype(np.int16)


def test_the_level_of_a_tone_is_its_level() -> None:
    assert levels_dbfs(tone(0.1, dbfs=-20.0), RATE) == pytest.approx(-20.0, abs=0.1)
    assert levels_dbfs(np.zeros(RATE, dtype=np.int16), RATE).max() == -120.0


def test_sound_is_found_to_the_frame() -> None:
    spans = audible_spans(line(1.0, tone(0.5), 1.0, tone(0.3), 0.5), RATE)
    assert spans == [
        Span(pytest.approx(1.0), pytest.approx(1.5)),
        Span(pytest.approx(2.5), pytest.approx(2.8)),
    ]


def test_the_pause_between_two_words_does_not_end_a_span() -> None:
    assert len(audible_spans(line(0.2, tone(0.2), 0.15, tone(0.2), 0.5), RATE)) == 1


def test_a_click_and_noise_are_no_sound() -> None:
    assert audible_spans(line(0.5, tone(0.02, dbfs=-6.0), 0.5), RATE) == []
    assert audible_spans(line(3.0), RATE) == []


def test_a_span_that_goes_on_is_already_known() -> None:
    ear = Ear()
    for index in range(3):
        ear.hear(-20.0, index * FRAME_S)
    assert ear.audible
    assert ear.spans == [Span(0.0, pytest.approx(3 * FRAME_S))]
