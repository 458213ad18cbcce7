"""Recordings for the page's tests, written by the worker's own classes on a clock that is told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.booking.request import REQUIRED, Field
from agent.timeline.clock import CallClock
from agent.timeline.events import EventType
from agent.timeline.recording import Recorder
from agent.timeline.timeline import Timeline
from agent.timeline.waterfall import PARTS

SELFHOSTED = {"stt": "selfhosted/default", "llm": "selfhosted/default", "tts": "selfhosted/default"}
CLOUD = {**SELFHOSTED, "llm": "openrouter/openai/gpt-4.1-mini"}
BEGAN = datetime(2026, 10, 1, 9, 30, tzinfo=UTC)


def waterfall(gap_ms: float, **known_ms: float) -> dict[str, float | None]:
    """A gap's parts: those that are known, and the rest of it unexplained."""
    rest_ms = gap_ms - sum(known_ms.values())
    return {**dict.fromkeys(PARTS), **known_ms, "unexplained": rest_ms}


class RecordedCall:
    """A call that is being recorded; `now_s` is the time since it began."""

    def __init__(
        self,
        folder: Path,
        call_id: str,
        *,
        began: datetime = BEGAN,
        providers: dict[str, str] | None = None,
    ) -> None:
        self.now_s = 0.0
        self.timeline = Timeline(
            CallClock(lambda: self.now_s, lambda: began.timestamp() + self.now_s)
        )
        self._emit(EventType.CALL_STARTED, call_id=call_id, providers=providers or SELFHOSTED)
        Recorder(self.timeline, folder).start(call_id)
        self.path = folder / f"{began:%Y%m%dT%H%M%SZ}-{call_id}.jsonl"

    def _emit(self, kind: EventType, **fields: Any) -> None:
        self.timeline.emit(kind, **fields)

    def says(self, text: str, *, lasts_s: float = 2.0) -> None:
        """The agent speaks, without having been asked anything."""
        self._emit(EventType.AGENT_SPEAKING, final_to_speech_ms=None, gap_ms=None)
        self.now_s += lasts_s
        self._emit(EventType.AGENT_STOPPED, text=text, interrupted=False)

    def turn(
        self,
        heard: str,
        answer: str,
        *,
        silence_to_final_ms: float = 400.0,
        final_to_speech_ms: float = 600.0,
        changes: tuple[tuple[str, Any], ...] = (),
        parts: Mapping[str, float] | None = None,
    ) -> None:
        """The caller speaks for two seconds, and is answered for two.

        Args:
            heard: the caller's words.
            answer: the agent's.
            silence_to_final_ms: from the caller's last sound to the final words.
            final_to_speech_ms: from there to the agent's first sound.
            changes: what the booking has from then on.
            parts: what the gap was spent on, as far as it is known; None for a recording without.
        """
        self.now_s += 1.0
        self.timeline.turn += 1
        self._emit(EventType.SPEECH_STARTED)
        self.now_s += 1.0
        self._emit(EventType.PARTIAL_TRANSCRIPT, text=" ".join(heard.split()[:2]))
        self.now_s += 1.0
        self._emit(EventType.SPEECH_ENDED)
        self.now_s += silence_to_final_ms / 1000
        self._emit(
            EventType.FINAL_TRANSCRIPT,
            text=heard,
            speech_to_final_ms=2000.0 + silence_to_final_ms,
            silence_to_final_ms=silence_to_final_ms,
        )
        if changes:
            booking = {field.value: None for field in Field} | dict(changes)
            self._emit(
                EventType.BOOKING_UPDATED,
                booking=booking,
                missing=[field.value for field in REQUIRED if booking[field.value] is None],
                confirmed=False,
                request_number=None,
                changes=[
                    {"field": field, "old": None, "new": value, "words": heard}
                    for field, value in changes
                ],
            )
        self.now_s += final_to_speech_ms / 1000
        gap_ms = silence_to_final_ms + final_to_speech_ms
        self._emit(
            EventType.AGENT_SPEAKING,
            final_to_speech_ms=final_to_speech_ms,
            gap_ms=gap_ms,
            **({"waterfall": waterfall(gap_ms, **parts)} if parts else {}),
        )
        self.now_s += 2.0
        self._emit(EventType.AGENT_STOPPED, text=answer, interrupted=False)

    def ends(self) -> Path:
        """The caller hangs up; gives the recording."""
        self.now_s += 0.5
        self._emit(EventType.CALL_ENDED, reason="participant_disconnected")
        return self.path


def booking_call(folder: Path, call_id: str = "RM_booking", **options: Any) -> Path:
    """A short call with a greeting and three turns, the second one slow."""
    call = RecordedCall(folder, call_id, **options)
    call.says("Harbour View Hotel, good day. Which dates would you like to stay?")
    call.turn(
        "From October sixteenth to October twentieth.",
        "From October 16 to October 20. For how many guests?",
        changes=(("check_in", "2026-10-16"), ("check_out", "2026-10-20")),
    )
    call.turn(
        "For two guests, please.",
        "Two guests. Which room?",
        final_to_speech_ms=1900.0,
        parts={"end_of_speech": 250.0, "final_transcript": 150.0, "first_sentence": 1500.0},
    )
    call.turn("A double room.", "A double room. What is the name?")
    return call.ends()
