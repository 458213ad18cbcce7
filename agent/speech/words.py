"""Numbers as words, one way only, and back again.

Everything that is spoken is words without digits, so a value that was written in any form is
compared with the request in one form: the one that the caller hears.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from num2words import num2words

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MAX_CARDINAL = 999_999_999


def vocabulary(text: str) -> frozenset[str]:
    """The words of `text` as a set: a word list that reads as one."""
    return frozenset(text.split())


@lru_cache(maxsize=4096)
def cardinal(number: int) -> str:
    """`1250` as "one thousand two hundred fifty": no "and", no commas, so that it reads back."""
    if abs(number) > _MAX_CARDINAL:
        return digits(str(abs(number)))
    words: str = num2words(number)
    return words.replace(",", "").replace(" and ", " ")


@lru_cache(maxsize=512)
def ordinal(number: int) -> str:
    """`4` as "fourth", `21` as "twenty-first"."""
    words: str = num2words(number, to="ordinal")
    return words.replace(",", "").replace(" and ", " ")


def digits(text: str) -> str:
    """Each digit of `text` as a word of its own: "4155" as "four one five five"."""
    return " ".join(cardinal(int(char)) for char in text if char.isdigit())


@lru_cache(maxsize=512)
def year(number: int) -> str:
    """A year as it is said: 2026 "twenty twenty-six", 2005 "two thousand five"."""
    century, rest = divmod(number, 100)
    if century == 20 and rest < 10:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    if rest < 10:
        return f"{cardinal(century)} oh {cardinal(rest)}"
    return f"{cardinal(century)} {cardinal(rest)}"


def clock(hour: int, minute: int, half: str) -> str:
    """A time of day: 15, 30 as "three thirty p.m."; noon and midnight by name.

    Args:
        hour: 0 to 23 on the 24-hour clock.
        minute: 0 to 59.
        half: "a.m.", "p.m." or "" when the text did not say which.
    """
    if half and minute == 0 and hour in (0, 12):
        return "noon" if hour == 12 else "midnight"
    twelve = hour % 12 or 12
    if minute == 0:
        said = cardinal(twelve)
        return f"{said} {half}" if half else f"{said} o'clock"
    minutes = f"oh {cardinal(minute)}" if minute < 10 else cardinal(minute)
    return f"{cardinal(twelve)} {minutes} {half}".rstrip()


UNITS = {cardinal(n): n for n in range(20)}
TENS = {cardinal(n): n for n in range(20, 100, 10)}
DIGITS = {cardinal(n): str(n) for n in range(10)} | {"oh": "0"}
ORDINALS = {ordinal(n): n for n in range(1, 100)}
NUMBER_WORDS = frozenset({*UNITS, *TENS, "hundred", "thousand", "million"})


def read_cardinal(tokens: Sequence[str]) -> tuple[int, int] | None:
    """The whole number that `tokens` begins with.

    Args:
        tokens: lower-case words, "twenty-four" already split in two.

    Returns:
        The number and how many tokens it took, or None when the first word is no number. A number
        ends where no larger one could be meant: "three thirty" is 3 and then 30.
    """
    total = current = taken = 0
    floor = 1_000  # what may still be added to `current` must be smaller than this
    for word in tokens:
        if word in UNITS:
            if UNITS[word] >= floor or (UNITS[word] == 0 and taken):
                break
            current += UNITS[word]
            floor = 1
        elif word in TENS:
            if TENS[word] >= floor:
                break
            current += TENS[word]
            floor = 10
        elif word == "hundred":
            if not 1 <= current <= 99:
                break
            current *= 100
            floor = 100
        elif word in ("thousand", "million"):
            if not current:
                break
            total += current * (1_000 if word == "thousand" else 1_000_000)
            current, floor = 0, 1_000
        elif word == "and" and floor == 100 and taken < len(tokens) - 1:
            # "two hundred and fifty": only before a number, never "two hundred and breakfast"
            if tokens[taken + 1] not in UNITS and tokens[taken + 1] not in TENS:
                break
        else:
            break
        taken += 1
    return (total + current, taken) if taken else None
