"""Both sides of a call on one clock, as a stereo WAV: the caller left, the agent right."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfhost.load.ears import Samples

SLIP_S = 0.005  # a smaller shift, as from two clocks' drift, is not worth a cut in the sound


class Side:
    """The frames of one side, each with the moment at which it passed."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._at_s: list[float] = []
        self._frames: list[Samples] = []

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, frame: Samples, at_s: float) -> None:
        """Append a frame of mono samples that passed at `at_s`, in seconds of the call."""
        self._at_s.append(at_s)
        self._frames.append(frame)

    def starts_s(self) -> NDArray[np.float64]:
        """Where each frame begins in the recording, in seconds of the call.

        Frames are made at a steady pace but are seen late when the process is busy, never early,
        and sound that is lost moves all that follows. So each frame is placed by the least delay
        that it or any later one was seen with.
        """
        if not self._frames:
            return np.empty(0)
        lengths_s = np.array([len(frame) for frame in self._frames]) / self.sample_rate
        nominal_s = np.concatenate(([0.0], np.cumsum(lengths_s)[:-1]))
        delays_s = np.array(self._at_s) - nominal_s
        least_s = np.minimum.accumulate(delays_s[::-1])[::-1]
        shifts_s = np.empty(len(least_s))
        shift_s = least_s[0]
        for index, least in enumerate(least_s):
            if least - shift_s > SLIP_S:
                shift_s = least
            shifts_s[index] = shift_s
        return nominal_s + shifts_s

    def samples(self, length: int) -> Samples:
        """The side as `length` samples from the beginning of the call; silence where none came."""
        line = np.zeros(length, dtype=np.int16)
        for start_s, frame in zip(self.starts_s(), self._frames, strict=True):
            begin = round(start_s * self.sample_rate)
            kept = frame[max(0, -begin) : max(0, length - begin)]
            begin = max(0, begin)
            line[begin : begin + len(kept)] = kept
        return line


def stereo(caller: Side, agent: Side) -> Samples:
    """Both sides as an array of shape (samples, 2)."""
    length = 0
    for side in (caller, agent):
        if len(side):
            end_s = side.starts_s()[-1] + 0.01
            length = max(length, round(end_s * side.sample_rate))
    return np.stack((caller.samples(length), agent.samples(length)), axis=1)


def write_wav(path: Path, sound: Samples, sample_rate: int) -> None:
    """Write samples of shape (samples, channels) as a 16-bit WAV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(np.ascontiguousarray(sound).astype("<i2").tobytes())


def read_wav(path: Path) -> tuple[Samples, int]:
    """Read a 16-bit WAV back: samples of shape (samples, channels), and the sample rate."""
    with wave.open(str(path), "rb") as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return sound.reshape(-1, file.getnchannels()), file.getframerate()
