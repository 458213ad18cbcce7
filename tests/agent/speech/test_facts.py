"""A question finds the fact that answers it, and a fact's values stay with their own subject."""

from __future__ import annotations

import pytest

from agent.speech.facts import fact_for
from tests.agent.speech.situations import GROUNDS

FACTS = GROUNDS["nothing"].facts


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What time is breakfast?", "Breakfast is served"),
        ("Is breakfast included in the price?", "Breakfast is served"),
        ("Can I bring my dog?", "Small dogs"),
        ("Do you allow pets?", "Small dogs"),
        ("When can I check in?", "Check-in is"),
        ("How late can I check out?", "Check-out is"),
        ("Is parking free?", "Parking is"),
        ("Where can I park?", "Parking is"),
        ("Do you have wifi?", "Wi-Fi is"),
        ("Is there internet in the room?", "Wi-Fi is"),
        ("When is the pool open?", "The pool is"),
    ],
)
def test_a_question_finds_its_fact(question: str, begins: str) -> None:
    fact = fact_for(question, FACTS)
    assert fact is not None
    assert fact.startswith(begins)


@pytest.mark.parametrize(
    "question", ["Is there a gym?", "Is the gym free?", "What is your name?", "", "How are you?"]
)
def test_a_question_that_no_fact_answers_finds_none(question: str) -> None:
    assert fact_for(question, FACTS) is None
