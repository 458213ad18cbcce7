"""Where a turn speaks of a number of people: "two adults", "my wife and I", "a party of five"."""

from __future__ import annotations

from dataclasses import dataclass

from agent.booking.corrections import replacing
from agent.booking.numbers import cardinal_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_PEOPLE = word_set(
    "guest guests guess people person persons adult adults adulthood kid kids child children "
    "toddler toddlers infant infants baby babies teenager teenagers teen teens traveller "
    "travellers traveler travelers visitor visitors pax grownup grownups senior seniors man men "
    "woman women boy boys girl girls friend friends colleague colleagues son sons daughter "
    "daughters folks ladies gentlemen parents grandparents"
)
_RELATIVES = word_set(
    "wife husband partner spouse girlfriend boyfriend fiance fiancee mother father mum mom dad "
    "sister brother son daughter friend colleague baby toddler child kid grandmother grandfather "
    "aunt uncle boss assistant cousin nephew niece"
)
# Numbers as Whisper mishears them before "guests" or where a number of guests was asked for.
_MISHEARD = {"to": 2, "too": 2, "for": 4, "fore": 4, "won": 1, "tree": 3, "ate": 8, "sex": 6}
_ALONE = (
    "just me",
    "only me",
    "just myself",
    "only myself",
    "by myself",
    "on my own",
    "just for me",
    "just for myself",
    "just the one",
    "just one",
    "only one",
    "travelling alone",
    "traveling alone",
    "i'm alone",
    "i am alone",
    "coming alone",
    "alone",
    "solo",
    "me only",
    "me alone",
)
_PAIR = ("both of us", "just the two", "a couple", "the couple")
_ADJECTIVES = word_set(
    "more extra additional small young little other grown older elderly of my our"
)
_ROOM_WORDS = word_set("room rooms bed beds single double twin suite suites night nights")
_GROUP = ("party of", "group of", "family of", "total of", "us all", "be", "are", "makes", "we're")
_AFTER_BARE = frozenset({"", ".", ",", "!", "?", "please", "and", "in", "with", "but", "actually"})


@dataclass(frozen=True)
class Count:
    """A number of people that part of a turn speaks of; `more` adds to those known."""

    first: int
    last: int
    number: int
    more: bool = False


def find_counts(utterance: Utterance, taken: frozenset[int], *, asked: bool) -> list[Count]:
    parts: list[Count] = []
    index = 0
    while index < len(utterance.tokens):
        part = None if index in taken else _part_at(utterance, index)
        if part is None or taken & set(range(part.first, part.last + 1)):
            index += 1
        else:
            parts.append(part)
            index = part.last + 1
    if not parts or (asked and _corrects_with_bare_number(utterance, parts[-1])):
        parts += _bare_numbers(utterance, taken, parts, asked=asked)
    return sorted(parts, key=lambda part: part.first)


def _part_at(utterance: Utterance, index: int) -> Count | None:
    return (
        _alone(utterance, index)
        or _of_us(utterance, index)
        or _counted_people(utterance, index)
        or _relatives(utterance, index)
        or _group(utterance, index)
        or _for_number(utterance, index)
    )


def _alone(utterance: Utterance, index: int) -> Count | None:
    words = utterance.words
    for phrases, number in ((_ALONE, 1), (_PAIR, 2)):
        for first, last in utterance.find(phrases):
            after = words[last + 1] if last + 1 < len(words) else ""
            if first != index or after in _ROOM_WORDS or after in _PEOPLE:
                continue
            if after in ("and", "plus", "with", ",") and "me" in words[first : last + 1]:
                # "just me and my wife": the others are counted on from here.
                return _relatives(utterance, last) or Count(first, last, number)
            if after == "of" or (after == "more" and number == 1):
                continue
            return Count(first, last, number)
    return None


def _of_us(utterance: Utterance, index: int) -> Count | None:
    """ "the four of us", "four of us", "two of them"."""
    start = index + 1 if utterance.words[index] == "the" else index
    found = _number_at(utterance, start)
    if found is None:
        return None
    after = start + found[1]
    if utterance.words[after : after + 1] == ("of",) and utterance.words[after + 1 : after + 2] in (
        ("us",),
        ("them",),
    ):
        return Count(index, after + 1, found[0])
    return None


def _counted_people(utterance: Utterance, index: int) -> Count | None:
    """ "two adults", "a toddler", "one more guest", "three small children"."""
    words = utterance.words
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
        found = _number_at(utterance, index)
        if found is None:
            return None
        number, taken = found
    after_number = start + taken
    while words[after_number : after_number + 1] and words[after_number] in _ADJECTIVES:
        more = more or words[after_number] in ("more", "extra", "additional")
        after_number += 1
    if after_number >= len(words) or words[after_number] not in _PEOPLE:
        return None
    if words[index] in ("a", "an") and (
        words[after_number] in ("guest", "man", "woman")
        or words[index - 1 : index] in (("to",), ("with",))
    ):
        return None  # "can I speak to a person"
    # "a baby cot", "a family room", "two person room"
    if words[after_number + 1 : after_number + 2] in (("cot",), ("bed",), ("seat",), ("chair",)):
        return None
    return Count(index, after_number, number, more)


def _relatives(utterance: Utterance, index: int) -> Count | None:
    """ "me and my wife", "my wife and I", "myself, my husband and our two kids"."""
    words = utterance.words
    if words[index] not in ("me", "myself", "i", "my", "us"):
        return None
    number, last, position, companions = 0, index, index, 0
    speaker = False
    while position < len(words):
        word = words[position]
        if word in ("and", ",", "plus", "with", "also", "then"):
            position += 1
            continue
        if word in ("me", "myself", "i"):
            if word == "i" and not companions:
                return None
            speaker, last, position = True, position, position + 1
            continue
        if word in ("my", "our", "a", "the") and words[position + 1 : position + 2]:
            if words[position + 1] in _RELATIVES:
                number, companions = number + 1, companions + 1
                last, position = position + 1, position + 2
                continue
            position_of_count = position + 1 if word != "a" else position
        else:
            position_of_count = position
        counted = _counted_people(utterance, position_of_count)
        if counted is None:
            break
        number, companions = number + counted.number, companions + 1
        last, position = counted.last, counted.last + 1
    if not companions:
        return None
    if not speaker and not _speaker_is_a_guest(utterance, index):
        return None
    return Count(index, last, number + 1)


def _speaker_is_a_guest(utterance: Utterance, index: int) -> bool:
    """Whether the caller who names companions comes along: not in "for my wife"."""
    return utterance.words[max(0, index - 1) : index] in (("with",), ("bringing",))


def _group(utterance: Utterance, index: int) -> Count | None:
    """ "a party of five", "we are three", "there will be four"."""
    words = utterance.words
    found = _number_at(utterance, index)
    if found is None:
        return None
    before = " ".join(words[max(0, index - 2) : index])
    after = words[index + found[1]] if index + found[1] < len(words) else ""
    if any(before.endswith(group) for group in _GROUP[:4]):
        return Count(index, index + found[1] - 1, found[0])
    if before in ("we are", "we're", "will be", "there are", "we'd be") or before.endswith(
        ("we're", "we'll be", "there's")
    ):
        return Count(index, index + found[1] - 1, found[0]) if after in _AFTER_BARE else None
    return None


def _for_number(utterance: Utterance, index: int) -> Count | None:
    """ "a double for two": a number after "for" with nothing else that it counts."""
    words = utterance.words
    if words[index] != "for":
        return None
    start = index + 1
    while words[start : start + 1] and words[start] in ("just", "only", "the", "about", "exactly"):
        start += 1
    found = cardinal_at(words, start)
    if found is None and words[start : start + 1] and words[start] in ("to", "too"):
        found = 2, 1
    if found is None:
        return None
    after = words[start + found[1]] if start + found[1] < len(words) else ""
    bare = after in _AFTER_BARE | {"from", "on", "for", "next", "this", "tomorrow", "arriving"}
    # "for the sixteenth" has an article, and "K7 for 29" is no number of guests.
    if not bare or found[0] > 12 or words[start - 1] == "the":
        return None
    return Count(start, start + found[1] - 1, found[0])


def _bare_numbers(
    utterance: Utterance, taken: frozenset[int], parts: list[Count], *, asked: bool
) -> list[Count]:
    """Numbers that count guests only because a number of guests was asked for."""
    if not asked:
        return []
    found: list[Count] = []
    words = utterance.words
    whole = [word for word in words if word[0].isalnum()]
    index = 0
    while index < len(words):
        number = cardinal_at(words, index)
        # A homophone is a number only where it is all there is.
        if number is None and words[index] in _MISHEARD and len(whole) <= 2:
            number = _MISHEARD[words[index]], 1
        if number is None or index in taken:
            index += 1
            continue
        last = index + number[1] - 1
        after = words[last + 1] if last + 1 < len(words) else ""
        if after in _AFTER_BARE | {"for", "on", "from", "of"} and number[0] < 100:
            found.append(Count(index, last, number[0]))
        index = last + 1
    return [part for part in found if not parts or part.first > parts[-1].last]


def _corrects_with_bare_number(utterance: Utterance, last_part: Count) -> bool:
    return replacing(utterance, last_part.last + 1, len(utterance.tokens))


def _number_at(utterance: Utterance, index: int) -> tuple[int, int] | None:
    """A cardinal, or what Whisper mishears for one if "guests" or "of us" follows it."""
    words = utterance.words
    found = cardinal_at(words, index)
    if found is not None or index >= len(words) or words[index] not in _MISHEARD:
        return found
    after = words[index + 1 : index + 3]
    if after == ("of", "us") or (after[:1] and after[0] in ("guests", "adults", "people")):
        # "for people like us", "for guests": a number only if nothing else has been said to count.
        before = words[index - 1] if index else ""
        if words[index] == "for" and (after[0] != "guests" or before in ("room", "rooms")):
            return None
        return _MISHEARD[words[index]], 1
    return None
