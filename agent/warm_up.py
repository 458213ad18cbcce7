"""What a job process does before its call comes, so that no caller waits for it.

The greeting and the sentences that calls have in common are synthesised once for all of a worker's
job processes, which find them in a folder. The first one makes them while it waits for its call.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence

from livekit.agents import APIConnectOptions
from livekit.agents.utils import http_context
from openai.types.realtime import SessionUpdateEvent

from agent.session import build_tts
from agent.settings import Settings
from agent.speech.sound_folder import SoundFolder
from agent.speech.synthesis import plain, synthesiser

logger = logging.getLogger("agent.warm_up")

# A server that is not there yet is no reason to hold up a call: it is asked again by the next
# job process, and whatever is missing then is synthesised in the call.
CONNECT = APIConnectOptions(max_retry=0, timeout=2.0)
GREETING_S = 5.0


def load_slow_code() -> None:
    """Do what libraries put off until their first use, each of which would hold up a call's loop.

    Together they take some tenths of a second: the TLS context of the framework's HTTP session, and
    the schema of what opens a transcription session.
    """

    async def open_session() -> None:
        async with http_context.open():
            pass

    asyncio.run(open_session())
    SessionUpdateEvent.model_rebuild()


class WarmUp:
    """The making of those sentences, in a job process that waits for its call.

    Args:
        settings: whose voice it is.
        sounds: where their sound is kept.
    """

    def __init__(self, settings: Settings, sounds: SoundFolder) -> None:
        self._settings = settings
        self._sounds = sounds
        self._stopped = threading.Event()

    def make_now(self, sentences: Sequence[str]) -> None:
        """Make what is missing of these, before anything else is done."""
        asyncio.run(self._make(sentences, GREETING_S))

    def make_meanwhile(self, sentences: Sequence[str]) -> threading.Thread:
        """Make what is missing of these on a thread, one after another, until `stop`."""

        def work() -> None:
            asyncio.run(self._make(sentences))

        thread = threading.Thread(target=work, name="warm-up", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """A call has come: begin no further sentence."""
        self._stopped.set()

    async def _make(self, sentences: Sequence[str], within_s: float | None = None) -> None:
        missing = [sentence for sentence in sentences if sentence not in self._sounds]
        if not missing:
            return
        # A client belongs to the loop that it is used on, so this one is not the call's.
        voice = build_tts(self._settings)
        synthesise = synthesiser(voice, CONNECT)
        try:
            async with asyncio.timeout(within_s):
                for sentence in missing:
                    if self._stopped.is_set():
                        return
                    frames = [plain(frame) async for frame in synthesise(sentence)]
                    await asyncio.to_thread(self._sounds.save, sentence, frames)
        except Exception as error:
            logger.info("sentences are not made ready: %s", type(error).__name__)
        finally:
            await voice.aclose()
