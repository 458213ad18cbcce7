"""Small numbers as callers say them: "sixteen", "twenty first", "16th"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from num2words import num2words

_LARGEST = 99
_MOST_DIGITS = 4


def _as_words(number: int, form: str) -> tuple[str, ...]:
    return tuple(num2words(number, to=form).replace("-", " ").split())


_CARDINALS = {_as_words(number, "cardinal"): number for number in range(_LARGEST + 1)}
_ORDINALS = {_as_words(number, "ordinal"): number for number in range(1, _LARGEST + 1)}
# As Whisper writes them: "the forth", "the twenty one st" for what is one word in speech.
_ORDINALS |= {("forth",): 4, ("fith",): 5, ("ninteenth",): 19, ("twelth",): 12}
_NUMBER_WORDS = {word for words in (*_CARDINALS, *_ORDINALS) for word in words}
_DIGITS_ORDINAL = re.compile(r"(\d{1,2})(st|nd|rd|th)")


def is_number_word(word: str) -> bool:
    return word in _NUMBER_WORDS


def cardinal_at(words: Sequence[str], index: int) -> tuple[int, int] | None:
    """The cardinal number that starts at this word.

    Args:
        words: lower-case words and punctuation marks.
        index: where to look.

    Returns:
        The number (0 to 99, or up to four digits) and how many words it takes, or None.
    """
    if index >= len(words):
        return None
    if words[index].isdecimal():
        # More digits are a phone number or a reference, not a count.
        return (int(words[index]), 1) if len(words[index]) <= _MOST_DIGITS else None
    return _from_table(_CARDINALS, words, index)


def ordinal_at(words: Sequence[str], index: int) -> tuple[int, int] | None:
    """The ordinal number ("sixteenth", "16th", "twenty first") that starts at this word.

    Args and returns as for `cardinal_at`.
    """
    if index >= len(words):
        return None
    # "20 first", "20th 1st": Whisper writes a spoken ordinal of two words as two numbers.
    tens = {"20": 20, "20th": 20, "30": 30, "30th": 30}.get(words[index])
    if tens is not None and (ones := ordinal_at(words, index + 1)) and ones[0] < 10:
        return tens + ones[0], 1 + ones[1]
    if match := _DIGITS_ORDINAL.fullmatch(words[index]):
        return int(match[1]), 1
    return _from_table(_ORDINALS, words, index)


def _from_table(
    table: dict[tuple[str, ...], int], words: Sequence[str], index: int
) -> tuple[int, int] | None:
    # "twenty-first" comes as three tokens, with the hyphen between.
    for pattern, length in (((0, 2), 3), ((0, 1), 2), ((0,), 1)):
        if index + length > len(words) or (length == 3 and words[index + 1] != "-"):
            continue
        key = tuple(words[index + offset] for offset in pattern)
        # "The sixteenths" is a misheard sixteenth.
        for form in (key, (*key[:-1], key[-1].removesuffix("s"))):
            if form in table:
                return table[form], length
    return None
