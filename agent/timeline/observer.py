"""Watches an AgentSession from the side and writes down what happened when."""

from __future__ import annotations

from typing import Protocol

from livekit.agents import (
    AgentSession,
    AgentStateChangedEvent,
    CloseEvent,
    ConversationItemAddedEvent,
    ErrorEvent,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
)
from livekit.agents.llm import ChatMessage

from agent.timeline.agent_sound import AgentSound
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline
from agent.timeline.turn import CallerTurn
from agent.timeline.waterfall import split_gap


class Line(Protocol):
    """What is known of the caller's line; see `agent.timeline.caller_line`."""

    @property
    def audible(self) -> bool:
        """Whether sound goes on."""

    @property
    def last_ms(self) -> float | None:
        """When the last audible sound ended, in milliseconds of the call."""

    @property
    def network_ms(self) -> float | None:
        """What the network adds to a gap, both ways."""


class SessionObserver:
    """Turns the framework's events into the contract's.

    A caller's turn begins with the first sound after the agent was last heard, and goes on through
    pauses until the agent's next sound, so that one answer and what it answers share a number. A
    reply that was cut off before it could be heard answered nothing.

    Args:
        timeline: the call's.
        line: the caller's; without one no gap is known.
    """

    def __init__(self, timeline: Timeline, line: Line | None = None) -> None:
        self._timeline = timeline
        self._line = line
        self._sound: AgentSound | None = None
        self._turn = CallerTurn()
        self._answered = True  # nothing of the caller's waits for an answer
        self._heard = False  # the present reply was, and the agent speaks
        self._unfinished = False  # a reply was heard, and its words are yet to come
        self._reply_turn = 0
        self._quiet_ms = 0.0  # when the agent last fell silent

    def attach(self, session: AgentSession[None]) -> None:
        """Listen to the session from now on; its events arrive on the session's own loop."""
        session.on("user_state_changed", self._on_user_state)
        session.on("user_input_transcribed", self._on_transcribed)
        session.on("agent_state_changed", self._on_agent_state)
        session.on("conversation_item_added", self._on_item_added)
        session.on("error", self._on_error)
        session.on("close", self._on_close)
        # The session sets its output when it starts, and speaks first thing then.
        session.once("speech_created", lambda _: self._listen_to_output(session))

    def _listen_to_output(self, session: AgentSession[None]) -> None:
        if session.output.audio is not None:
            clock = self._timeline.clock
            self._sound = AgentSound(clock, session.output.audio, self._on_audible)
            session.output.audio = self._sound

    def _begin_turn(self) -> None:
        if self._answered:
            self._answered = False
            self._timeline.turn += 1
            self._turn = CallerTurn(speaking=self._turn.speaking)

    def _on_user_state(self, event: UserStateChangedEvent) -> None:
        at_ms = self._timeline.clock.ms_at(event.created_at)
        if event.new_state == "speaking":
            if self._turn.was_over_before(self._quiet_ms):
                self._answered = True  # a murmur during the reply, which asked for none
            self._begin_turn()
            self._turn.starts_speaking(at_ms)
            self._timeline.emit(EventType.SPEECH_STARTED, t_ms=at_ms)
        elif event.old_state == "speaking":
            self._turn.stops_speaking(at_ms, self._timeline.clock.now_ms())
            self._timeline.emit(EventType.SPEECH_ENDED, t_ms=at_ms)

    def _on_transcribed(self, event: UserInputTranscribedEvent) -> None:
        self._begin_turn()
        turn = self._turn
        turn.heard_words = True
        if not event.is_final:
            # Within a turn, a partial goes on from the finals that stand already.
            text = " ".join([*turn.finals, event.transcript])
            self._timeline.emit(EventType.PARTIAL_TRANSCRIPT, text=text)
            return
        now_ms = self._timeline.clock.now_ms()
        turn.hears_final(event.transcript, now_ms)
        self._timeline.emit(
            EventType.FINAL_TRANSCRIPT,
            t_ms=now_ms,
            text=" ".join(turn.finals),
            speech_to_final_ms=_since(turn.speech_started_ms, now_ms),
            # While the caller speaks on, the pause before this final did not end the turn.
            silence_to_final_ms=None if turn.speaking else _since(turn.speech_ended_ms, now_ms),
        )

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        if event.new_state == "speaking":
            if self._sound is None:
                # Text only, or a voice that plays where it cannot be heard from here.
                self._on_audible(self._timeline.clock.now_ms(), None)
            elif self._sound.heard and not self._heard:
                self._resume()
        elif event.old_state == "speaking" and self._heard:
            self._heard = False
            self._quiet_ms = self._timeline.clock.now_ms()
            if self._turn.speaking:
                self._timeline.emit(EventType.INTERRUPTED, turn=self._reply_turn)

    def _on_audible(self, at_ms: float, speech: str | None) -> None:
        """A reply is heard for the first time."""
        if self._heard:
            return
        self._heard = self._unfinished = True
        turn, line = self._turn, self._line
        final_ms, gap = None, None
        asked = turn.heard_words and not turn.was_over_before(self._quiet_ms)
        if asked and not self._answered:
            final_ms = turn.final_ms
            if line is not None and final_ms is not None:
                last_ms = turn.last_sound_ms(line.last_ms, line.audible)
                reached = self._timeline.replies.of(speech)
                gap = split_gap(turn.moments(last_ms, at_ms, reached), line.network_ms)
        self._answered = True
        self._reply_turn = self._timeline.turn
        self._timeline.emit(
            EventType.AGENT_SPEAKING,
            t_ms=at_ms,
            final_to_speech_ms=_since(final_ms, at_ms),
            gap_ms=gap.ms if gap else None,
            waterfall=gap.parts if gap else None,
        )

    def _resume(self) -> None:
        """A reply goes on that a sound of the caller's had stopped; it answers what it did."""
        self._heard = True
        self._timeline.emit(
            EventType.AGENT_SPEAKING,
            turn=self._reply_turn,
            final_to_speech_ms=None,
            gap_ms=None,
            waterfall=None,
        )

    def _on_item_added(self, event: ConversationItemAddedEvent) -> None:
        item = event.item
        if not isinstance(item, ChatMessage):
            return
        if item.role == "user":
            self._on_user_message(item.text_content or "")
        elif item.role == "assistant" and self._unfinished:
            self._unfinished = False
            # The caller who interrupts has begun the next turn by now.
            self._timeline.emit(
                EventType.AGENT_STOPPED,
                turn=self._reply_turn,
                text=item.text_content or "",
                interrupted=item.interrupted,
            )

    def _on_user_message(self, text: str) -> None:
        """The turn is over: the framework goes on to answer it."""
        now_ms = self._timeline.clock.now_ms()
        if self._turn.finals and self._turn.decided_ms is None:
            self._turn.decided_ms = now_ms
            return
        # A typed turn: there was no sound to time.
        self._begin_turn()
        self._turn.finals.append(text)
        self._turn.decided_ms = now_ms
        self._timeline.emit(
            EventType.FINAL_TRANSCRIPT, text=text, speech_to_final_ms=None, silence_to_final_ms=None
        )

    def _on_error(self, event: ErrorEvent) -> None:
        error = event.error
        kind = getattr(error, "type", "session_error").removesuffix("_error")
        cause = getattr(error, "error", error)
        self._timeline.emit(
            EventType.COMPONENT_ERROR,
            component=kind,
            # The cause's own text may quote the caller or an address; its kind is enough to act on.
            message=type(cause).__name__,
            recoverable=bool(getattr(error, "recoverable", False)),
        )

    def _on_close(self, event: CloseEvent) -> None:
        self._timeline.emit(EventType.CALL_ENDED, reason=event.reason.value)


def _since(earlier_ms: float | None, now_ms: float) -> float | None:
    """Milliseconds between the two, or None if either is unknown or they are out of order."""
    if earlier_ms is None or earlier_ms > now_ms:
        return None
    return round(now_ms - earlier_ms, 1)
