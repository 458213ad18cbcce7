"""What a caller hears when the session itself cannot speak: a recorded notice.

It needs no model and no setting, only the room, so that a call that cannot be held is never a
silent room.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import av
import numpy as np
from livekit import rtc

logger = logging.getLogger("agent.notice")

SAMPLE_RATE_HZ = 24_000
# "I'm sorry, we have a technical problem, and cannot take your call right now. Please call again
# in a few minutes."
SORRY = Path(__file__).parent / "sounds" / "sorry.ogg"


async def play(room: rtc.Room, sound: Path = SORRY) -> None:
    """Play a sound file into the room, on a track of its own, to its end.

    Args:
        room: a connected room.
        sound: any audio that FFmpeg decodes.
    """
    samples = await asyncio.to_thread(decode, sound)
    source = rtc.AudioSource(SAMPLE_RATE_HZ, 1)
    track = rtc.LocalAudioTrack.create_audio_track("notice", source)
    publication = await room.local_participant.publish_track(
        track, rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
    )
    try:
        # A subscriber hears nothing of what was played before it subscribed.
        await asyncio.wait_for(publication.wait_for_subscription(), timeout=5.0)
        step = SAMPLE_RATE_HZ // 50
        for start in range(0, len(samples), step):
            chunk = samples[start : start + step]
            await source.capture_frame(
                rtc.AudioFrame(chunk.tobytes(), SAMPLE_RATE_HZ, 1, len(chunk))
            )
        await source.wait_for_playout()
    except TimeoutError:
        logger.warning("nobody listened to the notice")
    finally:
        await room.local_participant.unpublish_track(publication.sid)


def decode(sound: Path) -> np.ndarray:
    """The file's samples: mono, 16-bit, at `SAMPLE_RATE_HZ`, shape (samples,)."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
    with av.open(str(sound)) as container:
        frames = [out for frame in container.decode(audio=0) for out in resampler.resample(frame)]
    frames.extend(resampler.resample(None))
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
