"""A reference that was said but not understood is asked for again, at most twice, never lost."""

from __future__ import annotations

from datetime import date

from agent.booking.hearing import hear
from agent.booking.hotel import load_hotel
from agent.booking.request import BookingRequest
from agent.reply import MAX_SENTENCES, Move, Plan, Standing, decide, greet
from agent.speech.sentences import split
from agent.turns.turn_end import is_unfinished

HOTEL = load_hotel()
SHORT = "My reference is Kilo 7-4-2-9."
DATES = "From October 18 to October 20, please."
ROOM = "A double room for two guests, please."
NAME = "My name is Daniel Harris."
LEFT = "front desk will ask you for the reference"


class Talk:
    """A conversation in text: each turn is heard and answered as in a call."""

    def __init__(self) -> None:
        self.standing = Standing(BookingRequest(), greet(HOTEL))

    @property
    def request(self) -> BookingRequest:
        return self.standing.request

    def say(self, text: str) -> str:
        """What the agent answers."""
        before = self.standing
        assert before.plan is not None
        heard = hear(
            text,
            request=before.request,
            asked=before.plan.asked,
            today=date(2026, 11, 30),
            hotel=HOTEL,
            turn=1,
        )
        request = heard.taken_into(before.request)
        plan = decide(before, heard, request, HOTEL, text)
        self.standing = Standing(request, plan, acknowledged=request)
        said = words(plan)
        assert len(split(said)) <= MAX_SENTENCES
        return said


def words(plan: Plan) -> str:
    return f"{plan.opening} {plan.question} {plan.closing}"


def test_the_caller_hears_what_was_understood_and_says_it_again() -> None:
    talk = Talk()
    assert "K 7 4, 2 9" in talk.say(SHORT)
    assert "K 7 4, Q 2 9" in talk.say("Kilo 7-4 Quebec 2-9.")
    assert talk.request.reference == "K74Q29"
    assert talk.request.unclear_reference is None


def test_a_caller_who_goes_on_is_asked_again_before_the_read_back() -> None:
    talk = Talk()
    for turn in (SHORT, DATES, ROOM):
        talk.say(turn)
    assert "reference once more" in talk.say(NAME)
    assert "K 7 4, Q 2 9" in talk.say("Kilo 7-4 Quebec 2-9.")
    assert talk.standing.plan is not None
    assert talk.standing.plan.move is Move.READ_BACK


def test_after_two_questions_the_front_desk_is_to_ask() -> None:
    talk = Talk()
    talk.say(SHORT)
    assert "letter by letter" in talk.say("Kilo 7-4-9.")
    answer = talk.say("Kilo 7-4-2-9.")
    assert LEFT in answer
    assert "dates" in answer
    for turn in (DATES, ROOM):
        assert "reference" not in talk.say(turn)
    read_back = talk.say(NAME)
    assert LEFT in read_back
    assert "Is that right?" in read_back
    assert talk.request.unclear_reference == "Kilo 7-4-2-9"


def test_an_answer_without_a_reference_is_asked_about_once_and_then_left() -> None:
    talk = Talk()
    talk.say(SHORT)
    assert "reference once more" in talk.say("Mumble.")
    assert LEFT in talk.say("Mumble.")
    assert LEFT not in talk.say(DATES)


def test_a_caller_who_declines_is_not_asked_again() -> None:
    talk = Talk()
    talk.say(SHORT)
    assert LEFT in talk.say("No.")
    for turn in (DATES, ROOM):
        assert "reference" not in talk.say(turn)
    assert LEFT in talk.say(NAME)


def test_one_said_beside_a_date_that_is_asked_about_first_is_not_lost() -> None:
    talk = Talk()
    assert "calendar" in talk.say(f"{SHORT} I arrive on November 31st.")
    for turn in (DATES, ROOM):
        talk.say(turn)
    assert "reference once more" in talk.say(NAME)


def test_the_agent_waits_for_the_rest_of_it() -> None:
    heard = hear(
        SHORT,
        request=BookingRequest(),
        asked=frozenset(),
        today=date(2026, 11, 30),
        hotel=HOTEL,
        turn=1,
    )
    assert is_unfinished(SHORT, heard, BookingRequest())
