"""A benchmark's figures for people, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from selfhost.load.bench_figures import BenchFigure, Interval
from selfhost.load.display import UNKNOWN, machine_line
from selfhost.load.machine import Machine

CAPTION = "Two values: p50 / p95. Goals: ✓ met, ✗ missed, ? not measured."
P50, P95 = ", p50", ", p95"


def show(
    console: Console,
    figures: Sequence[BenchFigure],
    machine: Machine,
    *,
    ours: str = "served",
    baseline: str = "baseline",
) -> None:
    """A row a figure: ours, the baseline's from the same run, and the goal.

    A p50 and the p95 that follows it share a row. Where a value lies with 95 % confidence is told
    below, if it was worked out.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), caption=CAPTION)
    table.add_column("")
    for column in (ours, "n", baseline, "n"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("unit")
    table.add_column("goal", no_wrap=True)
    for name, row in _rows(figures):
        table.add_row(
            name,
            " / ".join(_number(one.value) for one in row),
            str(row[0].n),
            " / ".join(_number(one.baseline) for one in row) if _has_baseline(row) else "",
            "" if row[0].baseline_n is None else str(row[0].baseline_n),
            row[0].unit,
            " ".join(_judged(one) for one in row if one.goal),
        )
    console.print(table)
    for one in figures:
        if one.interval_95 is not None:
            theirs = _range(one.baseline_interval_95)
            beside = f"; {baseline} {theirs}" if one.baseline_interval_95 else ""
            console.print(f"{one.name}, with 95 % confidence: {_range(one.interval_95)}{beside}")
    console.print(machine_line(machine))


def _rows(figures: Sequence[BenchFigure]) -> list[tuple[str, list[BenchFigure]]]:
    """The figures of each row, and its name."""
    rows: list[tuple[str, list[BenchFigure]]] = []
    for one in figures:
        name = one.name.removesuffix(P95)
        if name != one.name and rows and [it.name for it in rows[-1][1]] == [name + P50]:
            rows[-1] = (name, [*rows[-1][1], one])
        else:
            rows.append((one.name, [one]))
    return rows


def _has_baseline(row: Sequence[BenchFigure]) -> bool:
    return any(one.baseline_n is not None for one in row)


def _judged(one: BenchFigure) -> str:
    """The goal in short, and whether it is met; one that was not measured is not."""
    said = {True: "✓", False: "[bold red]✗[/]", None: "[bold red]?[/]"}
    goal = (one.goal or "").replace("at most", "≤").replace("at least", "≥")
    return f"{said[one.met]} {goal}"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:g}"


def _range(interval: Interval | None) -> str:
    return UNKNOWN if interval is None else f"{interval[0]:g} to {interval[1]:g}"
