"""A sentence is spoken when all that it says is the request's own or the hotel's, and only then."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.booking.request import BookingRequest, Field
from agent.speech.check import check
from agent.speech.finding import Reason
from agent.speech.grounds import Grounds
from tests.agent.speech.situations import GROUNDS, MAY_BE_SAID, MUST_NOT_BE_SAID

DAYS = st.dates(min_value=date(2025, 1, 1), max_value=date(2027, 12, 31))


@pytest.mark.parametrize(("situation", "sentence"), MAY_BE_SAID)
def test_an_honest_sentence_passes(situation: str, sentence: str) -> None:
    assert check(sentence, GROUNDS[situation]) is None


@pytest.mark.parametrize(("situation", "reason", "sentence"), MUST_NOT_BE_SAID)
def test_a_false_sentence_is_found(situation: str, reason: str, sentence: str) -> None:
    finding = check(sentence, GROUNDS[situation])
    assert finding is not None
    assert finding.reason == Reason(reason)
    assert finding.words
    assert finding.sentence == sentence


# Whatever is called booked, in whatever words: the list of sentences above is only a sample.
SUBJECTS = [
    *("The request", "Your request", "The hotel", "Your booking", "Your reservation", "Your room"),
    *("A double room", "The double", "The suite", "The family room", "Everything", "It", "That"),
    *(
        "This",
        "Your stay",
        "Your dates",
        "October 18th",
        "You",
        "We",
        "The front desk",
        "Your spot",
    ),
    *("All of it", "Everything you asked for", "What you asked for", "Your party", "Both nights"),
]
CLAIMS = [
    *("is booked", "is confirmed", "has been confirmed", "has been reserved", "was booked"),
    *("has now been cancelled", "is all set", "is guaranteed", "got booked", "is being held"),
    *("is done", "is now complete", "has been approved", "are booked", "have been cancelled"),
    *("is confirmed by the front desk", "is in our system", "went through", "is secured"),
]


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize(
    "opening", ["", "Yes, ", "Great news, ", "Don't worry, ", "As you asked, "]
)
def test_nothing_at_all_is_called_booked(opening: str, subject: str) -> None:
    sentences = [f"{opening}{subject} {claim}." for claim in CLAIMS]
    assert [said for said in sentences if check(said, GROUNDS["nothing"]) is None] == []


def test_a_question_that_was_answered_is_only_then_wrong() -> None:
    question = "How many guests will be staying?"
    assert check(question, replace(GROUNDS["full"], known=frozenset())) is None
    finding = check(question, replace(GROUNDS["full"], known=frozenset({Field.GUESTS})))
    assert finding is not None
    assert finding.reason is Reason.ALREADY_KNOWN


def test_a_sentence_is_not_said_twice_in_one_reply() -> None:
    grounds = replace(GROUNDS["nothing"], said=("May I have your name, please?",))
    finding = check("May I have your name please", grounds)
    assert finding is not None
    assert finding.reason is Reason.REPEATS


def test_an_old_value_may_not_be_spoken_after_a_correction() -> None:
    grounds = GROUNDS["full"]
    corrected = replace(grounds, request=replace(grounds.request, check_in=date(2025, 10, 19)))
    sentence = "You'd like to check in on October 18th."
    assert check(sentence, grounds) is None
    assert check(sentence, corrected) is not None


def test_what_is_the_date_in_numbers_goes_by_the_hotels_order() -> None:
    request = BookingRequest(check_in=date(2026, 4, 3))
    grounds = Grounds(request=request, today=date(2026, 1, 1), day_first=True)
    assert check("Checking in on 03/04/2026.", grounds) is None
    assert check("Checking in on 03/04/2026.", replace(grounds, day_first=False)) is not None


@given(DAYS, DAYS)
def test_no_date_but_the_requests_own_is_spoken(own: date, said: date) -> None:
    request = BookingRequest(check_in=own, check_out=own + timedelta(days=3))
    grounds = Grounds(request=request, today=date(2025, 1, 1))
    for sentence in (
        f"So you'd like to arrive on {said:%B} {said.day}.",
        f"Checking in on {said.isoformat()}.",
        f"The {said.day}th of {said:%B}, got it.",
    ):
        may = (said.month, said.day) == (own.month, own.day)
        if "got it" in sentence:
            may |= (said.month, said.day) == (request.check_out.month, request.check_out.day)  # type: ignore[union-attr]
        if said.isoformat() in sentence:
            may &= said == own
        assert (check(sentence, grounds) is None) == may


@given(st.from_regex(r"[A-HJ-Z][0-9]{2}[A-HJ-Z][0-9]{2}", fullmatch=True))
def test_no_reference_but_the_requests_own_is_spoken(code: str) -> None:
    grounds = GROUNDS["change"]
    finding = check(f"Your booking reference is {code}.", grounds)
    assert (finding is None) == (code == grounds.request.reference)


@given(st.integers(2, 30), st.integers(2, 30))
def test_no_number_of_guests_but_the_requests_own_is_spoken(own: int, said: int) -> None:
    grounds = replace(GROUNDS["full"], request=replace(GROUNDS["full"].request, guests=own))
    finding = check(f"That is a double room for {said} guests.", grounds)
    assert (finding is None) == (own == said)
