"""The figures of a benchmark: each with its unit, its n, its goal, and the baseline's value from
the same run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from selfhost.load.machine import Machine

RESAMPLES = 2_000
FEWEST = 5  # fewer values say nothing of how far a percentile may lie off

Interval = tuple[float, float]


@dataclass(frozen=True)
class BenchFigure:
    """One figure of a benchmark.

    Args:
        value: None if it was not measured.
        baseline: what a user would take instead, measured in the same run; None if there is none.
        goal: what it must reach, in words; None if it is only told.
        met: whether it does; None without a goal or a value.
        interval_95: where the value lies with 95 % confidence; None if that was not worked out.
    """

    name: str
    unit: str
    value: float | None
    n: int
    baseline: float | None = None
    baseline_n: int | None = None
    goal: str | None = None
    met: bool | None = None
    interval_95: Interval | None = None
    baseline_interval_95: Interval | None = None


def at_least(figure: BenchFigure, least: float) -> BenchFigure:
    """The figure with the goal that it reaches `least`."""
    return _judged(figure, f"at least {least:g}", lambda value: value >= least)


def at_most(figure: BenchFigure, most: float) -> BenchFigure:
    """The figure with the goal that it stays within `most`."""
    return _judged(figure, f"at most {most:g}", lambda value: value <= most)


def _judged(figure: BenchFigure, goal: str, holds: Callable[[float], bool]) -> BenchFigure:
    met = None if figure.value is None else holds(figure.value)
    return replace(figure, goal=goal, met=met)


def missed(figures: Sequence[BenchFigure]) -> list[BenchFigure]:
    """The figures whose goal is not met; a goal that was not measured is not met."""
    return [figure for figure in figures if figure.goal is not None and figure.met is not True]


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The percentile of what was measured; None if nothing was."""
    return float(np.percentile(values, percent)) if values else None


def interval_95(values: Sequence[float], percent: float) -> Interval | None:
    """Where a percentile lies with 95 % confidence, by the percentile bootstrap.

    The same values give the same interval; None for fewer than `FEWEST`.
    """
    if len(values) < FEWEST:
        return None
    drawn = np.random.default_rng(seed=0).choice(np.asarray(values), (RESAMPLES, len(values)))
    low, high = np.percentile(np.percentile(drawn, percent, axis=1), [2.5, 97.5])
    return float(low), float(high)


def write(path: Path, figures: Sequence[BenchFigure], machine: Machine) -> None:
    """Write the figures and the machine's load as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"figures": [asdict(figure) for figure in figures], "machine": asdict(machine)}
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
