"""Names that are spelled: "R A M A N", "R-A-M-A-N", "R as in Romeo", "with a double N"."""

from __future__ import annotations

from dataclasses import dataclass

from rapidfuzz.distance import JaroWinkler

from agent.booking.alphabet import Spelled, spelled_at
from agent.booking.tokens import Utterance

_FEWEST_LETTERS = 3  # fewer are initials
_FEWEST_EXAMPLES = 3  # as many words of a spelling alphabet in a row are no name themselves
_RESEMBLES = 0.72  # of Jaro and Winkler's likeness, which weighs how words begin
_NEW_WORD = frozenset({"space", "surname", "last", "new", "second"})
_SKIPPED = frozenset({",", ".", "-", "–", "and", "then", "um", "uh", "name", "word"})


@dataclass(frozen=True)
class SpelledName:
    """The words of a name that were spelled, in capitals."""

    first: int
    last: int
    words: tuple[str, ...]


def likeness(one: str, other: str) -> float:
    """How alike two names are written: 0 to 1."""
    return JaroWinkler.similarity(one.lower(), other.lower())


def resemble(one: str, other: str) -> bool:
    """Whether one name may be the other, misheard."""
    return likeness(one, other) >= _RESEMBLES


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


def _letter_at(utterance: Utterance, index: int) -> Spelled | None:
    """One letter, a doubled one, or a word transcribed in capitals, which Whisper spells so."""
    unit = spelled_at(utterance, index)
    if unit is None:
        return None
    # "Y-8" is a Y and an A.
    is_eight = unit.options == ("8",)
    options = ("A",) if is_eight else unit.options
    letters = tuple(option for option in options if option.isalpha())
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
    return Spelled(unit.first, unit.last, letters, unit.doubtful or is_eight, unit.named)


def _between_letters(utterance: Utterance, unit: Spelled) -> bool:
    """Whether single letters stand beside it: "R A are A N" has no word in it."""
    sides = [
        word.isalpha() and len(word) == 1
        for word in (utterance.word(unit.first - 1), utterance.word(unit.last + 1))
    ]
    # An "a" is more often a letter than "are" is: one letter beside it will do.
    return any(sides) if utterance.word(unit.first) == "a" else all(sides)


def _is_word_break(utterance: Utterance, before: Spelled, unit: Spelled) -> bool:
    """Whether a space between groups joined by hyphens begins a new word: "P-R-I-Y-A R-A-M-A-N"."""
    if min(len(before.options[0]), len(unit.options[0])) >= _FEWEST_LETTERS:
        return True  # "PRIYA RAMAN", in capitals
    if unit.first == before.last + 1:
        joined_before = before.first > 0 and utterance.words[before.first - 1] in ("-", "–")
        return joined_before and not utterance.adjoins(unit.first)
    return False


def _is_first_a(run: list[Spelled]) -> bool:
    """Whether the word "a" that a run begins with is its first letter: not in "a double N"."""
    return run[0].options[0] == "A" and len(run) > 1 and len(run[1].options[0]) == 1


def _as_name(run: list[Spelled], breaks: set[int]) -> SpelledName | None:
    while run and run[0].doubtful and not _is_first_a(run):
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
