"""What one call's events add to the figures of all calls. Pure.

A figure's name is that of the event's field, or of the waterfall's part, that holds it: `gap_ms` of
a recording is `hotel_voice_gap_seconds` in Prometheus and `hotel_voice.gap` in OpenTelemetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agent.timeline.events import Event, EventType
from agent.timeline.plausibility import implausible
from agent.timeline.waterfall import PARTS

PREFIX = "hotel_voice"

GAP = "gap"
GREETING = "greeting"
FIRST_PARTIAL = "first_partial"
_FINAL_FIELDS = ("speech_to_final", "silence_to_final")
_REPLY_FIELDS = ("final_to_speech", GAP)

DURATIONS: Mapping[str, str] = {
    GAP: "From the caller's last sound to the agent's first, as the caller hears it",
    **{part: f"What {part} added to the gap" for part in PARTS},
    FIRST_PARTIAL: "From the caller's first sound of a turn to its first partial transcript",
    "speech_to_final": "From the caller's first sound of a turn to its final transcript",
    "silence_to_final": "From the caller's last sound of a turn to its final transcript",
    "final_to_speech": "From a turn's final transcript to the agent's first sound",
    GREETING: "From the call's begin to the first sound of the greeting",
}
"""Every duration that is measured, and what it is."""

BUCKETS_S = (
    *(0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0),
    *(1.2, 1.6, 2.0, 2.5, 3.5, 5.0, 10.0),
)
"""Close together around a good gap, 0.2 to 0.9 s, and a bad one, 1.6 s."""

TURNS = "turns"
INTERRUPTIONS = "interruptions"
REPLIES_REPLACED = "replies_replaced"
COMPONENT_ERRORS = "component_errors"
CALLS = "calls"

COUNTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    TURNS: ("Turns of callers in which words were heard", ()),
    INTERRUPTIONS: ("Replies that the caller broke off by speaking", ()),
    REPLIES_REPLACED: ("Sentences that were not spoken, with another in their place", ("reason",)),
    COMPONENT_ERRORS: ("Failures of a part of a call", ("component",)),
    CALLS: ("Calls that ended", ("reason",)),
}
"""Everything that is counted: what it is, and the labels that it has besides `PROVIDERS`."""

IN_PROGRESS = "calls_in_progress"
IN_PROGRESS_MEANING = "Calls that go on"

PROVIDERS = ("stt", "llm", "tts")
"""Labels of every figure: who heard, worded and spoke, as `call_started` names them."""

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Duration:
    """One measured duration, by its name in `DURATIONS`."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Count:
    """One more of something in `COUNTS`, with its own labels."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)


class CallMeasures:
    """Reads one call's events in order and says what each adds.

    A turn's transcripts are measured once, by the last final, when the turn is answered or over: a
    caller who goes on after a pause gets another final, and the last one was answered. A reply that
    pauses sounds twice, and the caller waited for the first. `ui.latency` reads recordings so too.
    """

    def __init__(self) -> None:
        self.providers: dict[str, str] = dict.fromkeys(PROVIDERS, UNKNOWN)
        self._began_ms = 0.0
        self._turn = 0
        self._heard = False
        self._answered: set[str] = set()
        self._speech_started_ms: float | None = None
        self._partial_came = False
        self._of_turn: dict[str, float] = {}

    def read(self, event: Event) -> list[Duration | Count]:
        """What this event adds to the figures; an event that cannot be true adds nothing."""
        return [] if implausible(event) else list(self._read(event))

    def _read(self, event: Event) -> Iterator[Duration | Count]:
        if event.turn > self._turn or event.type is EventType.CALL_ENDED:
            yield from self._transcripts()
        if event.turn > self._turn:
            self._begin(event.turn)
        fields = event.fields
        match event.type:
            case EventType.CALL_STARTED:
                self._began_ms = event.t_ms
                named = fields.get("providers") or {}
                self.providers = {part: str(named.get(part, UNKNOWN)) for part in PROVIDERS}
            case EventType.SPEECH_STARTED if event.turn == self._turn and not self._partial_came:
                self._speech_started_ms = event.t_ms
            case EventType.PARTIAL_TRANSCRIPT if event.turn == self._turn:
                self._hear(event)
            case EventType.FINAL_TRANSCRIPT if event.turn == self._turn:
                self._partial_came = True
                for name in _FINAL_FIELDS:
                    self._keep(name, fields.get(f"{name}_ms"))
                if not self._heard:
                    self._heard = True
                    yield Count(TURNS)
            case EventType.AGENT_SPEAKING if event.turn == self._turn:
                yield from self._transcripts()
                yield from self._reply(event)
            case EventType.INTERRUPTED:
                yield Count(INTERRUPTIONS)
            case EventType.REPLY_REPLACED:
                yield Count(REPLIES_REPLACED, {"reason": str(fields.get("reason", UNKNOWN))})
            case EventType.COMPONENT_ERROR:
                yield Count(COMPONENT_ERRORS, {"component": str(fields.get("component", UNKNOWN))})
            case EventType.CALL_ENDED:
                yield Count(CALLS, {"reason": str(fields.get("reason", UNKNOWN))})

    def _begin(self, turn: int) -> None:
        self._turn = turn
        self._heard = self._partial_came = False
        self._answered = set()
        self._speech_started_ms = None

    def _hear(self, event: Event) -> None:
        if not self._partial_came and self._speech_started_ms is not None:
            self._keep(FIRST_PARTIAL, max(0.0, event.t_ms - self._speech_started_ms))
        self._partial_came = True

    def _keep(self, name: str, ms: float | None) -> None:
        if ms is not None:
            self._of_turn[name] = ms

    def _transcripts(self) -> Iterator[Duration]:
        """What was kept of the present turn's transcripts, once."""
        yield from (Duration(name, ms / 1000) for name, ms in self._of_turn.items())
        self._of_turn = {}

    def _reply(self, event: Event) -> Iterator[Duration]:
        if event.turn == 0:
            if GREETING not in self._answered:
                self._answered.add(GREETING)
                yield Duration(GREETING, max(0.0, event.t_ms - self._began_ms) / 1000)
            return
        for name in _REPLY_FIELDS:
            ms = event.fields.get(f"{name}_ms")
            if ms is None or name in self._answered:
                continue
            self._answered.add(name)
            yield Duration(name, ms / 1000)
            if name == GAP:
                known = (event.fields.get("waterfall") or {}).items()
                yield from (Duration(part, ms / 1000) for part, ms in known if ms is not None)
