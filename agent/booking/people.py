"""People as they are counted: "two adults", "a toddler", "one more guest"."""

from __future__ import annotations

from dataclasses import dataclass

from agent.booking.numbers import cardinal_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

PEOPLE = word_set(
    "guest guests guess people person persons adult adults adulthood kid kids child children "
    "toddler toddlers infant infants baby babies teenager teenagers teen teens traveller "
    "travellers traveler travelers visitor visitors pax grownup grownups senior seniors man men "
    "woman women boy boys girl girls friend friends colleague colleagues son sons daughter "
    "daughters folks ladies gentlemen parents grandparents"
)
# Numbers as Whisper mishears them before "guests" or where a number of guests was asked for.
MISHEARD = {
    "to": 2,
    "too": 2,
    "till": 2,
    "tow": 2,
    "toe": 2,
    "for": 4,
    "fore": 4,
    "won": 1,
    "tree": 3,
    "ate": 8,
    "sex": 6,
}
_ADJECTIVES = word_set(
    "more extra additional small young little other grown older elderly of my our"
)


@dataclass(frozen=True)
class Count:
    """A number of people that part of a turn speaks of; `more` adds to those known."""

    first: int
    last: int
    number: int
    more: bool = False


def people_at(utterance: Utterance, index: int) -> Count | None:
    """ "two adults", "a toddler", "one more guest", "three small children"."""
    words = utterance.words
    if index >= len(words):
        return None
    more = False
    start = index
    if words[index] in ("another", "additional", "extra"):
        more, number, taken = True, 1, 1
        if (after := cardinal_at(words, index + 1)) is not None:
            number, taken = after[0], 1 + after[1]
    elif words[index] in ("a", "an"):
        number, taken = 1, 1
        if utterance.match(index + 1, ("couple", "of")):
            number, taken = 2, 3
    else:
        found = number_at(utterance, index)
        if found is None:
            return None
        number, taken = found
    after_number = start + taken
    while words[after_number : after_number + 1] and words[after_number] in _ADJECTIVES:
        more = more or words[after_number] in ("more", "extra", "additional")
        after_number += 1
    if after_number >= len(words) or words[after_number] not in PEOPLE:
        return None
    if words[index] in ("a", "an") and (
        words[after_number] in ("guest", "man", "woman")
        or words[index - 1 : index] in (("to",), ("with",), ("for",))
    ):
        return None  # "can I speak to a person"
    # "a baby cot", "a family room", "two person room"
    if words[after_number + 1 : after_number + 2] in (("cot",), ("bed",), ("seat",), ("chair",)):
        return None
    return Count(index, after_number, number, more)


def number_at(utterance: Utterance, index: int) -> tuple[int, int] | None:
    """A cardinal, or what Whisper mishears for one if "guests" or "of us" follows it."""
    words = utterance.words
    found = cardinal_at(words, index)
    if found is not None or index >= len(words) or words[index] not in MISHEARD:
        return found
    after = words[index + 1 : index + 3]
    if after == ("of", "us") or (after[:1] and after[0] in ("guest", "guests", "adults", "people")):
        # "for people like us", "for guests": a number only if nothing else has been said to count.
        in_room = words[max(0, index - 1) : index] in (("room",), ("rooms",))
        if words[index] == "for" and (after[0] not in ("guests", "of") or in_room):
            return None
        return MISHEARD[words[index]], 1
    return None
