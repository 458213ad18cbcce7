"""The benchmark's figures for people, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from selfhost.load.display import UNKNOWN, machine_line
from selfhost.load.machine import Machine
from selfhost.load.model_bench.figures import BenchFigure


def show(console: Console, figures: Sequence[BenchFigure], machine: Machine) -> None:
    """A row a figure: ours, the baseline's from the same run, and the goal."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for column in ("served", "n", "baseline", "n"):
        table.add_column(column, justify="right")
    table.add_column("unit")
    table.add_column("goal")
    for one in figures:
        judged = {True: " met", False: " [bold red]missed[/]", None: ""}[one.met]
        table.add_row(
            one.name,
            _number(one.value),
            str(one.n),
            _number(one.baseline),
            UNKNOWN if one.baseline_n is None else str(one.baseline_n),
            one.unit,
            (one.goal or "") + judged,
        )
    console.print(table)
    console.print(machine_line(machine))


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:g}"
