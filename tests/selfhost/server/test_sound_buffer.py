from __future__ import annotations

import numpy as np

from selfhost.server.realtime.buffer import SoundBuffer


def samples(first: int, last: int) -> np.ndarray:
    return np.arange(first, last, dtype=np.int16)


def test_positions_stay_true_when_old_sound_is_forgotten() -> None:
    sound = SoundBuffer()
    for start in range(0, 1000, 100):
        sound.append(samples(start, start + 100))
    sound.forget_before(650)
    assert (len(sound), sound.end) == (350, 1000)
    assert (sound.read(700, 710) * 32768).tolist() == list(range(700, 710))


def test_reading_beyond_either_end_gives_what_is_there() -> None:
    sound = SoundBuffer()
    sound.append(samples(0, 100))
    sound.forget_before(40)
    assert (sound.read(0, 45) * 32768).tolist() == list(range(40, 45))
    assert len(sound.read(90, 500)) == 10
    assert len(sound.read(200, 300)) == 0


def test_forgetting_what_is_not_there_yet_keeps_the_end() -> None:
    sound = SoundBuffer()
    sound.append(samples(0, 10))
    sound.forget_before(50)
    sound.append(samples(10, 20))
    assert sound.end == 20
