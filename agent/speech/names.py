"""Names of people in a sentence, told apart from other capitalised words without a model.

What may be a name has to be the caller's, the hotel's or in its facts. That is a capitalised word
within a sentence, a word in a place for names ("under the name of …"), or an unknown first word
that is addressed, acts or owns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files

from agent.speech.reading import NATO
from agent.speech.words import MONTHS, NUMBER_WORDS, ORDINALS, WEEKDAYS, vocabulary

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ENDING = re.compile(r"'(?:s|re|ll|ve|d|m)?$")
_TITLE_BEFORE = re.compile(
    r"\b(?:mr|mrs|ms|miss|mister|dr|doctor|prof|professor)\.? $", re.IGNORECASE
)


def _ordinary_words() -> frozenset[str]:
    text = (files(__package__) / "ordinary_words.txt").read_text(encoding="utf-8")
    return vocabulary("\n".join(line for line in text.splitlines() if not line.startswith("#")))


_NUMBERS = frozenset(part for word in (*NUMBER_WORDS, *ORDINALS) for part in word.split("-"))
_CALENDAR = frozenset(name.lower() + end for name in (*MONTHS, *WEEKDAYS) for end in ("", "s"))
_ORDINARY = _ordinary_words() | _CALENDAR | _NUMBERS | NATO.keys()

# What an unknown first word does, if it is a person.
_DOES = vocabulary(
    "is was will has had would wants wanted needs can and likes said asked arrives checks stays "
    "called comes leaves prefers"
)
# Behind these a name stands even in small letters.
_NAME_PLACE = re.compile(
    r"\b(?:name (?:is|as|of)|under(?: the name(?: of)?)?|named|called|speaking (?:to|with)|"
    r"(?:booking|reservation|room|request|stay) (?:is )?for|guest is|this is|i am|i'm)"
    r" (?P<name>[^\W\d_]+)"
)
_NO_NAME_THERE = vocabulary(
    "a an the that this it your you our my me us them him her these those not correct right for "
    "as on in at of is and or to so please what which now just ready there here given used same "
    "next known complete hotel another whose any some both all each every more here by with "
    "from about only afraid sure glad happy able unable sorry calling delighted pleased still "
    "also really very going happening quite terribly absolutely"
)


def name_words(names: Iterable[str]) -> frozenset[str]:
    """The words of these names as `unknown_name` compares them."""
    return frozenset(_plain(word) for name in names for word in _WORD.findall(name))


def unknown_name(sentence: str, known: frozenset[str]) -> str | None:
    """The first word of `sentence` that may be a name and is none of the known ones.

    Args:
        sentence: as it will be spoken.
        known: lower-case words that are the caller's name, the hotel's, or in its facts.

    Returns:
        The word, or None.
    """
    words = list(_WORD.finditer(sentence))
    for index, match in enumerate(words):
        plain = _plain(match.group())
        titled = bool(_TITLE_BEFORE.search(sentence[: match.start()]))
        if not match.group()[0].isupper() or len(plain) == 1 or plain in known:
            continue
        if plain in _ORDINARY and not titled:
            continue
        following = words[index + 1].group() if index + 1 < len(words) else ""
        first = _begins_sentence(sentence, match.start()) and not titled
        if not first or _stands_as_name(sentence, match, following):
            return match.group()
    return _in_name_place(sentence, known)


def _plain(word: str) -> str:
    return _ENDING.sub("", word.lower().replace("’", "'"))


def _begins_sentence(sentence: str, start: int) -> bool:
    before = sentence[:start].rstrip(" \"'“‘(")
    return not before or before[-1] in ".!?:"


def _stands_as_name(sentence: str, match: re.Match[str], following: str) -> bool:
    """Whether an unknown first word is addressed, acts, owns, or goes on as a full name."""
    word = match.group().lower()
    if word.endswith(("ly", "ing")):
        return False
    after = sentence[match.end() : match.end() + 1]
    if after in (",", "!", "?", ".", "") or word.endswith(("'s", "’s")):
        return True
    surname = following[:1].isupper() and _plain(following) not in _ORDINARY
    return surname or following.lower() in _DOES


def _in_name_place(sentence: str, known: frozenset[str]) -> str | None:
    for match in _NAME_PLACE.finditer(sentence.lower().replace("’", "'")):
        name = _plain(match["name"])
        if len(name) > 1 and not (
            name in known
            or name in _NO_NAME_THERE
            or name in _ORDINARY
            or name.endswith(("ed", "ing", "ly"))
        ):
            return name
    return None
