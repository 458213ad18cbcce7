"""What recorded calls say about delay: each stage's percentiles, by whom and when. Pure.

Percentiles are linear between the nearest values, as those of `python -m agent budget`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from agent.timeline.events import Event, EventType
from agent.timeline.waterfall import PARTS

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Stage:
    """One delay of a turn.

    Args:
        field: its name in figures and in the CSV.
        event: which event carries it.
        name: as people read it.
        meaning: from when to when it is.
        part: its name in the event's `waterfall`; None where it is a field of the event itself.
        whole: the gap, which the parts add up to and the other delays lead up to.
    """

    field: str
    event: EventType
    name: str
    meaning: str
    part: str | None = None
    whole: bool = False

    def told_by(self, event: Event) -> float | None:
        """What an event says of this stage, in milliseconds; None where it says nothing."""
        if event.type is not self.event:
            return None
        if self.part is None:
            value = event.fields.get(self.field)
        else:
            value = (event.fields.get("waterfall") or {}).get(self.part)
        return None if value is None else float(value)


DELAYS = (
    Stage(
        "speech_to_final_ms",
        EventType.FINAL_TRANSCRIPT,
        "Speech → final",
        "From the caller's first sound to the final words: it includes the time spent speaking.",
    ),
    Stage(
        "silence_to_final_ms",
        EventType.FINAL_TRANSCRIPT,
        "Silence → final",
        "From the caller's last sound to the final words.",
    ),
    Stage(
        "final_to_speech_ms",
        EventType.AGENT_SPEAKING,
        "Final → voice",
        "From the final words to the agent's first sound.",
    ),
    Stage(
        "gap_ms",
        EventType.AGENT_SPEAKING,
        "Gap",
        "From the caller's last sound to the agent's first sound.",
        whole=True,
    ),
)

_MEANINGS = {
    "end_of_speech": "From the last sound until the detector says that the caller fell silent.",
    "final_transcript": "From there until the last words were there as text.",
    "end_of_turn": "Until it was decided that the caller had finished, and not paused.",
    "first_token": "Until the first text of the reply, from the code or the model.",
    "first_sentence": "Until its first sentence was whole.",
    "check": "Until that sentence was allowed to be spoken.",
    "first_audio": "Until the first sound of it was made.",
    "playout": "Until its first audible sound left for the room.",
    "network": "The way there and back, as estimated.",
    "unexplained": "What is left of the gap, and none of the others took.",
}

PARTS_OF_GAP = tuple(
    Stage(
        f"{part}_ms",
        EventType.AGENT_SPEAKING,
        part.replace("_", " ").capitalize(),
        _MEANINGS[part],
        part=part,
    )
    for part in PARTS
)
"""What a gap was spent on, in the order in which it happened."""

STAGES = (*DELAYS, *PARTS_OF_GAP)
"""Every stage that is shown anywhere."""

GAP = next(stage for stage in STAGES if stage.whole)


@dataclass(frozen=True)
class Turn:
    """One turn of a caller, as far as it was timed.

    Args:
        recording: the file's name.
        turn: as the events number it.
        number: as people count, from 1: only turns in which words were heard.
        seq: the event at which all that was timed of the turn is known.
        began: on the wall clock, in UTC.
        providers: who heard, worded and spoke, by part.
        delays_ms: by the stage's field; what was not measured is not in it.
    """

    recording: str
    turn: int
    number: int
    seq: int
    began: datetime
    providers: Mapping[str, str] = field(default_factory=dict)
    delays_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def provider_set(self) -> str:
        return provider_set(self.providers)

    @property
    def day(self) -> str:
        """The day in UTC, so that a call has the same day on every machine."""
        return self.began.astimezone(UTC).date().isoformat()


@dataclass(frozen=True)
class Call:
    """One recorded call.

    Args:
        heard_turns: in how many turns the caller's words were heard.
        turns: those in which something was timed.
        problems: what its reader found.
    """

    recording: str
    began: datetime
    length_ms: float
    heard_turns: int
    turns: tuple[Turn, ...]
    problems: tuple[str, ...] = ()

    @property
    def slowest_gap_ms(self) -> float | None:
        return max((turn.delays_ms[GAP.field] for turn in having(self.turns, GAP)), default=None)


def summarise(recording: str, events: Sequence[Event], problems: Sequence[str] = ()) -> Call:
    """A recorded call's turns and what was timed in each.

    Args:
        recording: the file's name.
        events: at least one, in order of `seq`, plausible ones only.
        problems: what the reader found.
    """
    providers: Mapping[str, str] = {}
    timed: dict[int, dict[str, float]] = {}
    began: dict[int, datetime] = {}
    known_at: dict[int, int] = {}
    heard: list[int] = []
    answered: set[int] = set()
    for event in events:
        if event.type is EventType.CALL_STARTED:
            providers = _providers(event.fields.get("providers"))
        if event.type is EventType.FINAL_TRANSCRIPT and event.turn not in heard:
            heard.append(event.turn)
        delays = timed.setdefault(event.turn, {})
        began.setdefault(event.turn, event.wall)
        # A caller who goes on after a pause gets another final; the last one was answered.
        # A reply that pauses starts to sound twice; the caller waited for the first.
        if event.type is EventType.AGENT_SPEAKING and event.turn in answered:
            continue
        told = {
            stage.field: value for stage in STAGES if (value := stage.told_by(event)) is not None
        }
        if told:
            delays.update(told)
            known_at[event.turn] = event.seq
            if event.type is EventType.AGENT_SPEAKING:
                answered.add(event.turn)
    turns = [
        Turn(recording, turn, number, known_at[turn], began[turn], providers, timed[turn])
        for number, turn in enumerate(heard, start=1)
        if timed[turn]
    ]
    return Call(
        recording,
        began=events[0].wall,
        length_ms=max(event.t_ms for event in events),
        heard_turns=len(heard),
        turns=tuple(turns),
        problems=tuple(problems),
    )


def _providers(described: object) -> Mapping[str, str]:
    if not isinstance(described, dict):
        return MappingProxyType({})
    return MappingProxyType({str(part): str(name) for part, name in described.items()})


def provider_set(providers: Mapping[str, str]) -> str:
    """One name for who took part: short where one provider did all with its own defaults."""
    if not providers:
        return UNKNOWN
    names = set(providers.values())
    if len(names) == 1:
        return f"{names.pop()} for all"
    return ", ".join(f"{part} {name}" for part, name in providers.items())


@dataclass(frozen=True)
class Figures:
    """A stage's percentiles; None without any value."""

    p50_ms: float | None
    p95_ms: float | None
    n: int


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The percentile of these values, linear between the nearest two; None of none."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def figures(turns: Iterable[Turn], stage: Stage) -> Figures:
    """One stage over these turns."""
    values = [turn.delays_ms[stage.field] for turn in having(turns, stage)]
    return Figures(percentile(values, 50), percentile(values, 95), len(values))


def having(turns: Iterable[Turn], stage: Stage) -> list[Turn]:
    """The turns in which this stage was measured."""
    return [turn for turn in turns if stage.field in turn.delays_ms]


def grouped(turns: Iterable[Turn], key: Callable[[Turn], str]) -> dict[str, list[Turn]]:
    """The turns by a key, such as their day, with the keys in order."""
    groups: dict[str, list[Turn]] = {}
    for turn in turns:
        groups.setdefault(key(turn), []).append(turn)
    return dict(sorted(groups.items()))


def sets(turns: Sequence[Turn]) -> dict[str, list[Turn]]:
    """The sets of turns that can be held side by side: all, each provider set, each day."""
    providers = grouped(turns, lambda turn: turn.provider_set)
    days = grouped(turns, lambda turn: turn.day)
    return {
        "All calls": list(turns),
        **({f"Providers: {name}": group for name, group in providers.items()}),
        **({f"Day: {name}": group for name, group in reversed(days.items())}),
    }


def slowest(turns: Iterable[Turn], count: int) -> list[Turn]:
    """The turns with the longest gaps, the longest first."""
    return sorted(having(turns, GAP), key=lambda turn: -turn.delays_ms[GAP.field])[:count]


def longest_parts(turn: Turn, count: int) -> list[Stage]:
    """What most of a turn's gap was spent on, the longest first; none where it was not told."""
    told = [stage for stage in PARTS_OF_GAP if turn.delays_ms.get(stage.field, 0.0) > 0]
    return sorted(told, key=lambda stage: -turn.delays_ms[stage.field])[:count]


def to_csv(turns: Iterable[Turn]) -> str:
    """One line a turn, as RFC 4180 has it; what was not measured is an empty cell."""
    turns = list(turns)
    parts = sorted({part for turn in turns for part in turn.providers})
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["recording", "turn", "number", "seq", "began", *parts, *(s.field for s in STAGES)]
    )
    for turn in turns:
        writer.writerow(
            [
                *(turn.recording, turn.turn, turn.number, turn.seq),
                turn.began.isoformat(timespec="milliseconds"),
                *(turn.providers.get(part, "") for part in parts),
                *(turn.delays_ms.get(stage.field, "") for stage in STAGES),
            ]
        )
    return out.getvalue()
