"""The test of a transcription model: does it hear the words of a clip that the server brings?"""

from __future__ import annotations

import uuid
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority
from selfhost.server.transcription.audio import read_file
from selfhost.server.transcription.guards import plain
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import SAMPLE_RATE_HZ, Audio, Hints

CLIP = Path(__file__).with_name("clip.ogg")  # spoken by the Piper voice that the server brings
CLIP_TEXT = "Good evening, the hotel has three rooms."
MIN_WORDS_HEARD = 4  # of its seven: a small model may mishear one, a broken one hears none


@lru_cache(maxsize=1)
def clip() -> Audio:
    return read_file(CLIP.read_bytes(), max_audio_s=10.0)


async def check_hearing(model: TranscriptionModel) -> None:
    """Let `model` transcribe the clip, after everything that callers wait for.

    Raises:
        SelfTestError: it does not hear what is said there.
        BrokenModelError: what it makes are no numbers.
    """
    sound = clip()
    decoded = await model.transcribe(
        partial(np.asarray, sound),
        Hints("en"),
        owner=f"self-test-{uuid.uuid4().hex}",
        priority=Priority.BACKGROUND,
        kind="self-test",
        voiced_ms=len(sound) * 1000 / SAMPLE_RATE_HZ,
        may_refuse=False,
    )
    words = plain(decoded.text).split()
    heard = len(set(plain(CLIP_TEXT).split()) & set(words))
    if heard < MIN_WORDS_HEARD:
        raise SelfTestError(
            f"{model.id} heard {heard} of the 7 words of a clear sentence, and {len(words)} words "
            "in all"
        )
