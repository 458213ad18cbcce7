"""Sentences' sound as files: what was kept comes back as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from livekit import rtc

from agent.speech.sound_folder import SoundFolder


def test_a_sentence_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    samples = np.arange(10_000, dtype=np.int16)
    first = rtc.AudioFrame(samples[:3_000].tobytes(), 24_000, 1, 3_000)
    second = rtc.AudioFrame(samples[3_000:].tobytes(), 24_000, 1, 7_000)
    folder = SoundFolder(tmp_path)
    folder.save("Where/to? “Ärger”.", [first, second])
    assert "Where/to? “Ärger”." in SoundFolder(tmp_path)
    frames = SoundFolder(tmp_path).load("Where/to? “Ärger”.")
    assert {(frame.sample_rate, frame.num_channels) for frame in frames} == {(24_000, 1)}
    assert np.array_equal(
        np.concatenate([np.frombuffer(f.data, np.int16) for f in frames]), samples
    )
    assert [file.suffix for file in tmp_path.iterdir()] == [".wav"]


def test_a_sentence_that_is_not_there_has_no_sound(tmp_path: Path) -> None:
    assert SoundFolder(tmp_path).load("Good.") == []
    assert "Good." not in SoundFolder(tmp_path)
