"""When an endpoint fails in the middle of a call, the caller is told by whatever still works."""

from __future__ import annotations

import asyncio
import logging

from livekit import rtc
from livekit.agents import AgentSession, ErrorEvent, UserInputTranscribedEvent

from agent import notice, wording

logger = logging.getLogger("agent.faults")

# The first failure may be a server that is restarted; the next is one that the caller notices.
DEAF_AFTER_FAILURES = 2
# How many more failed attempts, about one a second, until the caller is told again.
FAILURES_BETWEEN_APOLOGIES = 15


class Apologist:
    """Tells the caller that the agent cannot hear, or cannot speak."""

    def __init__(self, session: AgentSession[None], room: rtc.Room) -> None:
        self._session = session
        self._room = room
        self._stt_failures = 0
        self._playing: asyncio.Task[None] | None = None
        session.on("error", self._on_error)
        session.on("user_input_transcribed", self._on_transcribed)

    def _on_transcribed(self, _: UserInputTranscribedEvent) -> None:
        self._stt_failures = 0

    def _on_error(self, event: ErrorEvent) -> None:
        kind = getattr(event.error, "type", "")
        if kind == "stt_error":
            self._stt_failures += 1
            since_told = self._stt_failures - DEAF_AFTER_FAILURES
            if since_told >= 0 and since_told % FAILURES_BETWEEN_APOLOGIES == 0:
                logger.error("speech to text does not answer; the caller is told")
                self._session.say(wording.DEAF, add_to_chat_ctx=False)
        silent = self._playing is None or self._playing.done()
        if kind == "tts_error" and not event.error.recoverable and silent:
            logger.error("speech does not answer; the recorded notice is played")
            self._playing = asyncio.create_task(notice.play(self._room))
