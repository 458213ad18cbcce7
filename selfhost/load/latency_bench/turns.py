"""What the benchmark counts of a call: its turns by kind, each with what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from selfhost.load.report import CallReport, TurnReport
from selfhost.load.script import Pause, Script, Turn

# A reply that falls silent so soon after a noise, and stays so for so long, was stopped by it:
# pauses between an agent's sentences are shorter.
STOPPED_WITHIN_MS = 700.0
STOPPED_FOR_MS = 900.0


class Kind(Enum):
    """What a turn of a script is there for."""

    PLAIN = "plain"
    PAUSED = "paused"  # with pauses in it, which are no end
    NOISE = "noise"  # over the agent, who should go on
    BARGE_IN = "barge-in"  # over the agent, who should stop


def kind_of(turn: Turn) -> Kind:
    """The kind of a script's turn."""
    if turn.over_agent_ms is not None:
        return Kind.NOISE if turn.reply_goes_on else Kind.BARGE_IN
    return Kind.PAUSED if any(isinstance(part, Pause) for part in turn.parts) else Kind.PLAIN


@dataclass(frozen=True)
class BenchTurn:
    """One turn that was spoken. Milliseconds; what was not measured is None.

    Args:
        gap_ms: from the caller's last sound to the agent's first.
        uncut_gap_ms: the same, to the first sound of the reply that was not cut off.
        worker_off_ms: how far the worker's own figure of the gap is from that.
        parts: the worker's waterfall.
        parts_off_ms: how far its parts' sum is from the worker's gap.
        final_ms: from the caller's last sound to the final transcript, as received.
        stop_ms: over the agent, from the caller's first sound to the agent's last one.
        stopped: whether the agent then stayed silent; None if it was not speaking.
    """

    kind: Kind
    said: str
    gap_ms: float | None = None
    uncut_gap_ms: float | None = None
    worker_off_ms: float | None = None
    parts: Mapping[str, float | None] | None = None
    parts_off_ms: float | None = None
    first_partial_ms: float | None = None
    final_ms: float | None = None
    cut_in: bool = False
    missed: bool = False
    stop_ms: float | None = None
    stopped: bool | None = None


@dataclass(frozen=True)
class BenchCall:
    """One call of one contestant.

    Args:
        cpu_s: processor time of everything that served it, over the call.
        failed: why there was no call; its turns then count as missed.
        stages: delays in milliseconds by the waterfall's names, as far as a worker without a
            timeline tells them.
    """

    contestant: str
    name: str
    round: int
    turns: Sequence[BenchTurn]
    greeting_ms: float | None = None
    cpu_s: float | None = None
    failed: str | None = None
    stages: Sequence[Mapping[str, float]] = ()
    report: Mapping[str, Any] = field(default_factory=dict)


def bench_turns(script: Script, report: CallReport) -> list[BenchTurn]:
    """The turns of a call; one that was never spoken, since the caller gave up, is missed."""
    turns = []
    for index, wanted in enumerate(script.turns):
        if index < len(report.turns):
            turns.append(_bench_turn(wanted, report.turns[index]))
        else:
            turns.append(BenchTurn(kind_of(wanted), wanted.said, missed=True))
    return turns


def failed_turns(script: Script) -> list[BenchTurn]:
    """The turns of a call that did not take place."""
    return [BenchTurn(kind_of(wanted), wanted.said, missed=True) for wanted in script.turns]


def _bench_turn(wanted: Turn, turn: TurnReport) -> BenchTurn:
    kind = kind_of(wanted)
    if kind in (Kind.NOISE, Kind.BARGE_IN):
        return BenchTurn(kind, wanted.said, stop_ms=turn.stop_ms, stopped=stopped(turn))
    return BenchTurn(
        kind,
        wanted.said,
        gap_ms=None if turn.cut_in else turn.gap_ms,
        uncut_gap_ms=turn.gap_ms if turn.uncut_gap_ms is None else turn.uncut_gap_ms,
        worker_off_ms=None if turn.cut_in else turn.worker_gap_off_ms,
        parts=turn.waterfall,
        parts_off_ms=turn.waterfall_off_ms,
        first_partial_ms=turn.first_partial_ms,
        final_ms=turn.final_ms,
        cut_in=turn.cut_in,
        missed=turn.missed,
    )


def stopped(turn: TurnReport) -> bool | None:
    """Whether a turn over the agent ended what the agent was saying; None if it said nothing."""
    if turn.stop_ms is None or turn.began_s is None or turn.ended_s is None:
        return None
    lasted_ms = (turn.ended_s - turn.began_s) * 1000
    fell_silent = turn.stop_ms <= lasted_ms + STOPPED_WITHIN_MS
    return fell_silent and (turn.silent_ms is None or turn.silent_ms >= STOPPED_FOR_MS)
