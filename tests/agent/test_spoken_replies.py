"""A call's replies through the framework's own session: each sentence is synthesised once.

The speech endpoint is a double that counts and the ear is a list, since neither room nor voice is
what is tested; the session, the client and the receptionist are the real ones.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from livekit import rtc
from livekit.agents import AgentSession, UserInputTranscribedEvent
from livekit.agents.llm import ChatMessage
from livekit.agents.voice import io
from livekit.plugins import openai

from agent.booking.hotel import load_hotel
from agent.booking.store import open_store
from agent.foresight import greeting
from agent.receptionist import Receptionist
from agent.session import TTS_CONNECT
from agent.speech.prepared import PreparedVoice, Shelf, seconds
from agent.speech.sentences import split
from agent.speech.synthesis import synthesiser
from agent.timeline.clock import CallClock
from agent.timeline.timeline import Timeline

SENTENCE_S = 0.5


class Ear(io.AudioOutput):
    """Hears everything at once."""

    def __init__(self) -> None:
        super().__init__(
            label="ear",
            capabilities=io.AudioOutputCapabilities(pause=False),
            sample_rate=24_000,
        )
        self.heard: list[rtc.AudioFrame] = []
        self.done = asyncio.Event()  # a reply was heard to its end
        self._reply: list[rtc.AudioFrame] = []

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self._reply:
            self.on_playback_started(created_at=time.time())
        self._reply.append(frame)

    def flush(self) -> None:
        super().flush()
        self._end(interrupted=False)

    def clear_buffer(self) -> None:
        self._end(interrupted=True)

    def _end(self, *, interrupted: bool) -> None:
        if self._reply:
            self.heard += self._reply
            played_s = seconds(self._reply)
            self._reply = []
            self.done.set()
            self.on_playback_finished(playback_position=played_s, interrupted=interrupted)


@dataclass
class Call:
    session: AgentSession[None]
    ear: Ear
    asked: list[str] = field(default_factory=list)

    async def speaks(self, *partials: str) -> None:
        """The caller is heard to say this so far."""
        for text in partials:
            self.session.emit(
                "user_input_transcribed", UserInputTranscribedEvent(transcript=text, is_final=False)
            )
            await asyncio.sleep(0.2)

    async def ends_turn(self, text: str) -> tuple[str, float]:
        """The turn is over; returns the reply's words and how long they sound, in seconds."""
        before = len(self.ear.heard)
        await asyncio.wait_for(self.session.run(user_input=text), timeout=20)
        last = self.session.history.items[-1]
        assert isinstance(last, ChatMessage)
        return (last.text_content or "").strip(), seconds(self.ear.heard[before:])


@pytest.fixture
async def call(tmp_path: Path) -> AsyncIterator[Call]:
    """A call without a language model, whose greeting was made before it."""
    asked: list[str] = []

    async def speak(request: web.Request) -> web.Response:
        asked.append((await request.json())["input"])
        body = b"\x00\x10" * int(24_000 * SENTENCE_S)
        return web.Response(body=body, content_type="audio/pcm", headers={"x-request-id": "1"})

    app = web.Application()
    app.router.add_post("/v1/audio/speech", speak)
    server = TestServer(app)
    await server.start_server()
    url = str(server.make_url("/v1"))
    now, ahead = (openai.TTS(base_url=url, api_key="none", response_format="pcm") for _ in range(2))
    hotel, shelf, samples = load_hotel(), Shelf(), int(24_000 * SENTENCE_S)
    for sentence in split(greeting(hotel)):
        shelf.put(sentence, [rtc.AudioFrame(b"\x00\x10" * samples, 24_000, 1, samples)])
    receptionist = Receptionist(
        call_id="call",
        hotel=hotel,
        store=open_store(f"sqlite:///{tmp_path}/requests.sqlite3"),
        timeline=Timeline(CallClock()),
        today=lambda: date(2026, 11, 30),
        reply_deadline_s=0.2,
        voice=PreparedVoice(synthesiser(now, TTS_CONNECT), synthesiser(ahead, TTS_CONNECT), shelf),
    )
    session: AgentSession[None] = AgentSession(
        # Nothing listens there: the words are the code's.
        llm=openai.LLM(model="none", base_url="http://127.0.0.1:9/v1", api_key="none"),
        tts=now,
        tts_text_transforms=None,
    )
    session.output.audio = ear = Ear()
    await session.start(receptionist)
    await asyncio.wait_for(ear.done.wait(), timeout=20)
    yield Call(session, ear, asked)
    await session.aclose()
    await server.close()


async def test_the_greeting_is_heard_without_being_made_again(call: Call) -> None:
    assert seconds(call.ear.heard) == pytest.approx(2 * SENTENCE_S)
    assert call.asked == []


async def test_a_reply_is_made_while_the_caller_speaks_and_each_sentence_once(call: Call) -> None:
    await call.speaks("I'd like a room from October 16th", "I'd like a room from October 16th to")
    await call.speaks("I'd like a room from October 16th to the 20th")
    made = "From Saturday, October sixteenth, to Wednesday, October twentieth."
    assert call.asked[-1] == made
    words, length_s = await call.ends_turn("I'd like a room from October 16th to the 20th.")
    assert words == f"{made} For how many guests, and which kind of room?"
    assert length_s == pytest.approx(2 * SENTENCE_S, abs=0.1)
    assert call.asked.count(made) == 1


async def test_what_was_foreseen_from_words_that_changed_is_not_heard(call: Call) -> None:
    await call.speaks("I'd like a room from October 16th")
    foreseen = call.asked[-1]
    words, _ = await call.ends_turn("I'd like a room from October 16th to the 20th, no, the 21st.")
    assert words.startswith("From Saturday, October sixteenth, to Thursday, October twenty-first.")
    assert foreseen not in words
