"""A benchmark's figures for people, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from selfhost.load.bench_figures import BenchFigure, Interval
from selfhost.load.display import UNKNOWN, machine_line
from selfhost.load.machine import Machine


def show(
    console: Console,
    figures: Sequence[BenchFigure],
    machine: Machine,
    *,
    ours: str = "served",
    baseline: str = "baseline",
) -> None:
    """A row a figure: ours, the baseline's from the same run, and the goal.

    Behind a value stands, where it was worked out, where it lies with 95 % confidence.
    """
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for column in (ours, "n", baseline, "n"):
        table.add_column(column, justify="right")
    table.add_column("unit")
    table.add_column("goal")
    for one in figures:
        judged = {True: " met", False: " [bold red]missed[/]", None: ""}[one.met]
        table.add_row(
            one.name,
            _number(one.value) + _range(one.interval_95),
            str(one.n),
            _number(one.baseline) + _range(one.baseline_interval_95),
            UNKNOWN if one.baseline_n is None else str(one.baseline_n),
            one.unit,
            (one.goal or "") + judged,
        )
    console.print(table)
    console.print(machine_line(machine))


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:g}"


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f" [dim]({interval[0]:g} to {interval[1]:g})[/]"
