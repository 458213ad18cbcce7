"""What a call's events add to the figures."""

from __future__ import annotations

from typing import Any

from agent.telemetry.measures import CallMeasures, Count, Duration
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline
from agent.timeline.waterfall import PARTS
from tests.agent.timeline.test_events import Clocks

PROVIDERS = {"stt": "selfhosted/default", "llm": "openrouter/gpt", "tts": "livekit/default"}
WATERFALL: dict[str, float | None] = {
    **dict.fromkeys(PARTS, 0.0),
    "end_of_speech": 250.0,
    "end_of_turn": 300.0,
    "first_token": None,
    "first_audio": 130.0,
    "unexplained": 20.0,
}


class Call:
    """A timeline whose measures are kept."""

    def __init__(self) -> None:
        self.timeline = Timeline(Clocks().call_clock())
        self.measures = CallMeasures()
        self.said: list[Duration | Count] = []
        self.timeline.subscribe(lambda event: self.said.extend(self.measures.read(event)))
        self.emit(EventType.CALL_STARTED, 100.0, 0, call_id="c", providers=PROVIDERS)

    def emit(self, kind: EventType, t_ms: float, turn: int, **fields: Any) -> None:
        self.timeline.turn = max(turn, self.timeline.turn)
        self.timeline.emit(kind, t_ms=t_ms, turn=turn, **fields)

    def hear(self, turn: int, at_ms: float, *, silence_to_final_ms: float = 300.0) -> None:
        self.emit(EventType.SPEECH_STARTED, at_ms, turn)
        self.emit(EventType.PARTIAL_TRANSCRIPT, at_ms + 480.0, turn, text="A double")
        self.emit(EventType.PARTIAL_TRANSCRIPT, at_ms + 900.0, turn, text="A double room")
        self.emit(
            EventType.FINAL_TRANSCRIPT,
            at_ms + 1_500.0,
            turn,
            text="A double room",
            speech_to_final_ms=1_500.0,
            silence_to_final_ms=silence_to_final_ms,
        )

    def answer(self, turn: int, at_ms: float, gap_ms: float | None = 700.0) -> None:
        self.emit(
            EventType.AGENT_SPEAKING,
            at_ms,
            turn,
            final_to_speech_ms=None if gap_ms is None else 400.0,
            gap_ms=gap_ms,
            waterfall=None if gap_ms is None else WATERFALL,
        )

    def seconds(self, name: str) -> list[float]:
        return [one.seconds for one in self.said if isinstance(one, Duration) and one.name == name]

    def counted(self, name: str) -> list[dict[str, str]]:
        return [
            dict(one.labels) for one in self.said if isinstance(one, Count) and one.name == name
        ]


def test_a_turns_delays_and_the_parts_of_its_gap_are_measured() -> None:
    call = Call()
    call.hear(1, 2_000.0)
    call.answer(1, 4_000.0)
    assert call.measures.providers == PROVIDERS
    assert call.seconds("gap") == [0.7]
    assert call.seconds("final_to_speech") == [0.4]
    assert call.seconds("first_partial") == [0.48]
    assert call.seconds("silence_to_final") == [0.3]
    parts = {part: call.seconds(part) for part in PARTS}
    assert parts["first_token"] == []  # unknown is never zero
    assert parts["check"] == [0.0]
    assert abs(sum(sum(found) for found in parts.values()) - 0.7) < 1e-9
    assert call.counted("turns") == [{}]


def test_the_greeting_is_measured_from_the_calls_begin_and_is_no_turn() -> None:
    call = Call()
    call.answer(0, 850.0, gap_ms=None)
    call.answer(0, 2_000.0, gap_ms=None)
    assert call.seconds("greeting") == [0.75]
    assert call.counted("turns") == []


def test_a_caller_who_pauses_is_measured_once_by_the_final_that_was_answered() -> None:
    call = Call()
    call.hear(1, 2_000.0, silence_to_final_ms=500.0)
    call.hear(1, 5_000.0, silence_to_final_ms=200.0)
    call.answer(1, 7_000.0)
    assert call.seconds("silence_to_final") == [0.2]
    assert call.seconds("first_partial") == [0.48]
    assert len(call.counted("turns")) == 1


def test_a_reply_that_sounds_twice_is_measured_by_its_first_sound() -> None:
    call = Call()
    call.hear(1, 2_000.0)
    call.answer(1, 4_000.0, gap_ms=700.0)
    call.answer(1, 6_000.0, gap_ms=2_700.0)
    assert call.seconds("gap") == [0.7]
    assert len(call.seconds("playout")) == 1


def test_a_sound_without_words_before_them_is_no_beginning_of_a_turn() -> None:
    call = Call()
    call.emit(EventType.SPEECH_STARTED, 1_000.0, 1)
    call.emit(EventType.SPEECH_ENDED, 1_200.0, 1)
    call.hear(1, 6_000.0)
    call.answer(1, 8_000.0)
    assert call.seconds("first_partial") == [0.48]


def test_a_turn_that_nobody_answered_was_heard_all_the_same() -> None:
    call = Call()
    call.hear(1, 2_000.0)
    call.emit(EventType.CALL_ENDED, 9_000.0, 1, reason="participant_disconnected")
    assert call.seconds("silence_to_final") == [0.3]
    assert call.seconds("gap") == []
    assert call.counted("calls") == [{"reason": "participant_disconnected"}]


def test_what_happens_to_a_reply_is_counted_by_its_kind_alone() -> None:
    call = Call()
    call.emit(EventType.REPLY_REPLACED, 1.0, 1, reason="wrong_date", text="On October sixteenth")
    call.emit(EventType.COMPONENT_ERROR, 2.0, 1, component="llm", message="Timeout")
    call.emit(EventType.INTERRUPTED, 3.0, 1)
    assert call.counted("replies_replaced") == [{"reason": "wrong_date"}]
    assert call.counted("component_errors") == [{"component": "llm"}]
    assert call.counted("interruptions") == [{}]


def test_a_delay_that_cannot_be_true_is_not_measured() -> None:
    call = Call()
    call.hear(1, 2_000.0)
    call.answer(1, 4_000.0, gap_ms=200_000.0)
    assert call.seconds("gap") == []
