"""A benchmark's figures and their goals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from selfhost.load.bench_figures import (
    BenchFigure,
    at_least,
    at_most,
    interval_95,
    missed,
    percentile,
    write,
)
from selfhost.load.machine import Machine
from selfhost.load.model_bench.storm import counted

FIGURE = BenchFigure("loads", "loads", 3.0, 10, baseline=1.0, baseline_n=10)


def test_a_goal_that_is_reached_is_met() -> None:
    assert at_least(FIGURE, 3).met is True
    assert at_most(FIGURE, 3).met is True


def test_a_goal_that_is_not_reached_is_missed() -> None:
    assert missed([at_least(FIGURE, 4), at_most(FIGURE, 3), FIGURE]) == [at_least(FIGURE, 4)]


def test_a_goal_that_was_not_measured_is_missed() -> None:
    unmeasured = at_most(BenchFigure("loads", "loads", None, 0), 3)
    assert unmeasured.met is None
    assert missed([unmeasured]) == [unmeasured]


def test_the_report_holds_each_figure_with_its_baseline_and_the_machines_load(
    tmp_path: Path,
) -> None:
    path = tmp_path / "reports" / "figures.json"
    write(path, [at_least(FIGURE, 3)], Machine(2, 0.5, 1.0, None))
    data = json.loads(path.read_text())
    assert data["machine"]["cores"] == 2
    assert data["figures"] == [
        {
            "name": "loads",
            "unit": "loads",
            "value": 3.0,
            "n": 10,
            "baseline": 1.0,
            "baseline_n": 10,
            "goal": "at least 3",
            "met": True,
            "interval_95": None,
            "baseline_interval_95": None,
        }
    ]


def test_a_percentile_lies_within_its_interval_which_more_values_make_narrower() -> None:
    few, many = [float(n) for n in range(0, 100, 10)], [float(n) for n in range(100)]
    widths = []
    for values in (few, many):
        interval = interval_95(values, 50)
        assert interval is not None
        low, high = interval
        assert low < np.percentile(values, 50) < high
        widths.append(high - low)
    assert widths[1] < widths[0]


def test_the_same_values_give_the_same_interval_and_too_few_give_none() -> None:
    values = [0.2, 0.5, 0.3, 0.9, 0.4]
    assert interval_95(values, 95) == interval_95(values, 95)
    assert interval_95(values[:4], 95) is None


def test_nothing_measured_has_no_percentile() -> None:
    assert percentile([], 50) is None


def test_a_counter_is_summed_over_its_labels() -> None:
    page = (
        "# TYPE loads_total counter\n"
        'loads_total{model="a"} 2.0\nloads_total{model="b"} 3.0\nloads_created{model="a"} 1e9\n'
    )
    assert counted(page, "loads_total") == 5


def test_a_counter_without_values_yet_is_zero_and_a_missing_one_is_an_error() -> None:
    assert counted("# HELP loads_total x\n# TYPE loads_total counter\n", "loads_total") == 0
    with pytest.raises(ValueError, match="no loads_total"):
        counted("# TYPE other_total counter\n", "loads_total")
