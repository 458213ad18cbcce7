"""A pause in mid-thought does not end a turn; an answer that is whole does."""

from __future__ import annotations

from datetime import date

import pytest
from livekit.agents import llm

from agent.booking.heard import Asked
from agent.booking.hearing import hear
from agent.booking.hotel import load_hotel
from agent.booking.request import BookingRequest, Field
from agent.turn_end import TurnEnd, is_unfinished

HOTEL = load_hotel()
DATES = frozenset({Field.CHECK_IN, Field.CHECK_OUT})
ROOM = frozenset({Field.GUESTS, Field.ROOM_TYPE})
NAME = frozenset({Field.GUEST_NAME})


def unfinished(text: str, asked: frozenset[Field], request: BookingRequest | None = None) -> bool:
    request = request or BookingRequest()
    heard = hear(
        text, request=request, asked=Asked(asked), today=date(2026, 11, 30), hotel=HOTEL, turn=1
    )
    return is_unfinished(text, heard, request)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I'd like a room from", DATES),
        ("I'd like a room from.", DATES),
        ("From March 3rd", DATES),
        ("I'd like a room from October 16th.", DATES),
        ("From October 16th to", DATES),
        ("My name is", NAME),
        ("It's...", NAME),
        ("Um", ROOM),
        ("Two guests and", ROOM),
        ("No, wait", DATES),
        ("My reference is K 7 4", frozenset()),
    ],
)
def test_more_is_expected(text: str, asked: frozenset[Field]) -> None:
    assert unfinished(text, asked)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("From March 3rd to March 6th.", DATES),
        ("October 18th.", DATES),
        ("From tomorrow for three nights", DATES),
        ("Two guests, please.", ROOM),
        ("For to", ROOM),
        ("A double room.", ROOM),
        ("My name is Emma Wilson.", NAME),
        ("Emma Wilson", NAME),
        ("Is breakfast included?", DATES),
        ("Yes.", frozenset(Field)),
        ("Yes, that's right.", frozenset(Field)),
        ("No.", frozenset(Field)),
        ("My reference is K74Q29.", frozenset()),
        ("Goodbye.", frozenset()),
        ("", frozenset()),
    ],
)
def test_the_turn_is_whole(text: str, asked: frozenset[Field]) -> None:
    assert not unfinished(text, asked)


def test_a_new_arrival_is_whole_where_the_departure_is_known() -> None:
    request = BookingRequest(check_in=date(2027, 3, 1), check_out=date(2027, 3, 6))
    assert not unfinished("From March 3rd, please", DATES, request)


async def test_the_detector_looks_at_the_callers_last_words() -> None:
    detector = TurnEnd(lambda text: text.endswith("is"))
    talk = llm.ChatContext.empty()
    talk.add_message(role="assistant", content="What name is it")
    assert await detector.predict_end_of_turn(talk) == 1.0
    talk.add_message(role="user", content="My name is")
    threshold = await detector.unlikely_threshold(None)
    assert threshold is not None
    assert await detector.predict_end_of_turn(talk) < threshold
