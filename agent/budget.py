"""`python -m agent budget RECORDING…`: whether recorded calls kept to a budget of delay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import numpy as np
import typer
from rich.console import Console

from agent.timeline.events import Event, EventType
from agent.timeline.recording import SUFFIX, RecordingError, read
from agent.timeline.waterfall import PARTS

KEPT, OVER, NOT_POSSIBLE = 0, 1, 2


@dataclass(frozen=True)
class Gaps:
    """The gaps of the answered turns, in milliseconds; percentiles are None without any."""

    p50_ms: float | None
    p95_ms: float | None
    n: int


def gaps(events: Iterable[Event]) -> Gaps:
    """The gap of every answer in these events whose gap is known."""
    known = [
        float(event.fields["gap_ms"])
        for event in events
        if event.type is EventType.AGENT_SPEAKING and event.fields.get("gap_ms") is not None
    ]
    if not known:
        return Gaps(None, None, 0)
    p50, p95 = np.percentile(known, [50, 95])
    return Gaps(round(float(p50), 1), round(float(p95), 1), len(known))


def slowest_parts(events: Iterable[Event]) -> dict[str, float]:
    """The p95 of each part of the gap that is known, in milliseconds, the longest first."""
    waterfalls = [event.fields.get("waterfall") or {} for event in events]
    known = {
        part: [fall[part] for fall in waterfalls if fall.get(part) is not None] for part in PARTS
    }
    p95_ms = {part: float(np.percentile(ms, 95)) for part, ms in known.items() if ms}
    return dict(sorted(p95_ms.items(), key=lambda item: -item[1]))


def budget(
    recordings: Annotated[
        list[Path], typer.Argument(help="Recordings, or folders of them.", show_default=False)
    ],
    p95_gap_ms: Annotated[
        float, typer.Option("--p95-gap-ms", min=0, help="The most that the gap's p95 may be.")
    ] = 1500.0,
) -> None:
    """Exit with 0 if the recorded calls kept the budget, 1 if not, 2 if it cannot be told."""
    console = Console(soft_wrap=True)
    events: list[Event] = []
    try:
        for path in _files(recordings):
            recording = read(path)
            for problem in recording.problems:
                console.print(f"{path.name}: {problem}", style="yellow", markup=False)
            events += recording.events
    except RecordingError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(NOT_POSSIBLE) from None
    found = gaps(events)
    if found.p95_ms is None:
        console.print("No answer with a known gap in these recordings, so nothing can be told.")
        raise typer.Exit(NOT_POSSIBLE)
    over = found.p95_ms > p95_gap_ms
    console.print(
        f"gap p50 {found.p50_ms:g} ms, p95 {found.p95_ms:g} ms, n {found.n}; "
        f"budget p95 {p95_gap_ms:g} ms: {'over' if over else 'kept'}"
    )
    parts = slowest_parts(events)
    if parts:
        console.print(
            "p95 of its parts: " + ", ".join(f"{p} {ms:.0f} ms" for p, ms in parts.items())
        )
    raise typer.Exit(OVER if over else KEPT)


def _files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not inside:
            raise RecordingError(f"{path}: expected recordings (*{SUFFIX}) in this folder")
        files += inside
    return files


def main(arguments: list[str]) -> NoReturn:
    """The command line; exits with the status that `budget` describes."""
    app = typer.Typer(add_completion=False)
    app.command()(budget)
    app(arguments, prog_name="python -m agent budget")
    raise SystemExit(KEPT)  # typer has exited by now
