"""Where a turn says a name, and which words of it are the name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from agent.booking.corrections import negated
from agent.booking.not_names import NOT_NAMES
from agent.booking.spelled_names import resemble
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

# After these comes a name, however it is written.
NAME_CUES = (
    "my name is",
    "my name's",
    "my full name is",
    "the name is",
    "the name's",
    "name is",
    "name's",
    "full name is",
    "guest name is",
    "guest's name is",
    "under the name",
    "under the name of",
    "in the name of",
    "on the name of",
    "by the name of",
    "i'm called",
)
SURNAME_CUES = (
    "last name is",
    "last name's",
    "last name",
    "surname is",
    "surname's",
    "surname",
    "family name is",
    "family name",
)
FIRST_NAME_CUES = (
    "first name is",
    "first name's",
    "first name",
    "given name is",
    "given name",
)
# After these comes a name only if it is written like one.
_WEAK_CUES = (
    "this is",
    "it's under",
    "is under",
    "booked under",
    "booking under",
    "put it under",
    "under",
    "on behalf of",
    "the guest is",
    "name to",
    "booking for",
    "reservation for",
    "request for",
    "room for",
    "call me",
    "my name",
    "name",
)
# After these comes a name if it is two words written like one: "I'm Tom Baker".
_WEAKEST_CUES = ("i'm", "i am", "it's", "it is", "that's", "here is", "for")
_CORRECTING = (
    "i'm",
    "i am",
    "it's",
    "it is",
    "that's",
    "that is",
    "i said",
    "i meant",
    "i mean",
    "should be",
    "make it",
    "make that",
    "no",
    "sorry",
    "actually",
)
_TITLES = word_set(
    "mr mrs ms miss mister missus doctor dr prof professor sir madam madame lady lord reverend "
    "captain"
)
_SURE_TITLES = word_set("mr mrs ms mister missus doctor dr prof professor reverend")
_PARTICLES = word_set("van von der den de la del della di da dos das du le el al bin ibn ter zu")
# First names that are other words too; they are names where a surname follows.
_WORDS_AS_NAMES = frozenset({"april", "may", "june", "august", "will", "hope"})
_SURNAMES_TOO = frozenset({"king", "young", "best", "day", "good", "small", "little", "sweet"})
_BEFORE_WILL = word_set("i we you he she they it that this there which who")
_SKIPPED = word_set(". , : is it's um uh er erm that's")
# So begins a sentence that is no answer to the question for a name.
_SENTENCE_STARTS = ("i ", "we ", "you ", "he ", "she ", "they ", "there ", "what ", "why ", "how ")
_LONGEST = 5  # words of a name, particles included
_MOST_OTHER_WORDS = 4  # beside the name, in an answer that gives it without a cue


class Part(StrEnum):
    """Which part of a name was announced."""

    WHOLE = "whole"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True)
class HeardName:
    """A name as it stands in the turn, without titles."""

    first: int
    last: int
    words: tuple[str, ...]
    part: Part = Part.WHOLE


def find_names(
    utterance: Utterance, taken: frozenset[int], *, known: str | None, expected: bool
) -> list[HeardName]:
    """The names that a turn says, in the order of speech; names that it denies among them.

    Args:
        utterance: the turn.
        taken: tokens that belong to something else.
        known: the guest's name so far; one that is like it needs fewer words around it.
        expected: whether the name was asked for, so that it may stand alone.
    """
    found = [*_announced(utterance, taken), *_titled(utterance, taken)]
    if known is not None:
        found += _denied(utterance, taken, known)
    if not found and expected:
        found += _whole_answer(utterance, taken)
    if not found and known is not None:
        found += _like_known(utterance, taken, known)
    places: dict[int, HeardName] = {}
    for one in found:
        places.setdefault(one.first, one)
    return [places[place] for place in sorted(places)]


def _announced(utterance: Utterance, taken: frozenset[int]) -> Iterator[HeardName]:
    for cues, part in (
        (NAME_CUES, Part.WHOLE),
        (SURNAME_CUES, Part.LAST),
        (FIRST_NAME_CUES, Part.FIRST),
        (_WEAK_CUES, Part.WHOLE),
        (_WEAKEST_CUES, Part.WHOLE),
    ):
        for first, last in utterance.find(cues):
            if utterance.words[max(0, first - 1) : first] in (("last",), ("first",), ("hotel",)):
                continue
            sure = cues not in (_WEAK_CUES, _WEAKEST_CUES)
            one = _name_at(utterance, last + 1, taken, part, announced=sure)
            if one is None or (cues is _WEAK_CUES and not _looks_like_one(utterance, one)):
                continue
            if cues is _WEAKEST_CUES and not _is_written_as_two(utterance, one):
                continue
            yield one


def _titled(utterance: Utterance, taken: frozenset[int]) -> Iterator[HeardName]:
    """ "For Mr Smith", "Doctor Anna Schmidt"."""
    for index, word in enumerate(utterance.words):
        if word in _SURE_TITLES:
            one = _name_at(utterance, index, taken)
            if one is not None and one.first > index:
                yield one


def _denied(utterance: Utterance, taken: frozenset[int], known: str) -> list[HeardName]:
    """Both names of "I said Raman, not Roman", the denied one being like the known name."""
    names = [
        one
        for index in range(len(utterance.words))
        if (one := _name_at(utterance, index, taken)) is not None and one.first == index
    ]
    denied = [one for one in names if negated(utterance, one.first) and _is_like(one, known)]
    if not denied:
        return []
    affirmed = [one for one in names if not negated(utterance, one.first)]
    return [denied[0], *affirmed[:1]]


def _whole_answer(utterance: Utterance, taken: frozenset[int]) -> list[HeardName]:
    """The name in a bare answer to the question for it."""
    names: list[HeardName] = []
    index = 0
    while index < len(utterance.words):
        one = _name_at(utterance, index, taken)
        if one is not None and one.first == index:
            names.append(one)
            index = one.last
        index += 1
    if not names:
        return []
    # "Wilson, Emma Wilson": the fuller one, if it is the same name.
    best = max(names, key=lambda one: len(one.words))
    if names[0].words[-1] not in best.words:
        best = names[0]
    others = [
        place
        for place, token in enumerate(utterance.tokens)
        if token.is_word and place not in taken and not best.first <= place <= best.last
    ]
    if "?" in utterance.words and others:
        return []
    if utterance.plain.startswith(_SENTENCE_STARTS) and not _is_written_as_two(utterance, best):
        return []
    fits = _looks_like_one(utterance, best) and len(others) <= _MOST_OTHER_WORDS
    return [best] if fits else []


def _like_known(utterance: Utterance, taken: frozenset[int], known: str) -> list[HeardName]:
    """ "No, it's Raman": a name like the known one, after words that correct or say it."""
    for start in sorted(last + 1 for _, last in utterance.find(_CORRECTING)):
        index = start
        while index < len(utterance.words) and utterance.words[index] in (",", ".", "no", "it's"):
            index += 1
        one = _name_at(utterance, index, taken)
        if one is not None and _is_like(one, known):
            return [one]
    return []


def _is_like(one: HeardName, known: str) -> bool:
    return any(resemble(word, part) for word in one.words for part in known.split())


def _name_at(
    utterance: Utterance,
    index: int,
    taken: frozenset[int],
    part: Part = Part.WHOLE,
    *,
    announced: bool = False,
) -> HeardName | None:
    """The name that starts at this token, after a title if there is one, or None.

    One that was announced ("my name is") may be a month.
    """
    words = utterance.words
    while index < len(words) and (words[index] in _TITLES or words[index] in _SKIPPED):
        index += 1
    parts: list[str] = []
    first = last = index
    while index < len(words) and len(parts) < _LONGEST:
        if parts and _joins(utterance, index):
            parts.append(words[index])
        elif (
            index in taken
            or not (
                _may_be_name(utterance, index, announced=announced and not parts)
                or (parts and _is_surname_too(utterance, index))
            )
            or (parts and _breaks_casing(utterance, first, index))
        ):
            break
        else:
            parts.append(_cased(utterance.tokens[index].raw))
            last = index
        index += 1
    names = tuple(" ".join(parts).replace(" - ", "-").replace(" .", "").rstrip(" -").split())
    if not names or names[-1].lower() in _PARTICLES:
        return None
    if len(names) == 1 and names[0].lower() in _WORDS_AS_NAMES and not announced:
        return None
    return HeardName(first, last, names, part)


def _joins(utterance: Utterance, index: int) -> bool:
    """Whether a hyphen, or the full stop of an initial, joins two parts of a name."""
    following = utterance.tokens[index + 1 : index + 2]
    if not following or not following[0].raw[0].isalpha():
        return False
    if utterance.words[index] == "-":
        return utterance.adjoins(index) and utterance.adjoins(index + 1)
    return utterance.words[index] == "." and len(utterance.words[index - 1]) == 1


def _is_surname_too(utterance: Utterance, index: int) -> bool:
    """The King of "Martin Luther King", if it is written so."""
    return utterance.words[index] in _SURNAMES_TOO and _is_capital(utterance, index)


def _may_be_name(utterance: Utterance, index: int, *, announced: bool) -> bool:
    word = utterance.words[index]
    following = (utterance.words[index + 1 : index + 2] or ("",))[0]
    if word in _PARTICLES:
        return following[:1].isalpha() and following not in NOT_NAMES - _PARTICLES
    if word in _WORDS_AS_NAMES:
        before = (utterance.words[max(0, index - 1) : index] or ("",))[0]
        leads = following[:1].isalpha() and following not in NOT_NAMES
        return before not in _BEFORE_WILL and (leads or announced)
    return word[0].isalpha() and word not in NOT_NAMES


def _is_capital(utterance: Utterance, index: int) -> bool:
    return utterance.tokens[index].raw[0].isupper()


def _has_casing(utterance: Utterance) -> bool:
    """Whether the recogniser wrote capitals at all: some write everything in lower case."""
    return any(token.raw[0].isupper() for token in utterance.tokens if token.text != "i")


def _breaks_casing(utterance: Utterance, first: int, index: int) -> bool:
    """Whether a name that began with a capital goes on in lower case: there it has ended."""
    if utterance.words[index] in _PARTICLES or utterance.words[index - 1] == "-":
        return False
    if utterance.words[first] in _PARTICLES:
        return False
    return _is_capital(utterance, first) and not _is_capital(utterance, index)


def _looks_like_one(utterance: Utterance, one: HeardName) -> bool:
    return _has_capitals(utterance, one) or not _has_casing(utterance)


def _has_capitals(utterance: Utterance, one: HeardName) -> bool:
    """Whether a name is written like one, but for its particles ("van der Berg")."""
    return any(
        _is_capital(utterance, index)
        for index in range(one.first, one.last + 1)
        if utterance.words[index] not in _PARTICLES
    )


def _is_written_as_two(utterance: Utterance, one: HeardName) -> bool:
    return len(one.words) > 1 and _is_capital(utterance, one.first)


def _cased(raw: str) -> str:
    """Title case, but as transcribed where the recogniser knows better ("McDonald", "van")."""
    name = raw.replace("’", "'")
    if name.lower() in _PARTICLES and name.islower():
        return name
    if name[0].isupper() and not (name.isupper() and len(name) > 1):
        return name
    return re.sub(r"[^\W\d_]+", lambda match: match[0].capitalize(), name.lower())
