"""Hearing: from a turn's transcript, and what was asked, to what it says of the booking.

Everything here is a pure function of its arguments. A value is taken only from the caller's words,
and something heard that cannot be is returned as a problem to ask about, never mended by a guess.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from agent.booking.answers import hear_answer
from agent.booking.dates import hear_dates
from agent.booking.guests import hear_guests
from agent.booking.heard import Answer, Asked, Found, Hearing, Intent, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.intents import hear_intent, tokens_beside_the_booking
from agent.booking.names import find_spelling, hear_name
from agent.booking.references import hear_reference
from agent.booking.request import BookingRequest, Field
from agent.booking.rooms import hear_room_type
from agent.booking.tokens import Utterance

__all__ = ["Answer", "Asked", "Hearing", "Intent", "Problem", "ProblemKind", "hear"]


def hear(
    text: str,
    *,
    request: BookingRequest,
    asked: frozenset[Field] | Asked,
    today: date,
    hotel: Hotel,
    turn: int,
) -> Hearing:
    """What one turn of the caller says of the booking.

    Args:
        text: the recogniser's final text of the turn.
        request: what is known so far.
        asked: what the agent's last turn was about. A set of fields that holds all the required
            ones stands for a read-back.
        today: the hotel's date.
        hotel: its room types, limits and formats.
        turn: the turn's number, for the evidence.
    """
    utterance = Utterance.read(text)
    asked = Asked.of(asked)
    reference = hear_reference(utterance, request=request, asked=asked, hotel=hotel, turn=turn)
    used = reference.used | tokens_beside_the_booking(utterance)
    dates = hear_dates(
        utterance,
        request=request,
        asked=asked,
        today=today,
        hotel=hotel,
        turn=turn,
        # The November of "N as in November" is no date.
        taken=used | _tokens_of_spelling(utterance, asked, used),
    )
    used |= dates.used
    found: list[Found] = [dates]
    for hear_part in (hear_room_type, hear_guests, hear_name):
        part = hear_part(
            utterance, request=request, asked=asked, hotel=hotel, turn=turn, taken=used
        )
        used |= part.used
        found.append(part)
    found.append(reference)
    changes = tuple(change for part in found for change in part.changes)
    problems = tuple(dict.fromkeys(problem for part in found for problem in part.problems))
    changed = bool(changes or problems)
    answer, intent = (
        hear_answer(utterance, changed=changed),
        hear_intent(utterance, changed=changed),
    )
    if asked.at_large and answer is Answer.YES and intent is Intent.GOODBYE:
        intent = Intent.NONE  # "yes, thank you, goodbye": the yes comes first
    return Hearing(
        changes=tuple(replace(change, old=request.get(change.field)) for change in changes),
        answer=answer,
        intent=intent,
        problems=problems,
    )


def _tokens_of_spelling(
    utterance: Utterance, asked: Asked, taken: frozenset[int]
) -> frozenset[int]:
    return frozenset(
        index
        for one in find_spelling(utterance, asked, taken)
        for index in range(one.first, one.last + 1)
    )
