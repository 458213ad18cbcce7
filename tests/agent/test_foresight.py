"""What is foreseen is what is then decided: to the letter, or it is of no use."""

from __future__ import annotations

from datetime import date

import pytest

from agent.booking.hearing import hear
from agent.booking.hotel import load_hotel
from agent.booking.request import BookingRequest
from agent.foresight import after, greeting, of_every_call, sentences_of
from agent.reply import Plan, Standing, decide, greet, recorded
from agent.speech.sentences import split

TODAY = date(2026, 11, 30)
HOTEL = load_hotel()
TURNS = (
    "I'd like a room from March third to March sixth, please.",
    "For two guests, please.",
    "A double room, please.",
    "The name is Emma Wilson.",
    "Yes, that's right.",
)


def standing() -> Standing:
    return Standing(BookingRequest(), plan=greet(HOTEL))


def answer(before: Standing, words: str) -> tuple[Standing, Plan]:
    """The conversation after a turn, and the reply to it."""
    assert before.plan is not None
    heard = hear(
        words,
        request=before.request,
        asked=before.plan.asked,
        today=TODAY,
        hotel=HOTEL,
        turn=1,
    )
    request = before.request.with_changes(heard.changes)
    plan = decide(before, heard, request, HOTEL, words)
    return Standing(request, plan, acknowledged=request), plan


def before_turn(number: int) -> Standing:
    now = standing()
    for words in TURNS[:number]:
        now, _ = answer(now, words)
    return now


def test_the_first_sentence_of_the_read_back_is_known_before_the_name() -> None:
    foreseen = after(before_turn(3), HOTEL)
    _, reply = answer(before_turn(3), TURNS[3])
    decided = sentences_of(reply)
    assert foreseen[0] == decided[0]
    assert foreseen[-1] == decided[-1]
    assert "The name is Emma Wilson." in decided
    assert not [sentence for sentence in foreseen if "nknown" in sentence]


def test_the_thanks_are_known_before_the_yes() -> None:
    now = before_turn(4)
    thanks = sentences_of(recorded(now.request, "1042"))[0]
    assert after(now, HOTEL) == [thanks] == ["Thank you, Emma Wilson."]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_nothing_is_foreseen_of_what_hangs_on_the_answer(number: int) -> None:
    assert after(before_turn(number), HOTEL) == []


@pytest.mark.parametrize("number", [1, 2])
def test_short_answers_are_common_to_all_calls(number: int) -> None:
    _, reply = answer(before_turn(number), TURNS[number])
    assert set(sentences_of(reply)) <= set(of_every_call(HOTEL))


def test_common_sentences_begin_with_the_greeting_and_hold_no_made_up_value() -> None:
    sentences = of_every_call(HOTEL)
    assert sentences[:2] == split(greeting(HOTEL))
    assert len(sentences) == len(set(sentences))
    assert not [s for s in sentences if "nknown" in s or "January" in s]
    assert [s for s in sentences if split(s) != [s]] == []


def test_the_words_that_stand_in_for_the_models_are_among_a_replys_sentences() -> None:
    _, reply = answer(standing(), "Is breakfast included?")
    assert reply.brief is not None
    assert sentences_of(reply) == [*split(reply.question), *split(reply.closing)]
