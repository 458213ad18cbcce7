"""The words that the recogniser should expect next."""

from __future__ import annotations

from agent.booking.alphabet import NATO
from agent.booking.calendar_words import MONTHS
from agent.booking.heard import Asked
from agent.booking.hotel import Hotel
from agent.booking.request import Field


def keywords(asked: frozenset[Field] | Asked, hotel: Hotel) -> list[str]:
    """Words and phrases to bias a recogniser with, for the answer to what was asked.

    Few and likely ones: a Whisper model that is told too much writes down what it was told.

    Args:
        asked: what the agent's last turn was about.
        hotel: whose name and room types are to be expected.

    Returns:
        The hotel's name, then the words for what was asked, without repeats.
    """
    asked = Asked.of(asked)
    words = [hotel.name]
    if asked.about(Field.CHECK_IN, Field.CHECK_OUT):
        words += ["check-in", "check-out", "nights", *(month.capitalize() for month in MONTHS)]
    if asked.about(Field.GUESTS):
        words += ["guests", "adults", "children"]
    if asked.about(Field.ROOM_TYPE):
        words += [f"{room_type} room" for room_type in hotel.room_types]
    if asked.about(Field.REFERENCE):
        words += ["reference", "dash", *(word.capitalize() for word in NATO)]
    if asked.at_large or not asked.fields:
        words += ["check-in date", "check-out date", *hotel.room_types]
    return list(dict.fromkeys(words))
