"""The request's values as words for the ear: the same words for the same value, always.

What is said here is understood by `agent.booking.hearing` as the same value again.
"""

from __future__ import annotations

import calendar
from datetime import date

from num2words import num2words

from agent.booking.hotel import Hotel
from agent.booking.request import BookingRequest, Field

# The weekday tells this October from the next; only a date so far ahead needs its year.
_YEAR_SAID_AFTER_DAYS = 335
_GROUP = 3  # characters of a reference said in one breath


def spoken_date(day: date, today: date | None = None) -> str:
    """A date for the ear: "Monday, October eighteenth".

    Args:
        day: the date.
        today: with it, a date more than eleven months ahead has its year said too.
    """
    weekday, month = calendar.day_name[day.weekday()], calendar.month_name[day.month]
    said = f"{weekday}, {month} {num2words(day.day, to='ordinal')}"
    if today is not None and (day - today).days > _YEAR_SAID_AFTER_DAYS:
        said += f", {num2words(day.year, to='year')}"
    return said


def spoken_guests(guests: int) -> str:
    """ "one guest", "two guests"."""
    return f"{num2words(guests)} {'guest' if guests == 1 else 'guests'}"


def spoken_nights(nights: int) -> str:
    """ "one night", "two nights"."""
    return f"{num2words(nights)} {'night' if nights == 1 else 'nights'}"


def spoken_reference(reference: str) -> str:
    """A reference one character at a time, in groups with a pause between: "K 7 4, Q 2 9"."""
    groups = [reference[start : start + _GROUP] for start in range(0, len(reference), _GROUP)]
    return ", ".join(" ".join(group) for group in groups)


def spoken_room(room_type: str) -> str:
    """A room type as one asks for it: "a double room", "a suite"."""
    return f"a {room_type}" if room_type == "suite" else f"a {room_type} room"


def digits(number: str) -> str:
    """A number digit by digit, as words: "one zero four two"."""
    return " ".join(num2words(int(char)) if char.isdecimal() else char for char in number)


def acknowledgement(
    request: BookingRequest, parts: tuple[Field, ...], hotel: Hotel, today: date | None = None
) -> str:
    """The values of these parts as a phrase that can stand alone or follow "So, ".

    Args:
        request: what is known now.
        parts: the parts to say; one without a value is left out.
        hotel: whose room types they are.
        today: as for `spoken_date`.
    """
    said = []
    check_in, check_out = request.check_in, request.check_out
    if Field.CHECK_IN in parts and Field.CHECK_OUT in parts and check_in and check_out:
        said.append(f"from {spoken_date(check_in, today)}, to {spoken_date(check_out, today)}")
    else:
        if Field.CHECK_IN in parts and check_in:
            said.append(f"check-in on {spoken_date(check_in, today)}")
        if Field.CHECK_OUT in parts and check_out:
            said.append(f"check-out on {spoken_date(check_out, today)}")
    said += _rest(request, parts)
    return "; ".join(said)


def _rest(request: BookingRequest, parts: tuple[Field, ...]) -> list[str]:
    said = []
    guests = spoken_guests(request.guests) if Field.GUESTS in parts and request.guests else ""
    room = spoken_room(request.room_type) if Field.ROOM_TYPE in parts and request.room_type else ""
    if guests and room:
        said.append(f"{room} for {guests}")
    elif guests or room:
        said.append(guests or room)
    if Field.GUEST_NAME in parts and request.guest_name:
        said.append(f"the name {request.guest_name}")
    if Field.REFERENCE in parts and request.reference:
        said.append(f"reference {spoken_reference(request.reference)}")
    return said


def read_back(request: BookingRequest, hotel: Hotel, today: date | None = None) -> str:
    """All that is known of the request, in a sentence or two.

    Args as for `acknowledgement`.

    Returns:
        Whole sentences; empty if nothing is known.
    """
    stay = acknowledgement(request, (Field.CHECK_IN, Field.CHECK_OUT), hotel, today)
    if request.check_in and request.check_out:
        stay = f"{stay}, {spoken_nights((request.check_out - request.check_in).days)}"
    elif request.nights is not None:
        stay = ", ".join(filter(None, (stay, spoken_nights(request.nights))))
    rooms = "; ".join(_rest(request, (Field.GUESTS, Field.ROOM_TYPE)))
    first = ", ".join(filter(None, (rooms, stay)))
    second = ", and ".join(
        filter(
            None,
            (
                f"the name is {request.guest_name}" if request.guest_name else "",
                f"the reference is {spoken_reference(request.reference)}"
                if request.reference
                else "the front desk will ask you for the reference"
                if request.unclear_reference
                else "",
            ),
        )
    )
    sentences = [f"{part[0].upper()}{part[1:]}." for part in (first, second) if part]
    return " ".join(sentences)
