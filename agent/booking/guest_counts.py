"""Where a turn speaks of a number of people: "two adults", "my wife and I", "a party of five"."""

from __future__ import annotations

from agent.booking.companions import companions_at
from agent.booking.corrections import replacing
from agent.booking.numbers import cardinal_at
from agent.booking.people import MISHEARD, PEOPLE, Count, number_at, people_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

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
_PAIR = ("both", "both of us", "just the two", "a couple", "the couple")
_ROOM_WORDS = word_set("room rooms bed beds single double twin suite suites night nights")
_ADVERBS = frozenset({"actually", "just", "only", "about", "now"})
_GROUP = ("party of", "group of", "family of", "total of", "us all", "be", "are", "makes", "we're")
_AFTER_BARE = frozenset(
    {"", ".", ",", "!", "?", "please", "and", "in", "with", "but", "actually", "or", "maybe"}
)


def find_counts(utterance: Utterance, taken: frozenset[int], *, asked: bool) -> list[Count]:
    """Each number of people in a turn, in the order of speech.

    Args:
        utterance: the turn.
        taken: tokens that belong to something else.
        asked: whether a number of guests was asked for, so that it may stand alone.
    """
    parts: list[Count] = []
    index = 0
    while index < len(utterance.tokens):
        part = None if index in taken else _part_at(utterance, index, asked=asked)
        if part is None or taken & set(range(part.first, part.last + 1)):
            index += 1
        else:
            parts.append(part)
            index = part.last + 1
    if not parts or (asked and _corrects_with_bare_number(utterance, parts[-1])):
        parts += _bare_numbers(utterance, taken, parts, asked=asked)
    return sorted(parts, key=lambda part: part.first)


def _part_at(utterance: Utterance, index: int, *, asked: bool) -> Count | None:
    return (
        _alone(utterance, index, asked=asked)
        or _of_us(utterance, index)
        or people_at(utterance, index)
        or companions_at(utterance, index, asked=asked)
        or _group(utterance, index)
        or _for_number(utterance, index)
    )


def _alone(utterance: Utterance, index: int, *, asked: bool) -> Count | None:
    words = utterance.words
    for phrases, number in ((_ALONE, 1), (_PAIR, 2)):
        for first, last in utterance.find(phrases):
            after = words[last + 1] if last + 1 < len(words) else ""
            if first != index or after in _ROOM_WORDS or after in PEOPLE:
                continue
            if after in ("and", "plus", "with", ",") and "me" in words[first : last + 1]:
                # "just me and my wife": the others are counted on from here.
                return companions_at(utterance, last, asked=asked) or Count(first, last, number)
            if after == "of" or (after == "more" and number == 1):
                continue
            return Count(first, last, number)
    return None


def _of_us(utterance: Utterance, index: int) -> Count | None:
    """ "the four of us", "four of us", "two of them"."""
    start = index + 1 if utterance.words[index] == "the" else index
    found = number_at(utterance, start)
    if found is None:
        return None
    after = start + found[1]
    if utterance.words[after : after + 1] == ("of",) and utterance.words[after + 1 : after + 2] in (
        ("us",),
        ("them",),
    ):
        return Count(index, after + 1, found[0])
    return None


def _group(utterance: Utterance, index: int) -> Count | None:
    """ "a party of five", "we are three", "there will be four"."""
    words = utterance.words
    found = number_at(utterance, index)
    if found is None:
        return None
    said = [word for word in words[max(0, index - 3) : index] if word not in _ADVERBS]
    before = " ".join(said[-2:])
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
        # A homophone is a number only where it is all there is, or all of a correction.
        alone = len(whole) <= 2 or (bool(parts) and index >= len(words) - 2)
        if number is None and words[index] in MISHEARD and alone:
            number = MISHEARD[words[index]], 1
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
