"""Where a reply's sound begins: a voice's first tens of milliseconds are silence."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
from livekit import rtc

# Piper begins with up to 80 ms below −60 dBFS and rises to a word within 30 ms more; the softest
# breath before one lies near −50.
QUIET_DBFS = -55.0
STEP_S = 0.01
KEPT_S = 0.01  # before the onset, so that its first wave is not cut
LONGEST_S = 0.5  # silence longer than this was meant


async def from_onset(frames: AsyncIterator[rtc.AudioFrame]) -> AsyncIterator[rtc.AudioFrame]:
    """Leave out the silence that a reply begins with.

    Args:
        frames: 16-bit sound, as it comes.

    Yields:
        The same sound from just before its first audible moment.
    """
    sounding = False
    skipped_s = 0.0
    async for frame in frames:
        if sounding or skipped_s >= LONGEST_S:
            yield frame
            continue
        quiet_s = leading_silence_s(frame)
        sounding = quiet_s < frame.duration
        skipped_s += quiet_s
        if sounding:
            yield _without(frame, max(quiet_s - KEPT_S, 0.0))


def leading_silence_s(frame: rtc.AudioFrame) -> float:
    """How long the frame begins below `QUIET_DBFS`, in steps of `STEP_S`; all of it at most."""
    samples = np.frombuffer(frame.data, np.int16).reshape(-1, frame.num_channels)
    step = max(int(frame.sample_rate * STEP_S), 1)
    for start in range(0, len(samples), step):
        part = samples[start : start + step].astype(np.float32) / 32768.0
        if float(np.mean(np.square(part))) >= 10 ** (QUIET_DBFS / 10):
            return start / frame.sample_rate
    return frame.duration


def _without(frame: rtc.AudioFrame, leading_s: float) -> rtc.AudioFrame:
    skipped = int(leading_s * frame.sample_rate) * frame.num_channels
    if not skipped:
        return frame
    rest = np.frombuffer(frame.data, np.int16)[skipped:]
    return rtc.AudioFrame(
        rest.tobytes(), frame.sample_rate, frame.num_channels, len(rest) // frame.num_channels
    )
