"""The benchmark's figures and goals."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from selfhost.load.bench_figures import BenchFigure, missed
from selfhost.load.bench_table import show
from selfhost.load.latency_bench.figures import figures
from selfhost.load.latency_bench.picture import draw
from selfhost.load.latency_bench.turns import BenchCall, BenchTurn, Kind
from selfhost.load.machine import Machine

PARTS = {"end_of_speech": 200.0, "first_audio": 300.0, "network": None, "final_transcript": 0.0}


def answered(gap_ms: float, kind: Kind = Kind.PLAIN) -> BenchTurn:
    return BenchTurn(
        kind,
        "Two guests.",
        gap_ms=gap_ms,
        uncut_gap_ms=gap_ms,
        worker_off_ms=20.0,
        parts=PARTS,
        parts_off_ms=0.1,
        first_partial_ms=400.0,
        final_ms=300.0,
    )


def over(kind: Kind, *, stopped: bool | None) -> BenchTurn:
    return BenchTurn(kind, "Mhmm.", stop_ms=300.0, stopped=stopped)


GOOD = (
    *(answered(600.0 + number) for number in range(10)),
    answered(700.0, Kind.PAUSED),
    over(Kind.NOISE, stopped=False),
    over(Kind.BARGE_IN, stopped=True),
)
SLOW = tuple(answered(2400.0 + number) for number in range(10))


def calls(turns: Sequence[BenchTurn], name: str = "ours") -> list[BenchCall]:
    return [BenchCall(name, "booking", 0, turns, greeting_ms=800.0, cpu_s=26.0)]


def named(found: Sequence[BenchFigure]) -> dict[str, BenchFigure]:
    return {one.name: one for one in found}


def test_a_run_that_reaches_every_goal_misses_none() -> None:
    assert missed(figures(calls(GOOD), calls(SLOW, "stock"))) == []


@pytest.mark.parametrize(
    ("spoiler", "goal"),
    [
        (answered(9000.0), "gap, p95"),
        (BenchTurn(Kind.PAUSED, "The fourth.", uncut_gap_ms=600.0, cut_in=True), "cut into"),
        (BenchTurn(Kind.PLAIN, "Yes.", missed=True), "missed turns"),
        (over(Kind.NOISE, stopped=True), "stopped by “mhmm”"),
        (over(Kind.BARGE_IN, stopped=False), "not stopped by “wait”"),
        (BenchTurn(Kind.PLAIN, "Yes.", parts=PARTS, parts_off_ms=30.0), "waterfall's sum"),
        (BenchTurn(Kind.PLAIN, "Yes.", worker_off_ms=900.0), "worker's gap"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_bad_turn_misses_its_goal(spoiler: BenchTurn, goal: str) -> None:
    found = missed(figures(calls((*GOOD, spoiler)), calls(SLOW, "stock")))
    assert any(one.name.startswith(goal) for one in found)


def test_goals_that_were_not_measured_are_missed() -> None:
    found = figures([], calls(SLOW, "stock"))
    goals = [one for one in found if one.goal]
    assert goals
    assert missed(found) == goals


def test_the_gap_is_held_against_stocks_of_the_same_run() -> None:
    found = named(figures(calls(GOOD), calls(SLOW, "stock")))
    share = found["gap as a share of stock's, p50"]
    assert share.value == pytest.approx(0.25, abs=0.01)
    assert (share.n, share.baseline_n) == (11, 10)
    assert found["gap, p50"].baseline == pytest.approx(2404, abs=1)
    assert found["gap, p50"].interval_95 is not None


def test_a_cut_in_counts_as_one_whoever_it_happened_to() -> None:
    cut = BenchTurn(Kind.PAUSED, "The fourth.", cut_in=True)
    found = named(figures(calls((*GOOD, cut)), calls((*SLOW, cut), "stock")))
    paused = found["cut into, turns with pauses"]
    assert (paused.value, paused.n) == (50.0, 2)
    assert (paused.baseline, paused.baseline_n) == (100.0, 1)


def test_stages_that_the_stock_worker_logged_stand_beside_ours() -> None:
    logged = [BenchCall("stock", "booking", 0, SLOW, stages=[{"final_transcript": 900.0}])]
    found = named(figures(calls(GOOD), logged))["  final_transcript, p50"]
    assert (found.value, found.baseline, found.baseline_n) == (0, 900, 1)


def test_without_a_baseline_nothing_is_compared() -> None:
    found = figures(calls(GOOD), [])
    assert all(one.baseline is None and one.baseline_n is None for one in found)


def test_the_table_shows_both_sides_and_which_goals_are_missed() -> None:
    console = Console(file=io.StringIO(), width=110)
    slow = (*GOOD, answered(1700.0), answered(1700.0))
    found = figures(calls(slow), calls(SLOW, "stock"))
    show(console, found, Machine(2, 0.5, 1.5, 40.0), ours="ours", baseline="stock")
    assert isinstance(console.file, io.StringIO)
    (gap,) = [
        line for line in console.file.getvalue().splitlines() if line.strip().startswith("gap  ")
    ]
    assert "✓ ≤ 900 ✗ ≤ 1600" in gap
    assert "13" in gap.split()


@pytest.mark.parametrize("turns", [GOOD, ()], ids=["turns", "no turn"])
def test_the_picture_is_drawn_whatever_was_measured(
    turns: tuple[BenchTurn, ...], tmp_path: Path
) -> None:
    path = tmp_path / "reports" / "bench.png"
    draw(path, {"ours": calls(turns), "stock": calls(SLOW, "stock")}, "two cores")
    assert path.read_bytes().startswith(b"\x89PNG")
