from __future__ import annotations

import string
from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.booking import spoken
from agent.booking.hearing import Asked, hear
from agent.booking.hotel import load_hotel
from agent.booking.request import BookingRequest, Field

HOTEL = load_hotel()
TODAY = date(2026, 11, 30)

coming_dates = st.dates(TODAY + timedelta(days=1), TODAY + timedelta(days=364))
references = st.text(string.ascii_uppercase + string.digits, min_size=6, max_size=6).filter(
    HOTEL.is_reference
)
requests = st.builds(
    lambda check_in, nights, guests, room_type: BookingRequest(
        check_in=check_in,
        check_out=check_in + timedelta(days=nights),
        guests=guests,
        room_type=room_type,
        guest_name="Priya Raman",
    ),
    coming_dates,
    st.integers(1, HOTEL.max_nights),
    st.integers(1, HOTEL.max_guests),
    st.sampled_from(sorted(HOTEL.room_types)),
)


def _hear(text: str, *asked: Field) -> BookingRequest:
    request = BookingRequest()
    heard = hear(
        text,
        request=request,
        asked=Asked(frozenset(asked)),
        today=TODAY,
        hotel=HOTEL,
        turn=1,
    )
    assert not heard.problems
    return request.with_changes(heard.changes)


def test_values_are_words_for_the_ear() -> None:
    assert spoken.spoken_date(date(2027, 10, 18)) == "Monday, October eighteenth"
    assert spoken.spoken_reference("K74Q29") == "K 7 4, Q 2 9"
    assert spoken.spoken_guests(1) == "one guest"
    assert spoken.spoken_guests(2) == "two guests"
    assert spoken.digits("1042") == "one zero four two"


def test_only_a_date_almost_a_year_away_has_its_year() -> None:
    assert spoken.spoken_date(date(2027, 10, 18), TODAY) == "Monday, October eighteenth"
    assert (
        spoken.spoken_date(date(2027, 11, 18), TODAY)
        == "Thursday, November eighteenth, twenty twenty-seven"
    )


@given(day=coming_dates)
def test_a_spoken_date_is_heard_as_the_same_date(day: date) -> None:
    assert _hear(spoken.spoken_date(day), Field.CHECK_IN).check_in == day
    assert _hear(spoken.spoken_date(day, TODAY), Field.CHECK_IN).check_in == day


@given(reference=references)
def test_a_spoken_reference_is_heard_as_the_same_characters(reference: str) -> None:
    heard = _hear(spoken.spoken_reference(reference), Field.REFERENCE).reference
    assert heard is not None
    # An "oh" is a zero or an O: by ear there is no telling.
    assert heard.replace("O", "0") == reference.replace("O", "0")


@given(request=requests)
@settings(max_examples=50)
def test_what_is_read_back_is_heard_as_the_same_request(request: BookingRequest) -> None:
    heard = _hear(spoken.read_back(request, HOTEL))
    assert heard.to_dict() == request.to_dict()


def test_a_read_back_says_everything_once() -> None:
    request = BookingRequest(
        check_in=date(2027, 10, 16),
        check_out=date(2027, 10, 20),
        guests=2,
        room_type="double",
        guest_name="Priya Raman",
        reference="K74Q29",
    )
    assert spoken.read_back(request, HOTEL) == (
        "A double room for two guests, from Saturday, October sixteenth, to Wednesday, October "
        "twentieth, four nights. The name is Priya Raman, and the reference is K 7 4, Q 2 9."
    )


def test_a_read_back_says_only_what_is_known() -> None:
    assert spoken.read_back(BookingRequest(), HOTEL) == ""
    assert spoken.read_back(BookingRequest(guests=2), HOTEL) == "Two guests."
    assert spoken.read_back(BookingRequest(nights=3), HOTEL) == "Three nights."
    known = BookingRequest(check_in=date(2027, 10, 16), guest_name="Priya Raman")
    assert spoken.read_back(known, HOTEL) == (
        "Check-in on Saturday, October sixteenth. The name is Priya Raman."
    )
