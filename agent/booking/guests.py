"""How many guests: "two adults and a toddler", "just me", "the four of us"."""

from __future__ import annotations

from dataclasses import replace

from agent.booking.corrections import negated, replacing
from agent.booking.guest_counts import find_counts
from agent.booking.heard import Asked, Found, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.numbers import cardinal_at
from agent.booking.people import Count
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.tokens import Utterance


def hear_guests(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    hotel: Hotel,
    turn: int,
    taken: frozenset[int] = frozenset(),
) -> Found:
    """What a turn says of the number of guests.

    Args as for `agent.booking.dates.hear_dates`.
    """
    found = _final_count(utterance, taken, asked=asked.about(Field.GUESTS))
    if found is not None and request.guests is not None and _is_added(utterance, found):
        found = replace(found, more=True)
    problems: list[Problem] = []
    rooms = _rooms(utterance, taken)
    if rooms is not None:
        problems.append(
            Problem(
                ProblemKind.SEVERAL_ROOMS,
                Field.ROOM_TYPE,
                utterance.said(rooms.first, rooms.last),
                value=rooms.number,
                limit=1,
            )
        )
    if found is None or (found.more and request.guests is None):
        return Found(problems=tuple(problems))
    number = found.number + (request.guests or 0 if found.more else 0)
    words = utterance.said(found.first, found.last)
    used = frozenset(range(found.first, found.last + 1))
    if number > hotel.max_guests:
        problems.append(
            Problem(
                ProblemKind.TOO_MANY_GUESTS,
                Field.GUESTS,
                words,
                value=number,
                limit=hotel.max_guests,
            )
        )
        return Found(problems=tuple(problems), used=used)
    if number < 1 or number == request.guests:
        return Found(problems=tuple(problems), used=used)
    return Found((Change(Field.GUESTS, number, words, turn),), tuple(problems), used)


def _final_count(utterance: Utterance, taken: frozenset[int], *, asked: bool) -> Count | None:
    """The number that the turn ends up with: parts add up, a correction starts over."""
    total: Count | None = None
    for part in find_counts(utterance, taken, asked=asked):
        if negated(utterance, part.first):
            continue
        if total is not None and _adds(utterance, total, part):
            total = Count(total.first, part.last, total.number + part.number, total.more)
        elif total is not None and _is_alternative(utterance, total, part):
            return None
        elif total is None or part.more or replacing(utterance, total.last + 1, part.first):
            total = part
        elif "us" in utterance.words[part.first : part.last + 1]:
            total = part  # "me and my wife, so the two of us"
    return total


def _is_alternative(utterance: Utterance, first: Count, second: Count) -> bool:
    """ "Two or three", "two, maybe three": asked again rather than guessed."""
    between = set(utterance.words[first.last + 1 : second.first])
    return bool(between & {"or", "maybe", "perhaps", "possibly"}) and "rather" not in between


def _is_added(utterance: Utterance, count: Count) -> bool:
    """ "Plus a baby", said of guests who are known already."""
    return utterance.word(count.first - 1) == "plus" or (
        utterance.word(count.first - 1) == "and" and count.first == 1
    )


def _adds(utterance: Utterance, total: Count, part: Count) -> bool:
    between = utterance.words[total.last + 1 : part.first]
    return 0 < len(between) <= 4 and all(
        word in (",", "and", "in", "an", "plus", "with", "also", "&", "my", "our", "the")
        for word in between
    )


def _rooms(utterance: Utterance, taken: frozenset[int]) -> Count | None:
    """ "two rooms", "three doubles": more than one room."""
    words = utterance.words
    for index in range(len(words)):
        found = cardinal_at(words, index)
        if found is None or index in taken or not 1 < found[0] < 20:
            continue
        last = index + found[1]
        while last < len(words) and words[last] in ("separate", "different", "single", "double"):
            if words[last + 1 : last + 2] in (("beds",), ("bed",)):
                break
            last += 1
        if last < len(words) and words[last] in ("rooms", "doubles", "singles", "twins", "suites"):
            return Count(index, last, found[0])
    return None
