"""What callers say, as a recogniser writes it, and what is to be heard in it: a table of cases."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent.booking.hearing import Asked, Problem, ProblemKind, hear
from agent.booking.hotel import DateOrder, load_hotel
from agent.booking.request import BookingRequest, Field

HOTEL = load_hotel()
DATES = ("check_in", "check_out")
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "utterances.jsonl").read_text("utf-8").splitlines()
]


def _value(name: str, value: Any) -> Any:
    return date.fromisoformat(value) if name in DATES and value is not None else value


def _request(before: dict[str, Any]) -> BookingRequest:
    return BookingRequest(**{name: _value(name, value) for name, value in before.items()})


def _asked(case: dict[str, Any]) -> Asked:
    problems = tuple(
        Problem(
            ProblemKind(one["kind"]),
            Field(one["field"]),
            words="",
            value=_value(one["field"], one["value"]),
        )
        for one in case.get("asked_problems", ())
    )
    return Asked(frozenset(map(Field, case["asked"])), problems=problems)


@pytest.mark.parametrize("case", CASES, ids=[case["text"] for case in CASES])
def test_an_utterance_gives_its_values_and_nothing_else(case: dict[str, Any]) -> None:
    hotel = replace(HOTEL, date_order=DateOrder(case.get("date_order", "day-first")))
    heard = hear(
        case["text"],
        request=_request(case["before"]),
        asked=_asked(case),
        today=date.fromisoformat(case["today"]),
        hotel=hotel,
        turn=3,
    )
    changes: dict[str, Any] = {change.field.value: change.new for change in heard.changes}
    for change in heard.changes:
        changes |= {"nights": change.nights} if change.nights is not None else {}
        changes |= {"month": change.month} if change.month is not None else {}
    assert changes == {name: _value(name, value) for name, value in case["changes"].items()}
    assert [problem.kind.value for problem in heard.problems] == case.get("problems", [])
    assert heard.answer.value == case.get("answer", heard.answer.value)
    assert heard.intent.value == case.get("intent", heard.intent.value)
    if "asked_problems" not in case:  # there the words are those of the turn before
        assert all(change.words and change.words in case["text"] for change in heard.changes)
