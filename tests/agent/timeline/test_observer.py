"""What the framework reports becomes the contract's events, each in its turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from livekit import rtc
from livekit.agents import (
    AgentSession,
    AgentStateChangedEvent,
    ConversationItemAddedEvent,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
)
from livekit.agents.llm import ChatMessage

from agent.timeline.events import Event, EventType
from agent.timeline.observer import SessionObserver
from agent.timeline.timeline import Timeline
from tests.agent.timeline.loudspeaker import Loudspeaker
from tests.agent.timeline.test_events import Clocks

RATE = 24_000


@dataclass
class Line:
    """The caller's line, as the worker would have heard it."""

    audible: bool = False
    last_ms: float | None = None
    network_ms: float | None = 40.0


class Call:
    """A session's events, sent by hand on hand-moved clocks."""

    def __init__(self) -> None:
        self.clocks = Clocks()
        self.timeline = Timeline(self.clocks.call_clock())
        self.line = Line()
        self.loudspeaker = Loudspeaker()
        self.session: Any = rtc.EventEmitter[Any]()
        self.session.output = SimpleNamespace(audio=self.loudspeaker)
        SessionObserver(self.timeline, self.line).attach(cast("AgentSession[None]", self.session))
        self.session.emit("speech_created", None)
        self._user, self._agent = "listening", "listening"

    async def plays(self, *, silence_s: float = 0.0, sound_s: float = 0.5) -> None:
        """The agent begins to play a reply; time passes until its first audible sample."""
        silence = np.zeros(round(silence_s * RATE), dtype=np.int16)
        sound = np.full(round(sound_s * RATE), 8000, dtype=np.int16)
        samples = np.concatenate((silence, sound))
        frame = rtc.AudioFrame(samples.tobytes(), RATE, 1, len(samples))
        await self.session.output.audio.capture_frame(frame)
        self.loudspeaker.on_playback_started(created_at=self.clocks.wall_s)
        self.agent("speaking")
        self.clocks.pass_s(silence_s)
        told = asyncio.Event()
        self.timeline.subscribe(lambda _: told.set())
        await asyncio.wait_for(told.wait(), 10)

    async def stops(self, text: str, *, interrupted: bool = False) -> None:
        """The reply is over; the framework says so in this order."""
        self.session.output.audio.flush()
        self.loudspeaker.on_playback_finished(playback_position=0.5, interrupted=interrupted)
        self.agent("listening")
        self.said(text, interrupted=interrupted)

    def user(self, state: Any, *, age_s: float = 0.0) -> None:
        event = UserStateChangedEvent(
            old_state=cast("Any", self._user),
            new_state=state,
            created_at=self.clocks.wall_s - age_s,
        )
        self._user = state
        self.session.emit("user_state_changed", event)

    def agent(self, state: Any) -> None:
        event = AgentStateChangedEvent(old_state=cast("Any", self._agent), new_state=state)
        self._agent = state
        self.session.emit("agent_state_changed", event)

    def heard(self, text: str, *, final: bool) -> None:
        self.session.emit(
            "user_input_transcribed", UserInputTranscribedEvent(transcript=text, is_final=final)
        )

    def asked(self, text: str) -> None:
        """The turn is over: its words are in the talk, and the reply to it is on its way."""
        message = ChatMessage(role="user", content=[text])
        self.session.emit("conversation_item_added", ConversationItemAddedEvent(item=message))

    def said(self, text: str, *, interrupted: bool = False) -> None:
        message = ChatMessage(role="assistant", content=[text], interrupted=interrupted)
        self.session.emit("conversation_item_added", ConversationItemAddedEvent(item=message))

    def only(self, kind: EventType) -> Event:
        (event,) = [event for event in self.timeline.events if event.type is kind]
        return event


@pytest.fixture
def call() -> Call:
    return Call()


async def answer_a_turn(call: Call) -> None:
    """Speech from 1.0 s to 3.0 s, known 0.2 s late; final at 3.4 s; the agent sounds at 4.1 s."""
    call.clocks.pass_s(1.2)
    call.user("speaking", age_s=0.2)
    call.clocks.pass_s(1.0)
    call.heard("from October", final=False)
    call.clocks.pass_s(1.0)
    call.line.last_ms = 2950.0
    call.user("listening", age_s=0.2)
    call.clocks.pass_s(0.2)
    call.heard("From October sixteenth.", final=True)
    call.clocks.pass_s(0.3)
    call.asked("From October sixteenth.")
    call.clocks.pass_s(0.3)
    await call.plays(silence_s=0.1)


async def test_a_turn_is_timed_from_the_sound_to_the_sound(call: Call) -> None:
    await answer_a_turn(call)
    assert call.only(EventType.SPEECH_STARTED).t_ms == pytest.approx(1000, abs=1)
    assert call.only(EventType.SPEECH_ENDED).t_ms == pytest.approx(3000, abs=1)
    final = call.only(EventType.FINAL_TRANSCRIPT).fields
    assert final["speech_to_final_ms"] == pytest.approx(2400, abs=1)
    assert final["silence_to_final_ms"] == pytest.approx(400, abs=1)
    speaking = call.only(EventType.AGENT_SPEAKING)
    assert speaking.t_ms == pytest.approx(4100, abs=1)
    assert speaking.fields["final_to_speech_ms"] == pytest.approx(700, abs=1)
    assert speaking.fields["gap_ms"] == pytest.approx(1150 + 40, abs=1)
    waterfall = speaking.fields["waterfall"]
    assert waterfall["end_of_speech"] == pytest.approx(250, abs=1)
    assert waterfall["final_transcript"] == pytest.approx(200, abs=1)
    assert waterfall["end_of_turn"] == pytest.approx(300, abs=1)
    assert waterfall["network"] == 40


async def test_without_figures_of_the_network_the_gap_is_the_workers_own(call: Call) -> None:
    call.line.network_ms = None
    await answer_a_turn(call)
    speaking = call.only(EventType.AGENT_SPEAKING).fields
    assert speaking["gap_ms"] == pytest.approx(1150, abs=1)
    assert speaking["waterfall"]["network"] is None


async def test_in_noise_the_detector_knows_when_the_caller_fell_silent(call: Call) -> None:
    call.line.audible = True
    await answer_a_turn(call)
    assert call.only(EventType.AGENT_SPEAKING).fields["gap_ms"] == pytest.approx(1140, abs=1)


async def test_the_greeting_is_turn_zero_and_answers_nothing(call: Call) -> None:
    await call.plays()
    greeting = call.only(EventType.AGENT_SPEAKING)
    assert greeting.turn == 0
    assert greeting.fields == {"final_to_speech_ms": None, "gap_ms": None, "waterfall": None}


async def test_a_reply_that_was_cut_off_before_it_sounded_answered_nothing(call: Call) -> None:
    call.user("speaking")
    call.heard("Two guests.", final=True)
    call.user("listening")
    output = call.session.output.audio
    frame = rtc.AudioFrame(bytes(RATE * 2), RATE, 1, RATE)  # a second of silence
    await output.capture_frame(frame)
    call.loudspeaker.on_playback_started(created_at=call.clocks.wall_s)
    call.agent("speaking")
    call.user("speaking")
    await call.stops("", interrupted=True)
    call.heard("No, three.", final=True)
    assert {event.turn for event in call.timeline.events} == {1}
    kinds = {event.type for event in call.timeline.events}
    assert not kinds & {EventType.AGENT_SPEAKING, EventType.INTERRUPTED, EventType.AGENT_STOPPED}


async def test_a_reply_that_goes_on_after_a_murmur_answers_no_new_turn(call: Call) -> None:
    await answer_a_turn(call)
    call.user("speaking")
    call.agent("listening")
    call.user("listening")
    call.agent("speaking")
    first, again = (e for e in call.timeline.events if e.type is EventType.AGENT_SPEAKING)
    assert (first.turn, again.turn) == (1, 1)
    assert again.fields == {"final_to_speech_ms": None, "gap_ms": None, "waterfall": None}


async def test_a_turn_that_goes_on_after_its_decision_is_decided_anew(call: Call) -> None:
    call.user("speaking")
    call.user("listening")
    call.heard("My name is", final=True)
    call.asked("My name is")
    call.user("speaking")
    call.user("listening")
    call.heard("Priya Raman.", final=True)
    call.asked("Priya Raman.")
    finals = [e for e in call.timeline.events if e.type is EventType.FINAL_TRANSCRIPT]
    assert [e.fields["text"] for e in finals] == ["My name is", "My name is Priya Raman."]
    assert {e.turn for e in finals} == {1}


async def test_words_that_come_after_the_reply_went_on_keep_their_times(call: Call) -> None:
    await answer_a_turn(call)
    call.user("speaking")
    call.agent("listening")
    call.user("listening")
    call.clocks.pass_s(1.5)
    call.agent("speaking")
    call.clocks.pass_s(1)
    call.heard("Not the sixteenth.", final=True)
    final = [e for e in call.timeline.events if e.type is EventType.FINAL_TRANSCRIPT][-1]
    assert final.turn == 2
    assert final.fields["speech_to_final_ms"] == pytest.approx(2500, abs=1)


async def test_a_murmur_that_the_reply_went_on_over_is_no_part_of_the_next_turn(call: Call) -> None:
    await answer_a_turn(call)
    call.user("speaking")
    call.heard("Mhmm.", final=True)
    call.user("listening")
    call.clocks.pass_s(2)
    await call.stops("From October sixteenth to October twentieth.")
    call.clocks.pass_s(1)
    call.user("speaking")
    call.clocks.pass_s(1)
    call.heard("Two guests.", final=True)
    murmur, answer = [e for e in call.timeline.events if e.type is EventType.FINAL_TRANSCRIPT][1:]
    assert (murmur.turn, answer.turn) == (2, 3)
    assert answer.fields["text"] == "Two guests."
    assert answer.fields["speech_to_final_ms"] == pytest.approx(1000, abs=1)


async def test_what_is_said_unasked_has_no_gap(call: Call) -> None:
    await answer_a_turn(call)
    await call.stops("From October sixteenth.")
    call.user("speaking")  # a cough: no word is heard in it
    call.user("listening")
    call.clocks.pass_s(8)
    await call.plays()
    assert call.timeline.events[-1].fields["gap_ms"] is None


async def test_a_typed_turn_has_no_sound_to_be_timed(call: Call) -> None:
    await answer_a_turn(call)
    await call.stops("From October sixteenth.")
    call.asked("Two guests, please.")
    await call.plays()
    final, speaking = call.timeline.events[-2:]
    assert (final.type, final.turn) == (EventType.FINAL_TRANSCRIPT, 2)
    assert final.fields["text"] == "Two guests, please."
    assert speaking.fields == {"final_to_speech_ms": None, "gap_ms": None, "waterfall": None}


def test_a_pause_within_a_turn_does_not_begin_another(call: Call) -> None:
    call.user("speaking")
    call.heard("My name is", final=True)
    call.user("listening")
    call.user("speaking")
    call.heard("Priya Raman", final=False)
    call.heard("Priya Raman.", final=True)
    assert {event.turn for event in call.timeline.events} == {1}
    texts = [event.fields["text"] for event in call.timeline.events if "text" in event.fields]
    assert texts == ["My name is", "My name is Priya Raman", "My name is Priya Raman."]


def test_a_final_while_the_caller_speaks_on_has_no_silence(call: Call) -> None:
    call.user("speaking")
    call.user("listening")
    call.user("speaking")
    call.heard("My name is", final=True)
    assert call.only(EventType.FINAL_TRANSCRIPT).fields["silence_to_final_ms"] is None


async def test_an_interruption_belongs_to_the_reply_that_it_ends(call: Call) -> None:
    await answer_a_turn(call)
    call.clocks.pass_s(0.5)
    call.user("speaking", age_s=0.1)
    await call.stops("Monday, October", interrupted=True)
    stopped = call.only(EventType.AGENT_STOPPED)
    assert call.only(EventType.INTERRUPTED).turn == stopped.turn == 1
    assert stopped.fields == {"text": "Monday, October", "interrupted": True}
    assert call.timeline.turn == 2


async def test_a_reply_that_ends_by_itself_is_not_interrupted(call: Call) -> None:
    await answer_a_turn(call)
    await call.stops("Monday.")
    assert not [e for e in call.timeline.events if e.type is EventType.INTERRUPTED]


async def test_the_next_turn_knows_nothing_of_the_last_ones_times(call: Call) -> None:
    await answer_a_turn(call)
    await call.stops("Monday.")
    call.clocks.pass_s(5)
    call.heard("two guests", final=True)  # the voice was never detected
    final = [e for e in call.timeline.events if e.type is EventType.FINAL_TRANSCRIPT][-1]
    assert final.turn == 2
    assert final.fields["speech_to_final_ms"] is None
    await call.plays()
    assert call.timeline.events[-1].fields["gap_ms"] is None
