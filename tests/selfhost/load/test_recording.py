from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from selfhost.load.ears import audible_spans
from selfhost.load.recording import Side, read_wav, stereo, write_wav
from tests.selfhost.load.double import FRAME, RATE, tone

FRAME_S = 0.01


def side(sound: np.ndarray, delays_s: np.ndarray, first_s: float = 0.0) -> Side:
    """A side whose frames were each seen a little late."""
    made = Side(RATE)
    for index, frame in enumerate(sound.reshape(-1, FRAME)):
        made.add(frame, first_s + index * FRAME_S + float(delays_s[index]))
    return made


def silence(duration_s: float) -> np.ndarray:
    return np.zeros(round(duration_s * RATE), dtype=np.int16)


def test_frames_that_are_seen_late_are_placed_where_they_belong() -> None:
    generator = np.random.default_rng(2)
    delays = generator.exponential(0.004, 300)
    delays[100:115] += np.linspace(0.15, 0.01, 15)  # the process was busy, then caught up
    made = side(np.tile(tone(0.1), 30), delays, first_s=2.0)
    assert made.starts_s() == pytest.approx(2.0 + np.arange(300) * FRAME_S, abs=0.006)


def test_the_first_frame_may_be_the_late_one() -> None:
    delays = np.zeros(200)
    delays[:80] = 0.3
    assert side(silence(2.0), delays).starts_s()[0] == pytest.approx(0.0, abs=0.006)


def test_sound_that_was_lost_moves_what_follows() -> None:
    delays = np.zeros(300)
    delays[150:] = 0.2
    starts = side(silence(3.0), delays).starts_s()
    assert starts[149] == pytest.approx(1.49, abs=0.001)
    assert starts[150] == pytest.approx(1.70, abs=0.001)


def test_both_sides_stand_on_one_clock_in_the_file(tmp_path: Path) -> None:
    caller = side(np.concatenate((silence(1.0), tone(0.5), silence(2.0))), np.zeros(350))
    agent = side(np.concatenate((silence(0.5), tone(0.5))), np.zeros(100), first_s=1.8)
    path = tmp_path / "folder" / "call.wav"
    write_wav(path, stereo(caller, agent), RATE)
    sound, rate = read_wav(path)
    assert (rate, sound.shape) == (RATE, (round(3.5 * RATE), 2))
    (own,), (other,) = audible_spans(sound[:, 0], rate), audible_spans(sound[:, 1], rate)
    assert (own.start_s, own.end_s) == (pytest.approx(1.0), pytest.approx(1.5))
    assert (other.start_s, other.end_s) == (pytest.approx(2.3), pytest.approx(2.8))


def test_a_side_that_was_never_heard_is_silence() -> None:
    sound = stereo(side(tone(1.0), np.zeros(100)), Side(RATE))
    assert sound.shape == (RATE, 2)
    assert not sound[:, 1].any()
