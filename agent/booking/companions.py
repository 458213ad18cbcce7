"""The people a caller travels with: "me and my wife", "my husband, our two kids and I"."""

from __future__ import annotations

from agent.booking.people import Count, people_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_RELATIVES = word_set(
    "wife husband partner spouse girlfriend boyfriend fiance fiancee mother father mum mom dad "
    "sister brother son daughter friend colleague baby toddler child kid grandmother grandfather "
    "aunt uncle boss assistant cousin nephew niece"
)
_COUPLES = frozenset({"parents", "grandparents"})
_SPEAKER = frozenset({"me", "myself", "i"})
_JOINING = frozenset({"and", ",", "plus", "with", "also", "then"})
_POSSESSIVE = frozenset({"my", "our", "the"})


def companions_at(utterance: Utterance, index: int, *, asked: bool) -> Count | None:
    """The caller and the people named with them, from this token on.

    Someone who names only others ("my wife and two kids") comes along, unless it is for them
    ("for my parents"). Where no number was asked for, people are only counted with the caller
    among them: "my wife will call you back" is no guest.

    Args:
        utterance: the turn.
        index: where to look.
        asked: whether a number of guests was asked for.
    """
    if utterance.word(index) not in _SPEAKER | _POSSESSIVE - {"the"}:
        return None
    number, last, position = 0, index, index
    speaker = False
    while position < len(utterance.words):
        word = utterance.word(position)
        if word in _JOINING:
            position += 1
        elif word in _SPEAKER:
            if word == "i" and not number:
                return None
            speaker, last, position = True, position, position + 1
        else:
            others = _others_at(utterance, position)
            if others is None:
                break
            number, last, position = number + others.number, others.last, others.last + 1
    if not number:
        return None
    before = utterance.word(index - 1)
    if not speaker and before not in ("with", "bringing"):
        if not asked:
            return None
        speaker = before != "for"
        return Count(index, last, number + speaker)
    return Count(index, last, number + 1)


def _others_at(utterance: Utterance, index: int) -> Count | None:
    """ "My wife", "our two kids", "a friend"."""
    owned = utterance.word(index) in _POSSESSIVE
    if owned or utterance.word(index) == "a":
        if utterance.word(index + 1) in _RELATIVES:
            return Count(index, index + 1, 1)
        if owned and utterance.word(index + 1) in _COUPLES:
            return Count(index, index + 1, 2)
    return people_at(utterance, index + 1 if owned else index)
