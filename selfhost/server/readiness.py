"""The server's test of itself: it is ready when its own speech comes back as words."""

from __future__ import annotations

import logging
import uuid

import numpy as np

from selfhost.server.speech.encoding import SAMPLE_RATE_HZ as SPEECH_RATE_HZ
from selfhost.server.speech.model import BrokenVoiceError, SpeechModel
from selfhost.server.state import ServerState
from selfhost.server.transcription.audio import Resampler, as_audio
from selfhost.server.transcription.files import transcribe_file
from selfhost.server.transcription.guards import plain
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import Hints

log = logging.getLogger(__name__)

SENTENCE = "Good evening, the hotel has three rooms."
EXPECTED = ("hotel", "rooms")
MIN_LOUDNESS = 0.01  # root mean square


class SelfTestError(Exception):
    """A model loaded, but what it makes is wrong. The server must not be used."""


async def make_ready(state: ServerState) -> None:
    """Load the default models, test them on each other, and let requests in.

    Raises:
        SelfTestError: silent or broken speech, or no words heard in it.
    """
    settings = state.settings
    state.not_ready = f"{settings.speech_model} is loading"
    speech = await state.catalogue.speech(settings.speech_model, None)
    state.not_ready = f"{settings.transcription_model} is loading"
    transcription = await state.catalogue.transcription(settings.transcription_model)
    state.not_ready = "the models are being tested"
    await check(speech, transcription)
    state.not_ready = None
    log.info(
        "ready: %s and %s pass their test", settings.transcription_model, settings.speech_model
    )


async def check(speech: SpeechModel, transcription: TranscriptionModel) -> None:
    """Let one model hear what the other says."""
    owner = f"self-test-{uuid.uuid4().hex}"
    try:
        chunks = [chunk async for chunk in speech.stream(SENTENCE, speed=1.0, owner=owner)]
    except BrokenVoiceError as error:
        raise SelfTestError(str(error)) from error
    pcm = np.concatenate(chunks)
    sound = as_audio(pcm)
    loudness = float(np.sqrt(np.mean(sound**2))) if len(sound) else 0.0
    if not loudness > MIN_LOUDNESS:
        raise SelfTestError(f"{speech.id} speaks silence (loudness {loudness:.4f})")
    audio = as_audio(Resampler(SPEECH_RATE_HZ).push(pcm))
    heard = await transcribe_file(
        transcription,
        audio,
        Hints("en"),
        owner=owner,
        word_times=False,
    )
    words = plain(heard.text).split()
    if not any(word in words for word in EXPECTED):
        raise SelfTestError(
            f"{transcription.id} heard {len(words)} words, none of the expected, in speech of "
            f"{speech.id}"
        )
