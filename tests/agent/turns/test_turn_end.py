"""A pause in mid-thought does not end a turn; an answer that is whole does."""

from __future__ import annotations

from datetime import date

import pytest
from livekit.agents import llm

from agent.booking.heard import Asked
from agent.booking.hearing import hear
from agent.booking.hotel import load_hotel
from agent.booking.request import BookingRequest, Field
from agent.turns.turn_end import (
    LIKELY_S,
    LONE_WORD_S,
    PART_S,
    SPELLING_S,
    UNFINISHED_S,
    WHOLE_S,
    TurnEnd,
    pause_s,
)

HOTEL = load_hotel()
DATES = frozenset({Field.CHECK_IN, Field.CHECK_OUT})
ROOM = frozenset({Field.GUESTS, Field.ROOM_TYPE})
NAME = frozenset({Field.GUEST_NAME})


READ_BACK = Asked(frozenset(Field), read_back=True)
FULL = BookingRequest(
    check_in=date(2027, 3, 1),
    check_out=date(2027, 3, 6),
    guests=2,
    room_type="twin",
    guest_name="Emma Wilson",
)


def pause(
    text: str, asked: Asked | frozenset[Field], request: BookingRequest | None = None
) -> float:
    request = request or BookingRequest()
    asked = Asked.of(asked)
    heard = hear(text, request=request, asked=asked, today=date(2026, 11, 30), hotel=HOTEL, turn=1)
    return pause_s(text, heard, request, asked)


def unfinished(text: str, asked: frozenset[Field], request: BookingRequest | None = None) -> bool:
    return pause(text, asked, request) == UNFINISHED_S


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I'd like a room from", DATES),
        ("I'd like a room from.", DATES),
        ("I'd like a room from there.", DATES),
        ("From March 3rd", DATES),
        ("I'd like a room from October 16th.", DATES),
        ("From October 16th to", DATES),
        ("My name is", NAME),
        ("It's...", NAME),
        ("Um", ROOM),
        ("Two guests and", ROOM),
        ("No, wait", DATES),
        ("My reference is K 7 4", frozenset()),
        ("The", DATES),
        ("The nineteenth.", DATES),
        ("The 19th.", DATES),
        ("Check in on the fourth.", DATES),
        ("My phone number is 415", NAME),
        ("Four one five. Five five five.", NAME),
        ("It's 415-555", NAME),
        ("My e-mail is anna.taylor", NAME),
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


@pytest.mark.parametrize(
    ("text", "asked", "request_before", "pause_of_s"),
    [
        ("From March 3rd to March 6th.", DATES, None, WHOLE_S),
        ("I'd like a room from October sixteenth to October twentieth.", DATES, None, WHOLE_S),
        ("From the fourth to the seventh.", DATES, None, WHOLE_S),
        ("A twin room for two guests, please.", ROOM, None, WHOLE_S),
        ("The name is Sarah Johnson.", NAME, None, WHOLE_S),
        ("Is breakfast included?", DATES, None, WHOLE_S),
        ("When can I check in?", DATES, None, WHOLE_S),
        ("Yes, that's right.", READ_BACK, FULL, WHOLE_S),
        ("Goodbye.", frozenset(), None, WHOLE_S),
        ("Make it three guests.", READ_BACK, FULL, LIKELY_S),
        ("Sorry, October 18th, not the 16th.", ROOM, FULL, LIKELY_S),
        ("For two guests, please.", ROOM, None, LIKELY_S),
        ("Yes.", READ_BACK, FULL, LONE_WORD_S),
        ("No.", READ_BACK, FULL, LONE_WORD_S),
        ("Two guests.", ROOM, None, PART_S),
        ("October 18th.", DATES, None, PART_S),
        ("I'd like a room.", DATES, None, PART_S),
        ("Priya.", NAME, None, PART_S),
        (
            "The twentieth.",
            frozenset({Field.CHECK_OUT}),
            BookingRequest(check_in=date(2027, 3, 1)),
            LIKELY_S,
        ),
        ("W I L S", NAME, None, SPELLING_S),
        ("4155550197", NAME, None, PART_S),
        ("My phone number is 415. 555. 0197.", NAME, None, PART_S),
    ],
)
def test_the_pause_depends_on_what_was_asked_and_heard(
    text: str,
    asked: Asked | frozenset[Field],
    request_before: BookingRequest | None,
    pause_of_s: float,
) -> None:
    assert pause(text, asked, request_before) == pause_of_s


async def test_the_detector_waits_as_long_as_the_callers_last_words_ask_for() -> None:
    waits: list[float] = []
    detector = TurnEnd(lambda text: 1.6 if text.endswith("is") else 0.3, waits.append)
    talk = llm.ChatContext.empty()
    talk.add_message(role="assistant", content="What name is it")
    threshold = await detector.unlikely_threshold(None)
    assert threshold is not None
    assert await detector.predict_end_of_turn(talk) < threshold
    talk.add_message(role="user", content="My name is")
    assert await detector.predict_end_of_turn(talk) < threshold
    assert waits == [0.3, 1.6]
