"""How long a stay is, where the caller says that: "three nights", "a week", "one more night"."""

from __future__ import annotations

from dataclasses import dataclass

from agent.booking.corrections import negated, replacing
from agent.booking.numbers import cardinal_at
from agent.booking.tokens import Utterance

# A caller who stays "three days" is taken to mean nights; the read-back has the check-out date.
_UNIT_NIGHTS = {
    "night": 1,
    "nights": 1,
    "nite": 1,
    "nites": 1,
    "knight": 1,
    "knights": 1,
    "day": 1,
    "days": 1,
    "week": 7,
    "weeks": 7,
    "fortnight": 14,
}
_MISHEARD = {"to": 2, "too": 2, "for": 4, "won": 1, "tree": 3, "ate": 8}
_NIGHTS = frozenset({"night", "nights", "nite", "nites", "knight", "knights"})


@dataclass(frozen=True)
class StayLength:
    """A number of nights; `more` where it is to be added to those already asked for."""

    first: int
    last: int
    nights: int
    more: bool = False


def find_stay_length(utterance: Utterance, taken: frozenset[int]) -> StayLength | None:
    """The length of stay that the turn ends up with, or None.

    Args:
        utterance: the turn.
        taken: tokens that belong to a date or something else.
    """
    found: StayLength | None = None
    index = 0
    while index < len(utterance.tokens):
        length = None if index in taken else _length_at(utterance, index)
        if length is None and found is not None:
            length = _corrected(utterance, index, found, taken)
        if length is None or taken & set(range(length.first, length.last + 1)):
            index += 1
            continue
        if not negated(utterance, length.first):
            found = length
        index = length.last + 1
    return found


def misheard_tonight(utterance: Utterance) -> StayLength | None:
    """ "Two nights", written "tonight" in answer to when a stay that has begun later will end."""
    if utterance.plain != "tonight":
        return None
    place = utterance.words.index("tonight")
    return StayLength(place, place, 2)


@dataclass(frozen=True)
class Shift:
    """A move of a known date by some days: "a day later"; negative for earlier."""

    first: int
    last: int
    days: int


def find_shift(utterance: Utterance, taken: frozenset[int]) -> Shift | None:
    """The move that a turn asks for, or None; which date it is for is not said here.

    Args as for `find_stay_length`.
    """
    words = utterance.words
    for index in range(len(words)):
        number, length, _ = _number(utterance, index)
        unit = index + length
        if number is None or index in taken or unit + 1 >= len(words):
            continue
        sign = {"later": 1, "earlier": -1}.get(words[unit + 1])
        if words[unit] in _UNIT_NIGHTS and sign is not None:
            return Shift(index, unit + 1, sign * number * _UNIT_NIGHTS[words[unit]])
    return None


def _length_at(utterance: Utterance, index: int) -> StayLength | None:
    words = utterance.words
    if words[index] == "fortnight":
        return StayLength(index, index, 14)
    if words[index] == "overnight":
        return StayLength(index, index, 1)
    number, taken, more = _number(utterance, index)
    if number is None:
        return None
    unit = index + taken
    while unit < len(words) and words[unit] in ("more", "extra", "additional", "full", "whole"):
        more = more or words[unit] in ("more", "extra", "additional")
        unit += 1
    if unit < len(words) and words[unit] in ("single", "other"):
        return None
    if unit >= len(words) or words[unit] not in _UNIT_NIGHTS:
        return None
    before = words[index - 1] if index else ""
    if words[index] in _MISHEARD and (words[unit] not in _NIGHTS or before == "from"):
        return None
    if words[index] == "a" and words[unit] in ("day", "days"):
        return None  # "a day": of the week, a room a day
    if before == "per" or (words[index] == "a" and _is_price(utterance, index)):
        return None
    after = words[unit + 1 : unit + 2]
    if after and after[0] in ("later", "earlier", "before", "after"):
        return None  # a shift of a date, see `find_shift`
    if after and after[0] == "longer":
        return StayLength(index, unit + 1, number * _UNIT_NIGHTS[words[unit]], more=True)
    if after and after[0] in ("less", "shorter", "fewer"):
        return StayLength(index, unit + 1, -number * _UNIT_NIGHTS[words[unit]], more=True)
    return StayLength(index, unit, number * _UNIT_NIGHTS[words[unit]], more)


def _number(utterance: Utterance, index: int) -> tuple[int | None, int, bool]:
    """The number that starts here, how many tokens it takes, and whether it adds."""
    words = utterance.words
    if words[index] in ("a", "an"):
        if utterance.match(index + 1, ("couple", "of")):
            return 2, 3, False
        if utterance.match(index + 1, ("couple",)):
            return 2, 2, False
        return 1, 1, False
    if words[index] == "another":
        found = cardinal_at(words, index + 1)
        return (found[0], 1 + found[1], True) if found else (1, 1, True)
    found = cardinal_at(words, index)
    if found is not None:
        return found[0], found[1], False
    if words[index] in _MISHEARD:
        return _MISHEARD[words[index]], 1, False
    return None, 0, False


def _is_price(utterance: Utterance, index: int) -> bool:
    """Whether "a night" here is a price's: "how much is it a night"."""
    return any(end < index for _, end in utterance.find(("how much", "cost", "price", "rate")))


def _corrected(
    utterance: Utterance, index: int, found: StayLength, taken: frozenset[int]
) -> StayLength | None:
    """The number alone in "three nights, no, four"."""
    number = cardinal_at(utterance.words, index)
    if number is None or index in taken or not replacing(utterance, found.last + 1, index):
        return None
    last = index + number[1] - 1
    following = utterance.words[last + 1 : last + 2]
    if following and following[0] not in (".", ",", "please", "!", "actually"):
        return None
    return StayLength(index, last, number[0])
