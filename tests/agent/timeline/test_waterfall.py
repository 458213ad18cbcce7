"""A gap is divided into what its time went to, and what was done early takes none of it."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.timeline.waterfall import ADDS_UP_MS, PARTS, Moments, contradiction, split_gap

IN_ORDER = Moments(
    last_sound=1000.0,
    end_of_speech=1250.0,
    final_transcript=1400.0,
    end_of_turn=1500.0,
    first_token=1600.0,
    first_sentence=1700.0,
    check=1710.0,
    first_audio=1800.0,
    first_sound=1880.0,
)


def parts_of(moments: Moments, network_ms: float | None = 20.0) -> dict[str, float | None]:
    gap = split_gap(moments, network_ms)
    assert gap is not None
    assert contradiction(gap.ms, gap.parts) is None
    return gap.parts


def test_one_after_the_other_each_part_is_the_time_since_the_one_before() -> None:
    gap = split_gap(IN_ORDER, 20.0)
    assert gap is not None
    assert gap.ms == 900.0
    assert list(gap.parts.items()) == [
        ("end_of_speech", 250.0),
        ("final_transcript", 150.0),
        ("end_of_turn", 100.0),
        ("first_token", 100.0),
        ("first_sentence", 100.0),
        ("check", 10.0),
        ("first_audio", 90.0),
        ("playout", 80.0),
        ("network", 20.0),
        ("unexplained", 0.0),
    ]


def test_a_reply_that_was_ready_before_the_decision_cost_nothing_but_its_playing() -> None:
    early = replace(IN_ORDER, first_token=1300.0, first_sentence=1310.0, check=1310.0)
    parts = parts_of(replace(early, first_audio=1450.0))
    assert parts["end_of_turn"] == 100.0
    assert [parts[name] for name in PARTS[3:7]] == [0.0, 0.0, 0.0, 0.0]
    assert parts["playout"] == 380.0


def test_time_around_an_unknown_moment_is_nobodys() -> None:
    parts = parts_of(replace(IN_ORDER, final_transcript=None))
    assert (parts["final_transcript"], parts["end_of_turn"]) == (None, None)
    assert parts["unexplained"] == 250.0
    assert parts["first_token"] == 100.0


def test_a_gap_without_the_network_says_so() -> None:
    gap = split_gap(IN_ORDER, None)
    assert gap is not None
    assert (gap.ms, gap.parts["network"]) == (880.0, None)


def test_what_came_after_the_first_sound_did_not_delay_it() -> None:
    assert parts_of(replace(IN_ORDER, final_transcript=2500.0))["final_transcript"] == 0.0


@pytest.mark.parametrize("unknown", [{"last_sound": None}, {"first_sound": None}])
def test_without_a_beginning_or_an_end_there_is_no_gap(unknown: dict[str, Any]) -> None:
    assert split_gap(replace(IN_ORDER, **unknown), 20.0) is None


def test_a_reply_that_cut_in_has_no_gap() -> None:
    assert split_gap(replace(IN_ORDER, last_sound=1900.0), 20.0) is None


moment = st.none() | st.floats(0, 10_000)


@given(
    st.builds(Moments, **{field.name: moment for field in fields(Moments)}),
    st.none() | st.floats(0, 500),
)
def test_the_parts_add_up_whatever_happened_in_which_order(
    moments: Moments, network_ms: float | None
) -> None:
    gap = split_gap(moments, network_ms)
    if gap is None:
        return
    assert tuple(gap.parts) == PARTS
    known = [ms for ms in gap.parts.values() if ms is not None]
    assert math.isclose(sum(known), gap.ms, abs_tol=0.5)
    assert contradiction(gap.ms, gap.parts) is None


@pytest.mark.parametrize(
    ("gap_ms", "parts", "said"),
    [
        (100.0, {"playout": -1.0}, "before its beginning"),
        (100.0, {"playout": float("nan")}, "before its beginning"),
        (100.0, {"playout": "100"}, "expected milliseconds"),
        (100.0, {"playout": True}, "expected milliseconds"),
        (100.0, {"thinking": 100.0}, "nobody knows: thinking"),
        (100.0, [100.0], "expected an object"),
        (None, {"playout": 100.0}, "not known"),
        (100.0, {"playout": 100.0 + ADDS_UP_MS + 1}, "add up to 121.0 ms"),
        (100.0, {"playout": 100.0 - ADDS_UP_MS - 1}, "add up to 79.0 ms"),
        (100.0, {}, "add up to 0.0 ms"),
    ],
)
def test_parts_that_cannot_be_are_named(gap_ms: float | None, parts: Any, said: str) -> None:
    assert said in (contradiction(gap_ms, parts) or "")


def test_unknown_parts_and_an_unknown_waterfall_are_plausible() -> None:
    assert contradiction(100.0, {"playout": 95.0, "network": None}) is None
    assert contradiction(100.0, None) is None
    assert contradiction(None, None) is None
