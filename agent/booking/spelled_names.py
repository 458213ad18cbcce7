"""Names that are spelled: "R A M A N", "R-A-M-A-N", "R as in Romeo", "with a double N"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.booking.alphabet import Spelled, spelled_at
from agent.booking.numbers import cardinal_at
from agent.booking.tokens import Utterance

_FEWEST_LETTERS = 3  # fewer are initials
_FEWEST_EXAMPLES = 3  # as many words of a spelling alphabet in a row are no name themselves
_NEW_WORD = frozenset({"space", "surname", "last", "new", "second"})
_SKIPPED = frozenset({",", ".", "-", "–", "and", "then", "um", "uh", "name", "word"})


@dataclass(frozen=True)
class SpelledName:
    """The words of a name that were spelled, in capitals."""

    first: int
    last: int
    words: tuple[str, ...]


def find_spelled(
    utterance: Utterance, taken: frozenset[int], *, expected: bool
) -> list[SpelledName]:
    """The names that are spelled in a turn.

    Args:
        utterance: the turn.
        taken: tokens that belong to something else.
        expected: whether a name was asked for or announced, so that words that sound like letters
            ("are", "you") may be letters between real ones.
    """
    found: list[SpelledName] = []
    run: list[Spelled] = []
    breaks: set[int] = set()  # places in the run where a new word begins
    index = 0
    words = utterance.words
    while index <= len(words):
        unit = None if index in taken or index == len(words) else _letter_at(utterance, index)
        if unit is not None and (
            not unit.doubtful or expected or _between_letters(utterance, unit)
        ):
            if run and _is_word_break(utterance, run[-1], unit):
                breaks.add(len(run))
            run.append(unit)
            index = unit.last + 1
            continue
        if index < len(words) and run and words[index] in _SKIPPED:
            index += 1
            continue
        if index < len(words) and run and words[index] in _NEW_WORD:
            breaks.add(len(run))
            index += 1
            continue
        one = _as_name(run, breaks)
        if one is not None:
            found.append(one)
        run, breaks = [], set()
        index += 1
    return found


def apply_letter_hint(utterance: Utterance, name: str | None) -> tuple[str, int, int] | None:
    """A name after "with a double N", "with one M" or "with a K": the name, and where it was said.

    The last word of the name that has the letter, or the one that sounds like it, is changed.
    """
    if not name:
        return None
    words = utterance.words
    for index, word in enumerate(words):
        if word not in ("with", "has", "have"):
            continue
        place = index + 1
        number = {"a": 1, "an": 1, "one": 1, "single": 1, "two": 2, "double": 2, "only": 1}.get(
            words[place] if place < len(words) else ""
        )
        if number is None:
            found = cardinal_at(words, place)
            if found is None or found[0] not in (1, 2):
                continue
            number = found[0]
        named_number = words[place] != "a" and words[place] != "an"
        place += 1
        if place < len(words) and words[place] in ("double", "single", "one"):
            number, named_number = (2 if words[place] == "double" else 1), True
            place += 1
        letter = words[place].removesuffix("'s").removesuffix("s") if place < len(words) else ""
        if place < len(words) and words[place] in ("s", "double-s"):
            letter = "s"
        if len(letter) != 1 or not letter.isalpha():
            continue
        changed = _with_letters(name, letter, number) if named_number else None
        changed = changed or _with_sound(name, letter)
        if changed is not None and changed != name:
            return changed, index, place
    return None


def _with_letters(name: str, letter: str, number: int) -> str | None:
    """The name with the last run of this letter made this long."""
    runs = list(re.finditer(f"{letter}+", name, re.IGNORECASE))
    if not runs:
        return None
    last = runs[-1]
    start = last[0][0]
    return f"{name[: last.start()]}{start}{letter * (number - 1)}{name[last.end() :]}"


_SAME_SOUND = {"k": "ck|c", "c": "k", "s": "z", "z": "s", "y": "i", "i": "y", "f": "ph", "v": "w"}


def _with_sound(name: str, letter: str) -> str | None:
    """The name with this letter in place of the one that sounds like it: "Erik, with a K"."""
    if letter in name.lower() or letter not in _SAME_SOUND:
        return None
    matches = list(re.finditer(_SAME_SOUND[letter], name, re.IGNORECASE))
    if not matches:
        return None
    match = matches[-1]
    new = letter.upper() if match[0][0].isupper() else letter
    return f"{name[: match.start()]}{new}{name[match.end() :]}"


def _letter_at(utterance: Utterance, index: int) -> Spelled | None:
    """One letter, a doubled one, or a word transcribed in capitals, which Whisper spells so."""
    unit = spelled_at(utterance, index)
    if unit is None:
        return None
    letters = tuple(option for option in unit.options if option.isalpha())
    if not letters:
        return None
    word = utterance.words[index]
    if (
        len(letters[0]) > 1
        and word.isalpha()
        and len(word) > 1
        and word not in ("double", "triple")
    ):
        # "RAMAN" is spelled; "UK" or "OK" is not.
        return unit if len(word) >= _FEWEST_LETTERS and unit.options == (word.upper(),) else None
    return Spelled(unit.first, unit.last, letters, unit.doubtful, unit.named)


def _between_letters(utterance: Utterance, unit: Spelled) -> bool:
    """Whether single letters stand on both sides: "R A are A N" has no word in it."""
    before = utterance.words[unit.first - 1] if unit.first else ""
    after = utterance.words[unit.last + 1] if unit.last + 1 < len(utterance.words) else ""
    return len(before) == 1 and len(after) == 1


def _is_word_break(utterance: Utterance, before: Spelled, unit: Spelled) -> bool:
    """Whether a space between groups joined by hyphens begins a new word: "P-R-I-Y-A R-A-M-A-N"."""
    if unit.first == before.last + 1:
        joined_before = before.first > 0 and utterance.words[before.first - 1] in ("-", "–")
        return joined_before and not utterance.adjoins(unit.first)
    return False


def _as_name(run: list[Spelled], breaks: set[int]) -> SpelledName | None:
    while run and run[0].doubtful and not run[0].named:
        run = run[1:]
        breaks = {place - 1 for place in breaks}
    while run and run[-1].doubtful and run[-1].options[0] != "A":
        run = run[:-1]
    letters = sum(len(unit.options[0]) for unit in run)
    if letters < _FEWEST_LETTERS or sum(unit.doubtful for unit in run) * 2 > len(run):
        return None
    if all(unit.named for unit in run) and len(run) < _FEWEST_EXAMPLES:
        return None
    words: list[str] = [""]
    for place, unit in enumerate(run):
        if place in breaks and words[-1]:
            words.append("")
        words[-1] += unit.options[0]
    if any(len(word) < 2 for word in words):
        words = ["".join(words)]
    return SpelledName(run[0].first, run[-1].last, tuple(words))
