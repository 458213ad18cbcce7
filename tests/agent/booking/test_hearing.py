"""What holds of hearing whatever is said, and over several turns."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.booking.hearing import Answer, Asked, Hearing, Intent, ProblemKind, hear
from agent.booking.hotel import load_hotel
from agent.booking.request import REQUIRED, BookingRequest, Change, Field

HOTEL = load_hotel()
TODAY = date(2026, 11, 30)
WORDS = sorted(
    {
        word
        for line in (Path(__file__).parent / "utterances.jsonl").read_text("utf-8").splitlines()
        for word in json.loads(line)["text"].split()
    }
)

texts = st.one_of(st.lists(st.sampled_from(WORDS), max_size=16).map(" ".join), st.text(max_size=40))
asked = st.builds(Asked, fields=st.frozensets(st.sampled_from(Field)), read_back=st.booleans())
stays = st.builds(
    lambda start, nights: (TODAY + timedelta(days=start), TODAY + timedelta(days=start + nights)),
    st.integers(0, 400),
    st.integers(1, HOTEL.max_nights),
)
requests = st.builds(
    lambda stay, parts, guests, room_type, name: BookingRequest(
        check_in=stay[0] if parts > 0 else None,
        check_out=stay[1] if parts > 1 else None,
        guests=guests,
        room_type=room_type,
        guest_name=name,
    ),
    stays,
    st.integers(0, 2),
    st.none() | st.integers(1, HOTEL.max_guests),
    st.none() | st.sampled_from(sorted(HOTEL.room_types)),
    st.sampled_from([None, "Raman", "Priya Raman"]),
)


class Caller:
    """A caller's side of a call: says things, and keeps the request as the agent does."""

    def __init__(self) -> None:
        self.request = BookingRequest()
        self.turn = 0

    def say(self, text: str, *asked: Field, read_back: bool = False) -> Hearing:
        self.turn += 1
        heard = hear(
            text,
            request=self.request,
            asked=Asked(frozenset(asked), read_back=read_back),
            today=TODAY,
            hotel=HOTEL,
            turn=self.turn,
        )
        self.request = self.request.with_changes(heard.changes)
        return heard


@given(text=texts, asked=asked, request=requests)
@settings(max_examples=150)
def test_whatever_is_said_the_request_stays_one_that_can_be(
    text: str, asked: Asked, request: BookingRequest
) -> None:
    heard = hear(text, request=request, asked=asked, today=TODAY, hotel=HOTEL, turn=1)
    after = request.with_changes(heard.changes)
    if after.check_in is not None:
        assert after.check_in >= TODAY
    if after.check_in is not None and after.check_out is not None:
        assert 0 < (after.check_out - after.check_in).days <= HOTEL.max_nights
    assert after.guests is None or 0 < after.guests <= HOTEL.max_guests
    assert after.room_type is None or after.room_type in HOTEL.room_types
    assert after.reference is None or HOTEL.is_reference(after.reference)
    for change in heard.changes:
        assert change.words in text
        assert change.words
        assert change.old == request.get(change.field)
    assert all(problem.words for problem in heard.problems)
    assert heard.answer is not Answer.YES or not heard.changes


def test_a_whole_call_fills_the_request_turn_by_turn() -> None:
    caller = Caller()
    caller.say("Hi, I'd like to book a room.")
    caller.say("October sixteenth through the twentieth.", Field.CHECK_IN, Field.CHECK_OUT)
    caller.say("No wait, check in on October eighteenth.", Field.GUESTS, Field.ROOM_TYPE)
    caller.say("A double for two.", Field.GUESTS, Field.ROOM_TYPE)
    caller.say("Priya Roman. R A M A N.", Field.GUEST_NAME)
    assert caller.request.missing() == ()
    assert caller.say("Yes, that's right.", read_back=True).answer is Answer.YES
    assert caller.request.to_dict() == {
        "check_in": "2027-10-18",
        "check_out": "2027-10-20",
        "guests": 2,
        "room_type": "double",
        "guest_name": "Priya Raman",
        "reference": None,
    }
    assert [(one.turn, one.old) for one in caller.request.history if one.old] == [
        (3, date(2027, 10, 16))
    ]


def test_a_length_of_stay_waits_for_its_check_in() -> None:
    caller = Caller()
    caller.say("I'd like a double for three nights, please.")
    assert caller.request.nights == 3
    assert caller.request.missing() == (Field.CHECK_IN, Field.GUESTS, Field.GUEST_NAME)
    caller.say("The sixteenth of October.", Field.CHECK_IN)
    assert caller.request.check_out == date(2027, 10, 19)
    assert caller.request.history[-1].words == "three nights"


def test_a_month_waits_for_its_day() -> None:
    caller = Caller()
    heard = caller.say("Sometime in October.", Field.CHECK_IN, Field.CHECK_OUT)
    assert [problem.kind for problem in heard.problems] == [ProblemKind.DATE_INCOMPLETE]
    caller.say("The sixteenth.", Field.CHECK_IN)
    assert caller.request.check_in == date(2027, 10, 16)


def test_a_stay_that_was_given_in_nights_moves_with_its_check_in() -> None:
    caller = Caller()
    caller.say("October sixteenth for two nights.")
    caller.say("No wait, the eighteenth.", Field.GUESTS)
    # Both ends are known, and it could be either: the caller is asked.
    assert caller.request.check_in == date(2027, 10, 16)
    caller.say("The check-in is the eighteenth.", Field.CHECK_IN)
    assert caller.request.check_in == date(2027, 10, 18)
    assert caller.request.check_out == date(2027, 10, 20)


def test_a_date_that_could_be_either_end_is_settled_by_a_short_answer() -> None:
    caller = Caller()
    caller.say("From October sixteenth to the twentieth.")
    doubt = caller.say("No wait, the eighteenth.", Field.GUESTS).problems
    heard = hear(
        "The check-out.",
        request=caller.request,
        asked=Asked(frozenset({Field.CHECK_IN}), problems=doubt),
        today=TODAY,
        hotel=HOTEL,
        turn=3,
    )
    assert heard.changes == (
        Change(
            Field.CHECK_OUT,
            date(2027, 10, 18),
            "the eighteenth",
            turn=3,
            old=date(2027, 10, 20),
        ),
    )


def test_a_check_in_after_the_check_out_lets_go_of_it_and_says_so() -> None:
    caller = Caller()
    caller.say("From October sixteenth to the twentieth.")
    heard = caller.say("Check in on the twenty second.", Field.GUESTS)
    assert caller.request.check_in == date(2027, 10, 22)
    assert Field.CHECK_OUT in caller.request.missing()
    (problem,) = heard.problems
    assert problem.kind is ProblemKind.CHECK_OUT_NOT_AFTER_CHECK_IN
    assert (problem.field, problem.value) == (Field.CHECK_OUT, date(2027, 10, 20))


def test_an_impossible_correction_changes_nothing() -> None:
    caller = Caller()
    caller.say("From October sixteenth to the twentieth.")
    before = caller.request
    caller.say("Check out on the fourteenth.", Field.GUESTS)
    assert caller.request == before


def test_a_question_about_the_hotel_changes_nothing() -> None:
    caller = Caller()
    heard = caller.say("What time is breakfast on the sixteenth?", Field.CHECK_IN)
    assert heard.intent is Intent.QUESTION
    assert caller.request == BookingRequest()


def test_a_plain_set_of_all_fields_stands_for_a_read_back() -> None:
    heard = hear(
        "two",
        request=BookingRequest(),
        asked=frozenset(REQUIRED),
        today=TODAY,
        hotel=HOTEL,
        turn=1,
    )
    assert heard.changes == ()
