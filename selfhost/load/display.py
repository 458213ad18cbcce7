"""A call's report for people, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from selfhost.load.machine import Machine
from selfhost.load.report import CallReport, Figure, Summary

UNKNOWN = "–"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f}"


def _distribution(figure: Figure) -> str:
    return f"p50 {_number(figure.p50)}  p95 {_number(figure.p95)}  n {figure.n}"


def machine_line(machine: Machine) -> str:
    """How busy the machine was, in one line."""
    return (
        f"{machine.cores} cores, {_number(machine.cpu_percent)} % busy, load "
        f"{machine.loadavg_1min_start} → {machine.loadavg_1min_end}"
    )


def show_call(console: Console, report: CallReport) -> None:
    """One call: each turn, the booking, the figures and what was not as expected."""
    console.rule(f"{report.name}  (room {report.room}, {report.duration_s:.0f} s)")
    talk = Table.grid(padding=(0, 2))
    if report.greeting:
        talk.add_row(Text("agent", style="bold"), Text(report.greeting))
    for number, turn in enumerate(report.turns, start=1):
        talk.add_row()
        for label, text in (
            (f"{number}. said", turn.said),
            ("   heard", turn.heard or UNKNOWN),
            ("   agent", "no answer" if turn.missed else turn.answered or UNKNOWN),
        ):
            talk.add_row(Text(label, style="bold"), Text(text))
        facts = [
            f"gap {_number(turn.gap_ms)} ms",
            f"first partial {_number(turn.first_partial_ms)} ms",
            f"final {_number(turn.final_ms)} ms",
        ]
        if turn.worker_gap_ms is not None:
            facts.insert(1, f"as the worker tells {_number(turn.worker_gap_ms)} ms")
        facts += ["the agent cut in"] if turn.cut_in else []
        if (turn.replies or 0) > 1:
            facts.append(f"{turn.replies} replies, gap to the last {_number(turn.uncut_gap_ms)} ms")
        facts += ["interrupted the agent"] if turn.interrupted else []
        facts += [f"it fell silent after {_number(turn.stop_ms)} ms"] if turn.stop_ms else []
        facts += [f"and for {_number(turn.pause_ms)} ms"] if turn.pause_ms else []
        talk.add_row("", Text(", ".join(facts), style="dim"))
        if turn.waterfall:
            parts = (f"{name} {_number(ms)}" for name, ms in turn.waterfall.items())
            talk.add_row("", Text(" + ".join(parts), style="dim"))
    console.print(talk)
    console.print()
    for field in dict.fromkeys([*report.expected, *(report.booking or {})]):
        got = (report.booking or {}).get(field)
        expected = f"  (expected {report.expected[field]!r})" if field in report.expected else ""
        console.print(Text(f"{field:<14}{UNKNOWN if got is None else got}{expected}"))
    _show_summary(console, report.summary, report.machine)
    console.print()
    for warning in report.warnings:
        console.print(Text(f"note: {warning}", style="yellow"))
    for failure in report.failures:
        console.print(Text(f"FAILED {failure}", style="bold red"))
    if not report.failures:
        console.print(Text("as expected", style="bold green"))


def _show_summary(console: Console, summary: Summary, machine: Machine) -> None:
    console.print()
    console.print(Text(f"gap, ms            {_distribution(summary.gap_ms)}"))
    console.print(Text(f"worker's off, ms   {_distribution(summary.worker_gap_off_ms)}"))
    console.print(Text(f"gap, uncut, ms     {_distribution(summary.uncut_gap_ms)}"))
    console.print(Text(f"first partial, ms  {_distribution(summary.first_partial_ms)}"))
    console.print(Text(f"final, ms          {_distribution(summary.final_ms)}"))
    console.print(
        Text(
            f"turns              {summary.turns}: cut into {summary.cut_ins}, answered more than "
            f"once {summary.restarts}, missed {summary.missed}"
        )
    )
    console.print(Text(f"machine            {machine_line(machine)}"))


def show_table(
    console: Console, reports: Sequence[CallReport], summary: Summary, machine: Machine
) -> None:
    """Several calls, a line each: how many turns the agent cut into, answered more than once or
    missed; medians in ms; the processors' load in percent. Then the figures over all turns.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("call", "result"):
        table.add_column(column, no_wrap=True)
    for column in ("turns", "cut", "redo", "miss", "gap", "partial", "final", "CPU"):
        table.add_column(column, justify="right")

    def row(name: str, result: str, summary: Summary, cpu: str) -> list[str]:
        counts = [
            str(count)
            for count in (summary.turns, summary.cut_ins, summary.restarts, summary.missed)
        ]
        figures = (summary.gap_ms, summary.first_partial_ms, summary.final_ms)
        return [name, result, *counts, *(_number(f.p50) for f in figures), cpu]

    for report in reports:
        result = f"{len(report.failures)} failed" if report.failures else "as expected"
        cpu = _number(report.machine.cpu_percent)
        table.add_row(*row(report.name, result, report.summary, cpu))
    table.add_section()
    failed = sum(bool(report.failures) for report in reports)
    result = f"{failed} of {len(reports)} failed" if failed else "as expected"
    table.add_row(*row("all", result, summary, _number(machine.cpu_percent)))
    console.print()
    console.print(table)
    _show_summary(console, summary, machine)
