"""What is counted of a call."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.timeline.events import Event, EventType
from selfhost.load.latency_bench.command import WARM_UP
from selfhost.load.latency_bench.holding import CALLS
from selfhost.load.latency_bench.turns import (
    Kind,
    failed_turns,
    kind_of,
    stopped,
    worker_figures,
)
from selfhost.load.observed import Stamped
from selfhost.load.report import TurnReport
from selfhost.load.script import Script, Turn, load_script

SPOKEN_OVER = TurnReport(
    **dict.fromkeys(TurnReport.__dataclass_fields__),  # type: ignore[arg-type]
)


def over_agent(**measured: Any) -> TurnReport:
    """A turn of 0.4 s over the agent."""
    return replace(SPOKEN_OVER, began_s=10.0, ended_s=10.4, **measured)


def spoke(at_s: float | None, **fields: Any) -> Stamped:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    return Stamped(Event(1, 1, EventType.AGENT_SPEAKING, 0.0, now, fields), at_s)


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


def test_the_worker_tells_of_the_reply_that_was_heard() -> None:
    timeline = [spoke(4.0, gap_ms=700.0), spoke(5.6, gap_ms=900.0), spoke(None, gap_ms=1.0)]
    assert worker_figures(timeline, 4.6, 950.0) == {"gap_ms": 900.0}


def test_a_reply_that_the_worker_told_nothing_of_has_no_figures() -> None:
    assert worker_figures([spoke(4.0, gap_ms=700.0)], 9.0, 500.0) == {}
    assert worker_figures([spoke(4.0, gap_ms=700.0)], 3.3, None) == {}


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
