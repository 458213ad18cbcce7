from __future__ import annotations

from dataclasses import replace

from agent.booking.heard import Asked
from agent.booking.hotel import load_hotel
from agent.booking.keywords import keywords
from agent.booking.request import Field

HOTEL = load_hotel()
EVERY = Asked(frozenset(Field), read_back=True)


def test_the_words_follow_what_was_asked() -> None:
    rooms = keywords(frozenset({Field.ROOM_TYPE}), HOTEL)
    dates = keywords(frozenset({Field.CHECK_IN, Field.CHECK_OUT}), HOTEL)
    assert any("twin" in word for word in rooms)
    assert not any("twin" in word for word in dates)
    assert any("check-in" in word for word in dates)
    assert keywords(frozenset({Field.REFERENCE}), HOTEL) != dates


def test_the_hotel_is_always_expected_by_its_own_name() -> None:
    hotel = replace(HOTEL, name="Seaside Inn")
    for asked in (frozenset[Field](), frozenset({Field.GUESTS}), EVERY):
        assert "Seaside Inn" in " ".join(keywords(asked, hotel))


def test_no_word_is_a_value_that_could_be_heard_where_nothing_was_said() -> None:
    for asked in (EVERY, *(Asked(frozenset({part})) for part in Field)):
        assert not any(char.isdigit() for char in " ".join(keywords(asked, HOTEL)))
