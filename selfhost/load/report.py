"""The report of a call: figures, expectations, as data that goes into JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from agent.timeline.waterfall import PARTS
from selfhost.load.caller import CallRecord
from selfhost.load.ears import Samples, Span, audible_spans
from selfhost.load.expectation import (
    Failure,
    Value,
    check_booking,
    check_includes,
    check_never,
    resolve,
)
from selfhost.load.machine import Machine
from selfhost.load.measure import measure, measure_recording, reply_onset_s
from selfhost.load.observed import Stamped
from selfhost.load.script import Script, Turn
from selfhost.load.words import GREETING, TurnWords, last_booking, words_by_turn
from selfhost.load.worker_gap import worker_gap

MAX_PAUSE_MS = 3_000.0  # in a reply that goes on; a caller who waits longer speaks up
AGREE_MS = 40.0  # the recording and the live measurement may differ by this much


@dataclass(frozen=True)
class Figure:
    """A distribution: never a p95 without its n."""

    p50: float | None
    p95: float | None
    n: int


@dataclass(frozen=True)
class TurnReport:
    """One turn. What was not measured is None."""

    said: str
    heard: str
    answered: str
    gap_ms: float | None
    gap_live_ms: float | None  # the same, measured while the call went on
    uncut_gap_ms: float | None  # to the last reply's first sound, where the agent began anew
    first_partial_ms: float | None
    final_ms: float | None
    cut_in: bool
    interrupted: bool | None
    stop_ms: float | None
    silent_ms: float | None  # after it stopped, until it was heard again
    pause_ms: float | None  # the agent's longest silence since the caller spoke over it
    finished: bool | None  # whether a reply came to its end
    replies: int | None
    missed: bool
    asked_again: list[str]  # the agent's answers that the caller said the turn again for
    began_s: float | None  # the turn's first audible sound, in seconds of the call
    ended_s: float | None  # its last one
    # The gap as the worker tells it, the network in it, and how far that is from `gap_ms`.
    worker_gap_ms: float | None = None
    worker_gap_off_ms: float | None = None
    # The worker's, by the parts of the timeline, and how far they are from their sum.
    waterfall: dict[str, float | None] | None = None
    waterfall_off_ms: float | None = None


@dataclass(frozen=True)
class Summary:
    """The figures of one call or of several.

    The gap of a turn that the agent cut into is left out of `gap_ms`: it would make it look fast.
    """

    gap_ms: Figure
    worker_gap_off_ms: Figure  # between the caller's gap and the worker's, where both are known
    waterfall_off_ms: Figure
    waterfall_worst_off_ms: float | None
    waterfall: dict[str, Figure]  # each part in milliseconds
    uncut_gap_ms: Figure
    first_partial_ms: Figure
    final_ms: Figure
    turns: int
    cut_ins: int
    restarts: int  # turns in which the agent began to speak more than once
    missed: int


@dataclass(frozen=True)
class CallReport:
    """A whole call."""

    name: str
    room: str
    started_at: datetime
    duration_s: float
    greeting: str
    greeting_ms: float | None  # from the open microphone to the agent's first sound
    turns: list[TurnReport]
    booking: dict[str, Any] | None
    expected: dict[str, Any]
    failures: list[str]
    warnings: list[str]
    summary: Summary
    hung_up: bool  # the agent ended the call
    machine: Machine
    timeline: list[Stamped]

    def to_dict(self) -> dict[str, Any]:
        """The report in JSON types; the machine's load stands beside the figures it belongs to.

        Each event of the timeline has `received_s` besides its own fields: when the caller got it,
        in seconds of the call, null if it had to be asked for.
        """
        data = asdict(replace(self, timeline=[]))
        data["started_at"] = self.started_at.isoformat(timespec="milliseconds")
        data["summary"]["machine"] = data.pop("machine")
        data["timeline"] = [
            {"received_s": stamped.at_s, **json.loads(stamped.event.to_json())}
            for stamped in self.timeline
        ]
        return data


def figure(values: Iterable[float | None]) -> Figure:
    """Percentiles of what was measured."""
    known = [value for value in values if value is not None]
    if not known:
        return Figure(None, None, 0)
    p50, p95 = np.percentile(known, [50, 95])
    return Figure(round(float(p50), 1), round(float(p95), 1), len(known))


def summarise(turns: Sequence[TurnReport]) -> Summary:
    """The figures over turns of one call or of many."""
    off_by_ms = [turn.waterfall_off_ms for turn in turns if turn.waterfall_off_ms is not None]
    return Summary(
        gap_ms=figure(turn.gap_ms for turn in turns if not turn.cut_in),
        worker_gap_off_ms=figure(turn.worker_gap_off_ms for turn in turns),
        waterfall_off_ms=figure(off_by_ms),
        waterfall_worst_off_ms=max(off_by_ms, default=None),
        waterfall={
            part: figure((turn.waterfall or {}).get(part) for turn in turns) for part in PARTS
        },
        uncut_gap_ms=figure(turn.uncut_gap_ms for turn in turns),
        first_partial_ms=figure(turn.first_partial_ms for turn in turns),
        final_ms=figure(turn.final_ms for turn in turns),
        turns=len(turns),
        cut_ins=sum(turn.cut_in for turn in turns),
        restarts=sum((turn.replies or 0) > 1 for turn in turns),
        missed=sum(turn.missed for turn in turns),
    )


def _since(later_s: float | None, earlier_s: float | None) -> float | None:
    """Milliseconds from one moment to a later one; None where either is not known."""
    if later_s is None or earlier_s is None or later_s < earlier_s:
        return None
    return round((later_s - earlier_s) * 1000, 1)


def _apart(one_ms: float | None, other_ms: float | None) -> float | None:
    return None if one_ms is None or other_ms is None else round(abs(one_ms - other_ms), 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _spoken(texts: Iterable[str]) -> str:
    return " ".join(text.strip() for text in texts if text.strip())


def _last_reply_s(agent: Sequence[Span], words: TurnWords) -> float | None:
    return reply_onset_s(agent, words.replies_s[-1]) if words.replies_s else None


def turn_reports(
    script: Script, record: CallRecord, sound: Samples, words: Mapping[int, TurnWords]
) -> list[TurnReport]:
    """Each turn that was spoken, measured in `sound`, the call's recording.

    One that was said again is told of as it was the last time.
    """
    windows, rate = record.windows(), record.caller.sample_rate
    recorded = measure_recording(sound, rate, windows)
    live = measure(audible_spans(sound[:, 0], rate), record.agent_spans, windows)
    agent = audible_spans(sound[:, 1], rate)
    reports: list[TurnReport] = []
    for place, (index, in_sound) in enumerate(zip(record.turns, recorded, strict=True)):
        turn_words, first_s = words[place], in_sound.first_s
        worker = worker_gap(turn_words.replies, in_sound.last_s)
        before = reports.pop() if index < len(reports) else None
        partials_s = [at_s for at_s in turn_words.partials_s if first_s and at_s >= first_s]
        reports.append(
            TurnReport(
                said=script.turns[index].said,
                heard=_spoken(turn_words.heard),
                answered=_spoken(turn_words.answered),
                gap_ms=_rounded(in_sound.gap_ms),
                gap_live_ms=_rounded(live[place].gap_ms),
                worker_gap_ms=worker.gap_ms,
                worker_gap_off_ms=_apart(in_sound.gap_ms, worker.gap_ms),
                waterfall=worker.waterfall,
                waterfall_off_ms=worker.off_by_ms,
                first_partial_ms=_since(partials_s[0] if partials_s else None, first_s),
                # A last final from before the end of the turn leaves words out: not measured.
                final_ms=_since(max(turn_words.finals_s, default=None), in_sound.last_s),
                cut_in=in_sound.cut_in or (before is not None and before.cut_in),
                interrupted=turn_words.interrupted,
                stop_ms=_rounded(in_sound.stop_ms),
                silent_ms=_rounded(in_sound.silent_ms),
                pause_ms=_rounded(in_sound.pause_ms),
                finished=turn_words.finished,
                uncut_gap_ms=_since(_last_reply_s(agent, turn_words), in_sound.last_s),
                replies=None if turn_words.replies_s is None else len(turn_words.replies_s),
                missed=index in record.missed,
                asked_again=[*before.asked_again, before.answered] if before else [],
                began_s=first_s,
                ended_s=in_sound.last_s,
            )
        )
    return reports


def check(
    script: Script,
    expected: Mapping[str, Value],
    greeting: str,
    turns: Sequence[TurnReport],
    booking: Mapping[str, Any] | None,
    *,
    hung_up: bool,
) -> list[Failure]:
    """Everything that the call file expects and that did not come."""
    expect = script.expect
    answers = [answer for turn in turns for answer in (*turn.asked_again, turn.answered) if answer]
    everything = _spoken([greeting, *answers])
    failures = check_booking(expected, booking)
    failures += check_includes("answers", expect.answered_includes, everything)
    failures += check_never("answers", expect.never_says, everything)
    failures += check_includes(
        "last answer", expect.last_answer_includes, answers[-1] if answers else ""
    )
    for index, (wanted, turn) in enumerate(zip(script.turns, turns, strict=False)):
        where = f"turns[{index}]"
        failures += check_includes(f"{where} answer", wanted.answered_includes, turn.answered)
        failures += check_never(f"{where} answer", wanted.never_says, turn.answered)
        if wanted.interrupts is not None and turn.interrupted is not wanted.interrupts:
            failures.append(
                Failure(f"{where}.interrupted", str(wanted.interrupts), str(turn.interrupted))
            )
        failures += _check_turn_taking(where, wanted, turn)
        if turn.missed and not expect.agent_hangs_up:
            failures.append(Failure(where, "an answer", "none"))
        if expect.never_cuts_in and turn.cut_in:
            failures.append(Failure(where, "the agent to let the caller finish", "it cut in"))
    if len(turns) < len(script.turns):
        failures.append(Failure("call", f"{len(script.turns)} turns", f"an end after {len(turns)}"))
    if hung_up is not expect.agent_hangs_up:
        ends = {True: "the agent to hang up", False: "the caller to hang up"}
        failures.append(Failure("call", ends[expect.agent_hangs_up], ends[hung_up]))
    return failures


def _check_turn_taking(where: str, wanted: Turn, turn: TurnReport) -> list[Failure]:
    """Who spoke when: what a turn over the agent did to it, and how often it began to speak."""
    failures = []
    if wanted.reply_goes_on:
        went_on = turn.finished and not turn.interrupted and not turn.replies
        if not went_on or (turn.pause_ms or 0.0) > MAX_PAUSE_MS:
            got = (
                f"finished {turn.finished}, interrupted {turn.interrupted}, {turn.replies} new "
                f"replies, a silence of {turn.pause_ms} ms"
            )
            failures.append(Failure(where, "the agent to finish what it was saying", got))
    within_ms = wanted.stops_within_ms
    if within_ms is not None and (turn.stop_ms is None or turn.stop_ms > within_ms):
        failures.append(Failure(f"{where}.stop_ms", f"{within_ms} at most", str(turn.stop_ms)))
    if wanted.one_reply and turn.replies != 1:
        failures.append(Failure(f"{where}.replies", "1", str(turn.replies)))
    return failures


def build_report(
    script: Script,
    record: CallRecord,
    sound: Samples,
    *,
    room: str,
    started_at: datetime,
    machine: Machine,
) -> CallReport:
    """Work out everything that is to be said of a call.

    Args:
        script: what was to be said and to come of it.
        record: the call as the caller lived it.
        sound: its recording, of shape (samples, 2).
        room: the room's name.
        started_at: when the call began; its date is the one that date rules count from.
        machine: how busy the machine was.
    """
    words = words_by_turn(record.observed, record.windows())
    greeting = _spoken(words[GREETING].answered)
    turns = turn_reports(script, record, sound, words)
    expected = resolve(script.expect.booking, started_at.date())
    booking = last_booking(record.observed)
    hung_up = record.hung_up is not None
    failures = check(script, expected, greeting, turns, booking, hung_up=hung_up)
    warnings = [
        f"turns[{index}]: the gap is {turn.gap_ms} ms in the recording and {turn.gap_live_ms} ms "
        "as measured during the call"
        for index, turn in enumerate(turns)
        if (turn.gap_ms is None) != (turn.gap_live_ms is None)
        or abs((turn.gap_ms or 0.0) - (turn.gap_live_ms or 0.0)) > AGREE_MS
    ]
    if record.unspoken:
        warnings.append(f"the caller hung up early: {record.unspoken}")
    first_sound_s = record.agent_spans[0].start_s if record.agent_spans else None
    return CallReport(
        name=script.name,
        room=room,
        started_at=started_at,
        duration_s=round(len(sound) / record.caller.sample_rate, 2),
        greeting=greeting,
        greeting_ms=_since(first_sound_s, 0.0),
        turns=turns,
        booking=booking,
        expected=expected,
        failures=[str(failure) for failure in failures],
        warnings=warnings,
        summary=summarise(turns),
        hung_up=hung_up,
        machine=machine,
        timeline=record.observed.timeline,
    )
