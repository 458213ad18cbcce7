"""Holding the plan against an engine that a test has started for real."""

from __future__ import annotations

from pathlib import Path

from selfhost.plan.architecture import Architecture
from selfhost.plan.check import check
from selfhost.plan.comparison import Check
from selfhost.plan.find import from_path


def assert_the_plan_foretold(log: str, model: Path) -> Check:
    """The plan says the KV tokens of vLLM on CPU to the last one, and its weights.

    Args:
        log: vLLM's own, from its start until it serves.
        model: the folder that it serves, with its config.json.
    """
    result = check(log, lambda path: _generator(Path(path)), str(model))
    tokens = [one for one in result.comparisons if one.unit == "tokens"]
    assert tokens, f"vLLM printed no size of its KV cache; the log says {result.log}"
    assert [one.predicted for one in tokens] == [one.actual for one in tokens]
    assert result.holds, result.comparisons
    return result


def _generator(path: Path) -> Architecture:
    found = from_path(path)
    assert isinstance(found, Architecture)
    return found
