"""Check-in and check-out: which date of a turn is which, and what changes by it."""

from __future__ import annotations

from datetime import date

from agent.booking.date_mentions import find_mentions
from agent.booking.date_roles import with_roles
from agent.booking.heard import Asked, Found
from agent.booking.hotel import Hotel
from agent.booking.mention import Mention
from agent.booking.request import BookingRequest, Field
from agent.booking.stay import Stay
from agent.booking.stay_lengths import StayLength, find_shift, find_stay_length, misheard_tonight
from agent.booking.tokens import Utterance

_NIGHTS_OF = ("night of", "nights of", "knight of", "knights of")


def hear_dates(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    today: date,
    hotel: Hotel,
    turn: int,
    taken: frozenset[int] = frozenset(),
) -> Found:
    """What a turn says of the stay's dates and length.

    Args:
        utterance: the turn.
        request: what is known so far.
        asked: what the agent's last turn was about.
        today: the hotel's date; the earliest check-in.
        hotel: its limits, and how it reads dates in numbers.
        turn: the turn's number, for the evidence.
        taken: tokens that belong to something else.
    """
    mentions = find_mentions(
        utterance,
        today=today,
        order=hotel.date_order,
        taken=taken,
        bare_numbers=asked.about(Field.CHECK_IN, Field.CHECK_OUT),
        bare_correction_over=hotel.max_guests if request.check_in is not None else None,
    )
    # "Three nights, no, four": a number alone is a day only if it corrects nothing.
    certain = _tokens(*(mention for mention in mentions if not mention.bare))
    length = find_stay_length(utterance, taken | certain)
    if length is None and request.check_in is not None and asked.about(Field.CHECK_OUT):
        length = misheard_tonight(utterance)
    in_length = _tokens(length) if length else frozenset()
    mentions = tuple(mention for mention in mentions if not _tokens(mention) & in_length)
    stay = Stay(utterance, request, asked, today, hotel, turn)
    nights_of = _nights_of(utterance, mentions)
    if nights_of is not None:
        stay.take_nights_of(*nights_of)
    else:
        said, old = with_roles(utterance, mentions, request)
        stay.take(said, old, length)
        shift = find_shift(utterance, taken | _tokens(*mentions))
        if shift is not None and not said:
            stay.take_shift(shift)
    stay.drop_impossible_check_out()
    return Found(tuple(stay.changes), tuple(stay.problems), _tokens(*mentions) | in_length)


def _tokens(*spans: Mention | StayLength) -> frozenset[int]:
    return frozenset(index for span in spans for index in range(span.first, span.last + 1))


def _nights_of(
    utterance: Utterance, mentions: tuple[Mention, ...]
) -> tuple[Mention, Mention] | None:
    """The first and last night of "the nights of the fourth and fifth"."""
    for start, end in utterance.find(_NIGHTS_OF):
        if utterance.words[start - 1 : start] in (("a",), ("one",)):
            continue
        nights = [mention for mention in mentions if mention.first > end]
        if nights and nights[0].first <= end + 2:
            return nights[0], nights[-1]
    return None
