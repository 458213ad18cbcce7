"""Watches an AgentSession from the side and writes down what happened when."""

from __future__ import annotations

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

from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline


class SessionObserver:
    """Turns the framework's events into the contract's.

    A caller's turn begins with the first sound after the agent was last heard, and goes on through
    pauses until the agent's next sound, so that one answer and what it answers share a number.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._answered = True  # nothing of the caller's waits for an answer
        self._agent_speaking = False
        self._reply_turn = 0
        self._caller_speaking = False
        self._speech_started_ms: float | None = None
        self._speech_ended_ms: float | None = None
        self._final_ms: float | None = None
        self._heard_words = False
        self._finals: list[str] = []

    def attach(self, session: AgentSession[None]) -> None:
        """Listen to the session from now on; its events arrive on the session's own loop."""
        session.on("user_state_changed", self._on_user_state)
        session.on("user_input_transcribed", self._on_transcribed)
        session.on("agent_state_changed", self._on_agent_state)
        session.on("conversation_item_added", self._on_item_added)
        session.on("error", self._on_error)
        session.on("close", self._on_close)

    def _begin_turn(self) -> None:
        if self._answered:
            self._answered = False
            self._timeline.turn += 1
            self._speech_started_ms = self._speech_ended_ms = self._final_ms = None
            self._heard_words = False
            self._finals = []

    def _on_user_state(self, event: UserStateChangedEvent) -> None:
        at_ms = self._timeline.clock.ms_at(event.created_at)
        if event.new_state == "speaking":
            self._begin_turn()
            self._caller_speaking = True
            # A sound that nothing was heard in was no beginning; a pause is no new one.
            if self._speech_started_ms is None or not self._heard_words:
                self._speech_started_ms = at_ms
            self._timeline.emit(EventType.SPEECH_STARTED, t_ms=at_ms)
        elif event.old_state == "speaking":
            self._caller_speaking = False
            self._speech_ended_ms = at_ms
            self._timeline.emit(EventType.SPEECH_ENDED, t_ms=at_ms)

    def _on_transcribed(self, event: UserInputTranscribedEvent) -> None:
        self._begin_turn()
        self._heard_words = True
        if not event.is_final:
            # Within a turn, a partial goes on from the finals that stand already.
            text = " ".join([*self._finals, event.transcript])
            self._timeline.emit(EventType.PARTIAL_TRANSCRIPT, text=text)
            return
        self._finals.append(event.transcript)
        now_ms = self._final_ms = self._timeline.clock.now_ms()
        self._timeline.emit(
            EventType.FINAL_TRANSCRIPT,
            t_ms=now_ms,
            text=" ".join(self._finals),
            speech_to_final_ms=_since(self._speech_started_ms, now_ms),
            # While the caller speaks on, the pause before this final did not end the turn.
            silence_to_final_ms=None
            if self._caller_speaking
            else _since(self._speech_ended_ms, now_ms),
        )

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        if event.new_state == "speaking" and not self._agent_speaking:
            self._agent_speaking = True
            now_ms = self._timeline.clock.now_ms()
            answers = not self._answered
            self._answered = True
            self._reply_turn = self._timeline.turn
            self._timeline.emit(
                EventType.AGENT_SPEAKING,
                t_ms=now_ms,
                final_to_speech_ms=_since(self._final_ms, now_ms) if answers else None,
                gap_ms=_since(self._speech_ended_ms, now_ms) if answers else None,
            )
        elif event.old_state == "speaking" and self._agent_speaking:
            self._agent_speaking = False
            if self._caller_speaking:
                self._timeline.emit(EventType.INTERRUPTED, turn=self._reply_turn)

    def _on_item_added(self, event: ConversationItemAddedEvent) -> None:
        item = event.item
        if not isinstance(item, ChatMessage):
            return
        if item.role == "user" and not self._finals:
            # A typed turn: there was no sound to time.
            self._begin_turn()
            self._finals.append(item.text_content or "")
            self._timeline.emit(
                EventType.FINAL_TRANSCRIPT,
                text=self._finals[0],
                speech_to_final_ms=None,
                silence_to_final_ms=None,
            )
        elif item.role == "assistant":
            # The caller who interrupts has begun the next turn by now.
            self._timeline.emit(
                EventType.AGENT_STOPPED,
                turn=self._reply_turn,
                text=item.text_content or "",
                interrupted=item.interrupted,
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
