"""What is counted of a call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from selfhost.load.latency_bench.command import WARM_UP
from selfhost.load.latency_bench.holding import CALLS
from selfhost.load.latency_bench.turns import (
    Kind,
    failed_turns,
    kind_of,
    stopped,
)
from selfhost.load.report import TurnReport
from selfhost.load.script import Script, Turn, load_script

SPOKEN_OVER = TurnReport(
    **dict.fromkeys(TurnReport.__dataclass_fields__),  # type: ignore[arg-type]
)


def over_agent(**measured: Any) -> TurnReport:
    """A turn of 0.4 s over the agent."""
    return replace(SPOKEN_OVER, began_s=10.0, ended_s=10.4, **measured)


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        ({"say": "Two guests."}, Kind.PLAIN),
        ({"say": ["The", {"pause_ms": 600}, "fourth."]}, Kind.PAUSED),
        ({"say": "Mhmm.", "over_agent_ms": 500, "reply_goes_on": True}, Kind.NOISE),
        ({"say": "Wait.", "over_agent_ms": 500, "interrupts": True}, Kind.BARGE_IN),
    ],
)
def test_a_turn_is_what_the_script_has_it_for(turn: dict[str, Any], kind: Kind) -> None:
    assert kind_of(Turn.model_validate(turn)) is kind


def test_a_reply_that_falls_silent_at_a_noise_and_stays_so_was_stopped() -> None:
    assert stopped(over_agent(stop_ms=600.0, silent_ms=None)) is True
    assert stopped(over_agent(stop_ms=600.0, silent_ms=1500.0)) is True


def test_a_pause_between_sentences_or_a_later_end_is_no_stop() -> None:
    assert stopped(over_agent(stop_ms=600.0, silent_ms=300.0)) is False
    assert stopped(over_agent(stop_ms=2500.0, silent_ms=None)) is False


def test_an_agent_that_was_not_speaking_could_not_be_stopped() -> None:
    assert stopped(over_agent(stop_ms=None)) is None


def test_the_turns_of_a_call_that_did_not_take_place_are_missed() -> None:
    script = Script.model_validate({"name": "one", "turns": [{"say": "Hello."}]})
    assert [turn.missed for turn in failed_turns(script)] == [True]


@pytest.fixture(scope="module")
def scripts() -> list[Script]:
    return [load_script(path) for path in Path(CALLS).glob("*.yaml") if path.stem != WARM_UP]


def test_the_calls_have_what_the_benchmark_is_to_show(scripts: list[Script]) -> None:
    assert len(scripts) >= 5
    assert all(len(script.turns) >= 5 for script in scripts)
    kinds = [kind_of(turn) for script in scripts for turn in script.turns]
    for kind in Kind:
        assert kinds.count(kind) >= 2
