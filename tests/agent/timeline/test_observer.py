"""What the framework reports becomes the contract's events, each in its turn."""

from __future__ import annotations

from typing import Any, cast

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
from tests.agent.timeline.test_events import Clocks


class Call:
    """A session's events, sent by hand on hand-moved clocks."""

    def __init__(self) -> None:
        self.clocks = Clocks()
        self.timeline = Timeline(self.clocks.call_clock())
        self.session: rtc.EventEmitter[Any] = rtc.EventEmitter()
        SessionObserver(self.timeline).attach(cast("AgentSession[None]", self.session))
        self._user, self._agent = "listening", "listening"

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

    def said(self, text: str, *, interrupted: bool = False) -> None:
        message = ChatMessage(role="assistant", content=[text], interrupted=interrupted)
        self.session.emit("conversation_item_added", ConversationItemAddedEvent(item=message))

    def only(self, kind: EventType) -> Event:
        (event,) = [event for event in self.timeline.events if event.type is kind]
        return event


@pytest.fixture
def call() -> Call:
    return Call()


def answer_a_turn(call: Call) -> None:
    """Speech from 1.0 s to 3.0 s, known 0.2 s late; final at 3.4 s; the agent sounds at 4.1 s."""
    call.clocks.pass_s(1.2)
    call.user("speaking", age_s=0.2)
    call.clocks.pass_s(1.0)
    call.heard("from October", final=False)
    call.clocks.pass_s(1.0)
    call.user("listening", age_s=0.2)
    call.clocks.pass_s(0.2)
    call.heard("From October sixteenth.", final=True)
    call.clocks.pass_s(0.7)
    call.agent("speaking")


def test_a_turn_is_timed_from_the_sound_and_not_from_its_detection(call: Call) -> None:
    answer_a_turn(call)
    assert call.only(EventType.SPEECH_STARTED).t_ms == pytest.approx(1000, abs=1)
    assert call.only(EventType.SPEECH_ENDED).t_ms == pytest.approx(3000, abs=1)
    final = call.only(EventType.FINAL_TRANSCRIPT).fields
    assert final["speech_to_final_ms"] == pytest.approx(2400, abs=1)
    assert final["silence_to_final_ms"] == pytest.approx(400, abs=1)
    speaking = call.only(EventType.AGENT_SPEAKING).fields
    assert speaking["final_to_speech_ms"] == pytest.approx(700, abs=1)
    assert speaking["gap_ms"] == pytest.approx(1100, abs=1)


def test_the_greeting_is_turn_zero_and_answers_nothing(call: Call) -> None:
    call.agent("speaking")
    greeting = call.only(EventType.AGENT_SPEAKING)
    assert greeting.turn == 0
    assert greeting.fields == {"final_to_speech_ms": None, "gap_ms": None}


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


def test_an_interruption_belongs_to_the_reply_that_it_ends(call: Call) -> None:
    answer_a_turn(call)
    call.clocks.pass_s(0.5)
    call.user("speaking", age_s=0.1)
    call.agent("listening")
    call.said("Monday, October", interrupted=True)
    stopped = call.only(EventType.AGENT_STOPPED)
    assert call.only(EventType.INTERRUPTED).turn == stopped.turn == 1
    assert stopped.fields == {"text": "Monday, October", "interrupted": True}
    assert call.timeline.turn == 2


def test_a_reply_that_ends_by_itself_is_not_interrupted(call: Call) -> None:
    answer_a_turn(call)
    call.agent("listening")
    call.said("Monday.")
    assert not [e for e in call.timeline.events if e.type is EventType.INTERRUPTED]


def test_the_next_turn_knows_nothing_of_the_last_ones_times(call: Call) -> None:
    answer_a_turn(call)
    call.agent("listening")
    call.clocks.pass_s(5)
    call.heard("two guests", final=True)  # the voice was never detected
    final = [e for e in call.timeline.events if e.type is EventType.FINAL_TRANSCRIPT][-1]
    assert final.turn == 2
    assert final.fields["speech_to_final_ms"] is None
