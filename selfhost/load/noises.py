"""Sounds that are no words: a cough, a clap, a hum, a murmur of assent, a room full of talk.

They are computed, so that a call file sounds the same on every machine and brings no recording of
anybody. Mono samples at 24 kHz in [-1, 1], at the level of close speech or below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Sound = NDArray[np.float32]
Floats = NDArray[np.float64]

SAMPLE_RATE = 24_000

# Said by a crowd at once, and backwards: the sound of speech without a word in it.
CROWD = (
    "We took the early train and walked along the river until noon.",
    "They never said who would carry all of these boxes upstairs.",
    "My sister painted the kitchen yellow while nobody was at home.",
    "It rained so hard that the market closed before we arrived.",
)
# How much higher or lower: several people, though one voice speaks for all.
_PITCHES = (1.1, 1.0, 0.9, 1.2)


class Noise(StrEnum):
    """What a caller's microphone also picks up."""

    COUGH = "cough"
    CLAP = "clap"
    HUM = "hum"  # of a machine; as long as asked for
    MURMUR = "murmur"  # "mhm", with a closed mouth
    BABBLE = "babble"  # many people, none of whom can be understood; as long as asked for


LASTING = frozenset({Noise.HUM, Noise.BABBLE})
LEVEL_DBFS = {
    Noise.COUGH: -20.0,
    Noise.CLAP: -18.0,
    Noise.HUM: -38.0,
    Noise.MURMUR: -24.0,
    Noise.BABBLE: -32.0,
}


def make(noise: Noise, lasts_ms: int, say: Callable[[str], Sound]) -> Sound:
    """Compute a noise.

    Args:
        noise: which.
        lasts_ms: how long, for those of `LASTING`; the others have a length of their own.
        say: speaks a text; only babble asks for it.
    """
    length = SAMPLE_RATE * lasts_ms // 1000
    random = np.random.default_rng(seed=0)
    match noise:
        case Noise.COUGH:
            sound = _cough(random)
        case Noise.CLAP:
            sound = _clap(random)
        case Noise.MURMUR:
            sound = _murmur(random)
        case Noise.HUM:
            sound = _hum(length, random)
        case Noise.BABBLE:
            sound = babble([say(text) for text in CROWD], length)
    return _at_level(sound, LEVEL_DBFS[noise])


def babble(voices: Sequence[Sound], length: int) -> Floats:
    """Many voices at once, each backwards and in a pitch of its own, for `length` samples."""
    crowd = np.zeros(length)
    for index, (voice, pitch) in enumerate(zip(voices, _PITCHES, strict=True)):
        backwards = np.interp(
            np.arange(0, len(voice) - 1, pitch), np.arange(len(voice)), voice[::-1]
        )
        repeats = length // len(backwards) + 2
        shift = index * SAMPLE_RATE // 3
        crowd += np.tile(backwards, repeats)[shift : shift + length]
    return crowd


def _cough(random: np.random.Generator) -> Floats:
    """A burst of breath, then two tenths of a second of rough, falling sound."""
    burst = random.normal(size=_samples(40)) * np.exp(-np.arange(_samples(40)) / _samples(15))
    time = np.arange(_samples(220)) / SAMPLE_RATE
    throat = np.sign(np.sin(2 * np.pi * (160 - 200 * time) * time)) * 0.35
    rough = (random.normal(size=len(time)) + throat) * np.exp(-time / 0.07) * 0.6
    return _band(np.concatenate((burst, rough)), 250, 4500)


def _clap(random: np.random.Generator) -> Floats:
    """Two hands: a sharp start and a short ring."""
    time = np.arange(_samples(120)) / SAMPLE_RATE
    return _band(random.normal(size=len(time)) * np.exp(-time / 0.018), 600, 6000)


def _murmur(random: np.random.Generator) -> Floats:
    """Two hummed syllables, the second one higher: the mouth stays closed, so no sound above."""
    time = np.arange(_samples(380)) / SAMPLE_RATE
    pitch = np.where(time < 0.16, 115.0, 115.0 + 160.0 * (time - 0.16))
    phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    voice = sum(np.sin(n * phase) / n**1.5 for n in range(1, 9))
    dip = 1 - 0.85 * np.exp(-(((time - 0.17) / 0.025) ** 2))
    edges = np.minimum(1, np.minimum(time, time[-1] - time) / 0.03)
    return np.asarray(voice * dip * edges + random.normal(0, 0.01, len(time)))


def _hum(length: int, random: np.random.Generator) -> Floats:
    """Mains hum with its harmonics, and the air of a fan."""
    time = np.arange(length) / SAMPLE_RATE
    tones = sum(np.sin(2 * np.pi * 50 * n * time) / n for n in (1, 2, 3, 5, 7))
    return np.asarray(tones + _band(random.normal(0, 0.5, length), 80, 1500))


def _samples(milliseconds: int) -> int:
    return SAMPLE_RATE * milliseconds // 1000


def _band(sound: Floats, low_hz: float, high_hz: float) -> Floats:
    spectrum = np.fft.rfft(sound)
    frequency = np.fft.rfftfreq(len(sound), 1 / SAMPLE_RATE)
    spectrum[(frequency < low_hz) | (frequency > high_hz)] = 0
    return np.fft.irfft(spectrum, len(sound))


def _at_level(sound: Floats, level_dbfs: float) -> Sound:
    """The sound with its loudest 50 ms at a level, so that a clap is as loud as it is meant."""
    size = min(_samples(50), len(sound))
    power = np.convolve(np.square(sound), np.ones(size) / size, mode="valid")
    loudest = float(np.sqrt(power.max())) or 1.0
    return np.clip(sound * (10 ** (level_dbfs / 20) / loudest), -1, 1).astype(np.float32)
