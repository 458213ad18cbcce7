"""The server is ready when the models that it starts with are loaded and pass their tests."""

from __future__ import annotations

import logging

from selfhost.server.health.hearing import check_hearing
from selfhost.server.health.speaking import check_speaking
from selfhost.server.state import ServerState

log = logging.getLogger(__name__)


async def make_ready(state: ServerState) -> None:
    """Load the default models, test them, and let requests in.

    Raises:
        SelfTestError: what one of them makes is wrong.
        BrokenModelError: what one of them makes are no numbers.
    """
    settings = state.settings
    state.not_ready = f"{settings.speech_model} is loading"
    speech = await state.catalogue.speech(settings.speech_model, None)
    state.not_ready = f"{settings.transcription_model} is loading"
    transcription = await state.catalogue.transcription(settings.transcription_model)
    state.not_ready = "the models are being tested"
    await check_speaking(speech)
    await check_hearing(transcription)
    state.not_ready = None
    log.info(
        "ready: %s and %s pass their test", settings.transcription_model, settings.speech_model
    )
