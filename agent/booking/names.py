"""The guest's name, as said and as spelled; a spelled name beats a heard one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz.distance import JaroWinkler

from agent.booking.corrections import negated
from agent.booking.heard import Asked, Found
from agent.booking.hotel import Hotel
from agent.booking.not_names import NOT_NAMES
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.spelled_names import SpelledName, apply_letter_hint, find_spelled
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_CUES = (
    "my name is",
    "my name's",
    "the name is",
    "the name's",
    "name is",
    "name's",
    "name of",
    "full name is",
    "guest name is",
    "under the name",
    "under the name of",
    "in the name of",
    "on the name of",
    "it's under",
    "is under",
    "booked under",
    "booking under",
    "put it under",
    "under",
    "this is",
    "my name",
    "i'm called",
    "call me",
    "on behalf of",
    "the guest is",
    "name",
    "reservation for",
    "booking for",
)
_WEAK_CUES = (
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
    "for",
    "under",
)
_SURNAME_CUES = (
    "last name is",
    "last name's",
    "surname is",
    "surname's",
    "family name is",
    "last name",
    "surname",
    "family name",
)
_FIRST_NAME_CUES = ("first name is", "first name's", "first name", "given name is", "given name")
_TITLES = word_set(
    "mr mrs ms miss mister missus doctor dr prof professor sir madam madame lady lord reverend "
    "captain"
)
_PARTICLES = word_set("van von der den de la del della di da dos das du le el al bin ibn ter")
_MONTHS_AS_NAMES = frozenset({"april", "may", "june", "august"})
_LONGEST = 5  # words of a name, particles included
_RESEMBLES = 0.72


@dataclass(frozen=True)
class _Heard:
    """A name as it stands in the turn; `part` is "first" or "last" where only that was named."""

    first: int
    last: int
    words: tuple[str, ...]
    part: str = ""


def hear_name(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    hotel: Hotel,
    turn: int,
    taken: frozenset[int] = frozenset(),
) -> Found:
    """What a turn says of the guest's name.

    Args as for `agent.booking.dates.hear_dates`.
    """
    expected = asked.about(Field.GUEST_NAME)
    spelled = find_spelled(
        utterance, taken, expected=expected or bool(utterance.find((*_CUES, *_SURNAME_CUES)))
    )
    in_spelling = frozenset(index for one in spelled for index in range(one.first, one.last + 1))
    heard = _heard_names(utterance, taken | in_spelling, request, expected=expected)
    old = [one for one in heard if negated(utterance, one.first)]
    standing = [one for one in heard if one not in old]
    name = request.guest_name
    spans = []
    for one in standing:
        name = _with_heard(name, one, old)
        spans.append((one.first, one.last))
    for letters in spelled:
        if negated(utterance, letters.first):
            continue
        name = _with_spelled(name, letters, utterance)
        spans.append((letters.first, letters.last))
    hinted = apply_letter_hint(utterance, name)
    if hinted is not None:
        name, first, last = hinted
        spans.append((first, last))
    if not spans or name is None:
        return Found()
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    used = frozenset(range(first, last + 1))
    if name == request.guest_name:
        return Found(used=used)
    change = Change(Field.GUEST_NAME, name, utterance.said(first, last), turn)
    return Found((change,), used=used)


def _heard_names(
    utterance: Utterance, taken: frozenset[int], request: BookingRequest, *, expected: bool
) -> list[_Heard]:
    """The names that the turn says, in order; the same place is read once."""
    found: list[_Heard] = []
    for cues, part in ((_CUES, ""), (_SURNAME_CUES, "last"), (_FIRST_NAME_CUES, "first")):
        for cue_first, cue_last in utterance.find(cues):
            if cue_first and utterance.words[cue_first - 1] in ("last", "first", "sur", "hotel"):
                continue
            one = _name_at(utterance, cue_last + 1, taken, part)
            if one is not None:
                found.append(one)
    found += _titled(utterance, taken)
    if not found or any(negated(utterance, one.first) for one in found):
        found += _negated_pair(utterance, taken, request)
    if not found and expected:
        found += _whole_answer(utterance, taken)
    if not found:
        found += _resembling(utterance, taken, request)
    places: dict[int, _Heard] = {}
    for one in found:
        places.setdefault(one.first, one)
    return [places[place] for place in sorted(places)]


def _name_at(
    utterance: Utterance, index: int, taken: frozenset[int], part: str = ""
) -> _Heard | None:
    """The name that starts at this token, without a title, or None."""
    words = utterance.words
    while index < len(words) and (
        words[index] in _TITLES or words[index] in (".", ",", ":", "is", "it's", "um", "uh", "er")
    ):
        index += 1
    parts: list[str] = []
    first = last = index
    while index < len(words) and len(parts) < _LONGEST:
        if words[index] in ("-", ".") and parts and _joins(utterance, index):
            parts.append(words[index] if words[index] == "-" else "")
            index += 1
            continue
        if index in taken or not _may_be_name(utterance, index, within=bool(parts)):
            break
        parts.append(_cased(utterance.tokens[index].raw))
        last = index
        index += 1
    if not parts:
        return None
    text = " ".join(part for part in parts if part).replace(" - ", "-").rstrip("- ")
    names = tuple(text.split())
    if len(names) == 1 and names[0].lower() in _MONTHS_AS_NAMES:
        return None
    if names[-1].lower() in _PARTICLES and len(names) > 1:
        return None
    return _Heard(first, last, names, part)


def _joins(utterance: Utterance, index: int) -> bool:
    """Whether a hyphen, or the full stop of an initial, joins two parts of a name."""
    if index + 1 >= len(utterance.tokens) or not utterance.tokens[index + 1].raw[0].isalpha():
        return False
    if utterance.words[index] == "-":
        return utterance.adjoins(index) and utterance.adjoins(index + 1)
    return len(utterance.words[index - 1]) == 1


def _may_be_name(utterance: Utterance, index: int, *, within: bool) -> bool:
    word = utterance.words[index]
    if not word[0].isalpha() or word[-1].isdigit():
        return False
    if word in _PARTICLES:
        following = utterance.words[index + 1] if index + 1 < len(utterance.words) else ""
        return following[:1].isalpha() and following not in NOT_NAMES - _PARTICLES
    if word in _MONTHS_AS_NAMES:
        following = utterance.words[index + 1] if index + 1 < len(utterance.words) else ""
        return following[:1].isalpha() and following not in NOT_NAMES
    if word in NOT_NAMES:
        return False
    return within or len(word) > 1


def _cased(raw: str) -> str:
    """Title case, but as transcribed where the recogniser knows better ("McDonald", "van")."""
    if raw.lower() in _PARTICLES and raw.islower():
        return raw
    if raw[0].isupper() and not raw.isupper():
        return raw.replace("’", "'")
    return re.sub(
        r"[^\W\d_]+", lambda match: match[0].capitalize(), raw.lower().replace("’", "'")
    ).replace("'S", "'s")


def _titled(utterance: Utterance, taken: frozenset[int]) -> list[_Heard]:
    """ "for Mr Smith", "Doctor Anna Schmidt"."""
    found = []
    for index, word in enumerate(utterance.words):
        if word in _TITLES and word not in ("sir", "madam", "miss", "lady", "lord", "captain"):
            one = _name_at(utterance, index, taken)
            if one is not None and one.first > index:
                found.append(one)
    return found


def _whole_answer(utterance: Utterance, taken: frozenset[int]) -> list[_Heard]:
    """The name in an answer to the question for it: the first words that may be one."""
    index = 0
    while index < len(utterance.words):
        one = None if index in taken else _name_at(utterance, index, taken)
        if one is None or one.first != index:
            index += 1
            continue
        return [one]
    return []


def _negated_pair(
    utterance: Utterance, taken: frozenset[int], request: BookingRequest
) -> list[_Heard]:
    """ "I said Raman, not Roman": both names, the old one being like a word of the known name."""
    if request.guest_name is None:
        return []
    found: list[_Heard] = []
    for index, word in enumerate(utterance.words):
        if index in taken or not word[0].isalpha():
            continue
        one = _name_at(utterance, index, taken)
        if one is None or one.first != index or not negated(utterance, index):
            continue
        if not any(_resemble(word, known) for known in request.guest_name.split()):
            continue
        found.append(one)
        for other in range(len(utterance.words)):
            new = None if other in taken else _name_at(utterance, other, taken)
            if (
                new is not None
                and new.first == other
                and not one.first <= other <= one.last
                and not negated(utterance, other)
            ):
                found.append(new)
                break
        break
    return found


def _resembling(
    utterance: Utterance, taken: frozenset[int], request: BookingRequest
) -> list[_Heard]:
    """ "No, it's Raman": a name like the known one, after words that correct or say it."""
    if request.guest_name is None:
        return []
    starts = [last + 1 for _, last in utterance.find(_WEAK_CUES)]
    starts += [last + 1 for _, last in utterance.find(("no", "sorry", "actually", "no it's"))]
    for index in sorted(starts):
        while index < len(utterance.words) and utterance.words[index] in (",", ".", "no", "it's"):
            index += 1
        one = _name_at(utterance, index, taken)
        if one is not None and any(
            _resemble(word, known) for word in one.words for known in request.guest_name.split()
        ):
            return [one]
    return []


def _with_heard(name: str | None, heard: _Heard, old: list[_Heard]) -> str:
    """The name once this was heard: a part takes the place of the part that it is or is like."""
    words = (name or "").split()
    if not words or (len(heard.words) > 1 and not heard.part):
        return " ".join(heard.words)
    if heard.part == "last":
        return " ".join((*words[:1], *heard.words)) if name else " ".join(heard.words)
    if heard.part == "first":
        return " ".join((*heard.words, *words[1:])) if len(words) > 1 else " ".join(heard.words)
    replaced = [one.words[0] for one in old]
    for place, word in enumerate(words):
        if any(_resemble(word, one) for one in (replaced or heard.words)):
            return " ".join((*words[:place], *heard.words, *words[place + 1 :]))
    return " ".join(heard.words)


def _with_spelled(name: str | None, spelled: SpelledName, utterance: Utterance) -> str:
    """The name once this was spelled: it takes the place of the word that it is most like."""
    words = (name or "").split()
    letters = [word.capitalize() for word in spelled.words]
    if len(letters) > 1 or not words:
        return " ".join(letters)
    word = letters[0]
    split = _split_like(spelled.words[0], words)
    if split is not None:
        return split
    likeness = [JaroWinkler.similarity(word.lower(), known.lower()) for known in words]
    best = max(range(len(words)), key=lambda place: (likeness[place], place))
    before = " ".join(utterance.words[max(0, spelled.first - 4) : spelled.first])
    if "first name" in before:
        best = 0
    elif likeness[best] < _RESEMBLES:
        if len(words) == 1 and ("last name" in before or "surname" in before):
            return f"{words[0]} {word}"
        best = len(words) - 1
    return " ".join((*words[:best], word, *words[best + 1 :]))


def _split_like(letters: str, words: list[str]) -> str | None:
    """Letters that spell the whole of a name of two words, split as that name is."""
    if len(words) != 2:
        return None
    best: tuple[float, str] | None = None
    for place in range(2, len(letters) - 1):
        first, last = letters[:place].capitalize(), letters[place:].capitalize()
        likeness = min(
            JaroWinkler.similarity(first.lower(), words[0].lower()),
            JaroWinkler.similarity(last.lower(), words[1].lower()),
        )
        if likeness >= _RESEMBLES and (best is None or likeness > best[0]):
            best = likeness, f"{first} {last}"
    return best[1] if best else None


def _resemble(one: str, other: str) -> bool:
    return JaroWinkler.similarity(one.lower(), other.lower()) >= _RESEMBLES
