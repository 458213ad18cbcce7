"""The words that the recogniser should expect next."""

from __future__ import annotations

from agent.booking.alphabet import NATO
from agent.booking.heard import Asked
from agent.booking.hotel import Hotel
from agent.booking.request import Field


def keywords(asked: frozenset[Field] | Asked, hotel: Hotel) -> list[str]:
    """Words and phrases to bias a recogniser with, for the answer to what was asked.

    They are few, and hold no value that an answer could have. Over a telephone line, Whisper base
    told of the twelve months wrote loops of month names for 3 of 105 utterances, and none when told
    of the words around a date; a date or a reference given as an example is what it writes when it
    is in doubt. The letters' names do no harm, since nothing else is said for a reference.

    Args:
        asked: what the agent's last turn was about.
        hotel: whose name and room types are to be expected.

    Returns:
        The hotel's name, then the words for what was asked, without repeats.
    """
    asked = Asked.of(asked)
    words = [hotel.name]
    if asked.about(Field.CHECK_IN, Field.CHECK_OUT) or asked.at_large:
        words += ["check-in", "check-out"]
    if asked.about(Field.GUESTS):
        words += ["guests"]
    if asked.about(Field.ROOM_TYPE):
        words += [f"{room_type} room" for room_type in hotel.room_types]
    if asked.about(Field.REFERENCE):
        words += ["reference", *(word.capitalize() for word in NATO)]
    return list(dict.fromkeys(words))
