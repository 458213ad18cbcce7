"""The values that a spoken sentence mentions are read whole, and ordinary words are none."""

from __future__ import annotations

import pytest

from agent.speech.mentions import (
    AmountMention,
    CodeMention,
    CountMention,
    DateMention,
    Mention,
    TimeMention,
)
from agent.speech.reading import mentions

CASES: list[tuple[str, list[tuple[type[Mention], dict[str, object]]]]] = [
    ("October eighteenth", [(DateMention, {"month": 10, "day": 18})]),
    (
        "Saturday, the eighteenth of October, twenty twenty-five",
        [(DateMention, {"month": 10, "day": 18, "year": 2025, "weekday": 5})],
    ),
    (
        "from the eighteenth to the twentieth",
        [(DateMention, {"day": 18}), (DateMention, {"day": 20})],
    ),
    ("from the first to the third", [(DateMention, {"day": 1}), (DateMention, {"day": 3})]),
    ("the first of May", [(DateMention, {"month": 5, "day": 1})]),
    ("in May", [(DateMention, {"month": 5})]),
    ("May I ask", []),
    ("you may march on", []),
    ("first of all, your first name", []),
    ("on the fourth floor, the second room", []),
    ("New Year's Eve", [(DateMention, {"month": 12, "day": 31})]),
    ("tomorrow", [(DateMention, {"offset": 1})]),
    ("closed on Mondays", [(DateMention, {"weekday": 0})]),
    ("at three thirty p.m.", [(TimeMention, {"hour": 3, "minute": 30, "half": "p"})]),
    ("at three in the afternoon", [(TimeMention, {"hour": 3, "minute": 0, "half": "p"})]),
    ("at half past seven", [(TimeMention, {"hour": 7, "minute": 30, "half": None})]),
    ("at a quarter to three", [(TimeMention, {"hour": 2, "minute": 45, "half": None})]),
    ("at noon", [(TimeMention, {"hour": 0, "minute": 0, "half": "p"})]),
    ("at seven oh five", [(TimeMention, {"hour": 7, "minute": 5})]),
    ("two guests", [(CountMention, {"number": 2, "unit": "guest"})]),
    ("the two of you", [(CountMention, {"number": 2, "unit": "guest"})]),
    ("two more nights", [(CountMention, {"number": 2, "unit": "night"})]),
    ("two large double rooms", [(CountMention, {"number": 2, "unit": "room"})]),
    ("one hundred twenty dollars", [(AmountMention, {"number": "120", "unit": "dollar"})]),
    ("two point five percent", [(AmountMention, {"number": "2.5", "unit": "percent"})]),
    ("K seven four, Q two nine", [(CodeMention, {"code": "K74Q29"})]),
    ("kilo seven four quebec two nine", [(CodeMention, {"code": "K74Q29"})]),
    ("R-A-M-A-N", [(CodeMention, {"code": "RAMAN"})]),
    ("four one five, five five five", [(CodeMention, {"code": "415555"})]),
    ("I have a room", []),
    ("Which type would you like?", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_the_values_of_a_text_are_read(
    text: str, expected: list[tuple[type[Mention], dict[str, object]]]
) -> None:
    found = mentions(text)
    assert [type(mention) for mention in found] == [kind for kind, _ in expected]
    for mention, (_, fields) in zip(found, expected, strict=True):
        assert {name: getattr(mention, name) for name in fields} == fields
        assert text[mention.start : mention.end] == mention.words
