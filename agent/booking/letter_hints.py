"""Names mended by a word about their letters: "with a double N", "with one M", "with a K"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.booking.tokens import Utterance

_COUNTS = {"a": None, "an": None, "one": 1, "single": 1, "1": 1, "two": 2, "double": 2, "2": 2}
# For each letter, what a recogniser writes in its place.
_SAME_SOUND = {"k": "ck|c", "c": "k", "s": "z", "z": "s", "y": "i", "i": "y", "f": "ph", "v": "w"}


@dataclass(frozen=True)
class LetterHint:
    """The name as it is once the hint is followed, and the tokens of the hint."""

    name: str
    first: int
    last: int


def apply_letter_hint(utterance: Utterance, name: str | None) -> LetterHint | None:
    """Follow what a turn says of a name's letters, or None if it says nothing that changes it.

    Args:
        utterance: the turn.
        name: the name as heard so far.
    """
    words = utterance.words
    for index, word in enumerate(words):
        place = index + 1
        if not name or word not in ("with", "has") or words[place : place + 1] == ():
            continue
        if words[place : place + 2] == ("a", "dublin"):  # "a double N"
            changed = _with_count(name, "n", 2)
            if changed is not None and changed != name:
                return LetterHint(changed, index, place + 1)
        if words[place] not in _COUNTS:
            continue
        count = _COUNTS[words[place]]
        place += 1
        if count is None and words[place : place + 1] in (("double",), ("single",)):
            count = _COUNTS[words[place]]
            place += 1
        place += words[place : place + 1] == ("-",)
        letter = _letter(words[place] if place < len(words) else "")
        if letter is None:
            continue
        changed = _with_count(name, letter, count) if count else None
        changed = changed or _with_sound(name, letter)
        if changed is not None and changed != name:
            return LetterHint(changed, index, place)
    return None


def _letter(word: str) -> str | None:
    """The letter of "n", "n's" or "ns"; of "end", as a recogniser takes "double N" for."""
    letter = "n" if word in ("end", "ends", "and") else word.removesuffix("'s")
    if len(letter) == 2 and letter.endswith("s"):
        letter = letter[0]
    return letter if len(letter) == 1 and letter.isalpha() else None


def _with_count(name: str, letter: str, count: int) -> str | None:
    """The name with its last run of this letter made this long."""
    runs = list(re.finditer(f"{letter}+", name, re.IGNORECASE))
    if not runs:
        return None
    run = runs[-1]
    return f"{name[: run.start()]}{run[0][0]}{letter * (count - 1)}{name[run.end() :]}"


def _with_sound(name: str, letter: str) -> str | None:
    """The name with this letter in place of the last one that sounds like it."""
    if letter in name.lower() or letter not in _SAME_SOUND:
        return None
    sounds = list(re.finditer(_SAME_SOUND[letter], name, re.IGNORECASE))
    if not sounds:
        return None
    sound = sounds[-1]
    new = letter.upper() if sound[0][0].isupper() else letter
    return f"{name[: sound.start()]}{new}{name[sound.end() :]}"
