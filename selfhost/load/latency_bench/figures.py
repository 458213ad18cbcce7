"""The benchmark's figures and goals, from the calls of both sides. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from agent.timeline.waterfall import ADDS_UP_MS, PARTS
from selfhost.load.bench_figures import (
    BenchFigure,
    Interval,
    at_most,
    interval_95,
    percentile,
)
from selfhost.load.latency_bench.turns import BenchCall, BenchTurn, Kind

MS = "ms"
GAP_P50_MS, GAP_P95_MS, OF_BASELINE = 900.0, 1600.0, 0.4
CUT_INS_PERCENT = 2.0
WORKER_AGREES_MS = 80.0
FIRST_PARTIAL_MS, FINAL_MS, GREETING_MS, STOP_MS = 500.0, 250.0, 1000.0, 400.0

Pick = Callable[[BenchTurn], float | None]


def figures(ours: Sequence[BenchCall], baseline: Sequence[BenchCall]) -> list[BenchFigure]:
    """Every figure, ours beside the baseline's, with its goal where it has one.

    Args:
        ours: the calls of the side that is measured.
        baseline: those of the side that it is compared with; may be none.
    """
    mine, theirs = _turns(ours), _turns(baseline)

    def compared(name: str, percent: int, pick: Pick) -> BenchFigure:
        return distribution(name, percent, _known(mine, pick), _known(theirs, pick))

    found = [
        at_most(_with_intervals(compared("gap", 50, _gap), mine, theirs, 50), GAP_P50_MS),
        at_most(_with_intervals(compared("gap", 95, _gap), mine, theirs, 95), GAP_P95_MS),
    ]
    if baseline:
        found.append(at_most(_share(found[0]), OF_BASELINE))
    found += [
        compared("gap to the first sound", percent, lambda turn: turn.gap_ms)
        for percent in (50, 95)
    ]
    found += _stages(mine, theirs, baseline)
    found += _trust(mine)
    found += _manners(mine, theirs)
    stops = compared("silent after “wait”, “no”", 95, _stop_ms)
    found += [compared("silent after “wait”, “no”", 50, _stop_ms), at_most(stops, STOP_MS)]
    greetings = [
        [call.greeting_ms for call in calls if call.greeting_ms is not None]
        for calls in (ours, baseline)
    ]
    found += [
        at_most(distribution("greeting, after joining", 50, *greetings), GREETING_MS),
        distribution("greeting, after joining", 95, *greetings),
        _cpu(ours, baseline),
    ]
    return found


def _stages(
    mine: Sequence[BenchTurn], theirs: Sequence[BenchTurn], baseline: Sequence[BenchCall]
) -> list[BenchFigure]:
    def compared(name: str, percent: int, pick: Pick) -> BenchFigure:
        return distribution(name, percent, _known(mine, pick), _known(theirs, pick))

    found = []
    for percent in (50, 95):
        found.append(compared("last sound → final", percent, lambda turn: turn.final_ms))
    for percent in (50, 95):
        found.append(compared("final → agent's sound", percent, _after_final_ms))
    for part in PARTS:
        for percent in (50, 95):
            told = [
                stage[part] for call in baseline for stage in call.stages if part in stage
            ] or _known(theirs, _part(part))
            one = distribution(f"  {part}", percent, _known(mine, _part(part)), told)
            is_final = part == "final_transcript" and percent == 50
            found.append(at_most(one, FINAL_MS) if is_final else one)
    partial = compared("first word → first partial", 50, lambda turn: turn.first_partial_ms)
    return [
        *found,
        at_most(partial, FIRST_PARTIAL_MS),
        compared("first word → first partial", 95, lambda turn: turn.first_partial_ms),
    ]


def _trust(mine: Sequence[BenchTurn]) -> list[BenchFigure]:
    """How far the worker's own figures can be relied on."""
    errors = _known(mine, lambda turn: turn.parts_off_ms)
    largest = BenchFigure(
        "waterfall's sum, off by at most",
        MS,
        _rounded(max(errors, default=None)),
        len(errors),
    )
    apart = _known(mine, lambda turn: turn.worker_off_ms)
    return [
        at_most(largest, ADDS_UP_MS),
        at_most(distribution("worker's gap, off by", 95, apart), WORKER_AGREES_MS),
    ]


def _manners(mine: Sequence[BenchTurn], theirs: Sequence[BenchTurn]) -> list[BenchFigure]:
    """Whether the agent let the caller finish, answered, and kept on or stopped as it should."""

    def share(name: str, kinds: Iterable[Kind], counts: Callable[[BenchTurn], bool]) -> BenchFigure:
        allowed = set(kinds)
        a, b = (
            [counts(turn) for turn in turns if turn.kind in allowed] for turns in (mine, theirs)
        )
        return BenchFigure(name, "%", _percent(a), len(a), _percent(b), len(b) if theirs else None)

    answered = (Kind.PLAIN, Kind.PAUSED)
    paused = share("cut into, turns with pauses", (Kind.PAUSED,), lambda turn: turn.cut_in)
    every = share("cut into, all turns", answered, lambda turn: turn.cut_in)
    missed = share("missed turns", answered, lambda turn: turn.missed)
    spoken_over = [
        share("stopped by “mhmm” or a cough", (Kind.NOISE,), lambda turn: turn.stopped is True),
        share(
            "not stopped by “wait”, “no”",
            (Kind.BARGE_IN,),
            lambda turn: turn.stopped is False,
        ),
    ]
    return [
        at_most(paused, CUT_INS_PERCENT),
        every if every.baseline is None else at_most(every, every.baseline),
        at_most(missed, 0),
        *(at_most(one, 0) for one in spoken_over),
    ]


def _cpu(ours: Sequence[BenchCall], baseline: Sequence[BenchCall]) -> BenchFigure:
    """Seconds of processor time a turn, the greeting's share included."""

    def a_turn(calls: Sequence[BenchCall]) -> tuple[float | None, int]:
        measured = [call for call in calls if call.cpu_s is not None]
        turns = sum(len(call.turns) for call in measured)
        total_s = sum(call.cpu_s or 0.0 for call in measured)
        return (round(total_s / turns, 2) if turns else None), turns

    value, n = a_turn(ours)
    other, other_n = a_turn(baseline)
    return BenchFigure("processor time a turn", "s", value, n, other, other_n if baseline else None)


def distribution(
    name: str, percent: int, values: Sequence[float], baseline: Sequence[float] | None = None
) -> BenchFigure:
    """A percentile of milliseconds on both sides."""
    return BenchFigure(
        f"{name}, p{percent}",
        MS,
        _rounded(percentile(values, percent)),
        len(values),
        _rounded(percentile(baseline, percent)) if baseline else None,
        len(baseline) if baseline else None,
    )


def _with_intervals(
    gap: BenchFigure, mine: Sequence[BenchTurn], theirs: Sequence[BenchTurn], percent: int
) -> BenchFigure:
    return replace(
        gap,
        interval_95=_rounded_interval(interval_95(_known(mine, _gap), percent)),
        baseline_interval_95=_rounded_interval(interval_95(_known(theirs, _gap), percent)),
    )


def _share(gap: BenchFigure) -> BenchFigure:
    known = gap.value is not None and gap.baseline
    value = round((gap.value or 0.0) / (gap.baseline or 1.0), 2) if known else None
    return replace(
        BenchFigure("gap as a share of stock's, p50", "×", value, gap.n),
        baseline=1.0,
        baseline_n=gap.baseline_n,
    )


def _turns(calls: Sequence[BenchCall]) -> list[BenchTurn]:
    return [turn for call in calls for turn in call.turns]


def _known(turns: Sequence[BenchTurn], pick: Pick) -> list[float]:
    return [value for turn in turns if (value := pick(turn)) is not None]


def _gap(turn: BenchTurn) -> float | None:
    return turn.uncut_gap_ms


def _after_final_ms(turn: BenchTurn) -> float | None:
    if turn.final_ms is None or turn.uncut_gap_ms is None or turn.uncut_gap_ms < turn.final_ms:
        return None
    return turn.uncut_gap_ms - turn.final_ms


def _part(name: str) -> Pick:
    def pick(turn: BenchTurn) -> float | None:
        parts: Mapping[str, float | None] = turn.parts or {}
        return parts.get(name)

    return pick


def _stop_ms(turn: BenchTurn) -> float | None:
    return turn.stop_ms if turn.kind is Kind.BARGE_IN else None


def _percent(counted: Sequence[bool]) -> float | None:
    return round(100 * sum(counted) / len(counted), 1) if counted else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value)


def _rounded_interval(interval: Interval | None) -> Interval | None:
    return None if interval is None else (round(interval[0]), round(interval[1]))
