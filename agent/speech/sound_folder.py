"""Sentences' sound as files, so that the job processes of one worker need not each make it anew."""

from __future__ import annotations

import hashlib
import os
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from livekit import rtc

FRAME_S = 0.1  # read back in frames of this length, so that playing them can stop soon


@dataclass(frozen=True)
class SoundFolder:
    """A folder of WAV files, 16-bit, each named after its text's hash; all in one voice.

    Attributes:
        path: the folder; it exists.
    """

    path: Path

    def __contains__(self, sentence: str) -> bool:
        return self._file(sentence).exists()

    def save(self, sentence: str, frames: Sequence[rtc.AudioFrame]) -> None:
        """Keep a sentence's sound; whoever reads meanwhile sees all of it or nothing."""
        whole = rtc.combine_audio_frames(list(frames))
        target = self._file(sentence)
        unfinished = target.with_suffix(f".{os.getpid()}")
        with wave.open(str(unfinished), "wb") as file:
            file.setnchannels(whole.num_channels)
            file.setsampwidth(2)
            file.setframerate(whole.sample_rate)
            file.writeframes(bytes(whole.data))
        unfinished.replace(target)

    def load(self, sentence: str) -> list[rtc.AudioFrame]:
        """A sentence's sound; empty if it is not here."""
        try:
            file = wave.open(str(self._file(sentence)), "rb")  # noqa: SIM115 - closed below
        except FileNotFoundError:
            return []
        with file:
            rate, channels = file.getframerate(), file.getnchannels()
            frames = []
            while data := file.readframes(int(rate * FRAME_S)):
                frames.append(rtc.AudioFrame(data, rate, channels, len(data) // (2 * channels)))
        return frames

    def _file(self, sentence: str) -> Path:
        return self.path / f"{hashlib.sha256(sentence.encode()).hexdigest()[:32]}.wav"
