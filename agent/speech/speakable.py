"""Written text made speakable: words only, no digit and no symbol that a voice would stumble on.

Applied to text that is already speakable it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.speech import words
from agent.speech.spoken_values import (
    apart,
    clock_time,
    day_and_month,
    email,
    iso_date,
    money,
    named_date,
    number,
    numeric_date,
    phone,
    reference,
    room_number,
    spelled,
    twelve_hour,
    url,
)

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str]

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)"
_MONTH_NAME = (
    rf"(?P<month>{'|'.join(words.MONTHS)}|{_MONTH}(?=[.\s]))\.?"  # "Oct." loses its full stop
)
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_HALF = r"(?P<half>[ap])\.?\s?m\b\.?"
_TO = r"\s?(?:-|–|—)\s?"


def speakable(text: str, *, day_first: bool = False) -> str:
    """Write out what a voice cannot read: dates, times, money, numbers, references, symbols.

    Args:
        text: a sentence or a few, without markdown.
        day_first: read 03/04 as the third of April; a number over 12 decides by itself.

    Returns:
        The text as words and plain punctuation, on one line; no word of the text is lost.
    """
    spoken = _write_out(text, day_first)
    if _NUMBER_FIRST.match(text):
        spoken = spoken[:1].upper() + spoken[1:]
    # Odd punctuation may only show its next joint once the first is mended.
    for _ in range(_MOST_PASSES):
        again = _write_out(spoken, day_first)
        if again == spoken:
            break
        spoken = again
    return spoken


def _write_out(text: str, day_first: bool) -> str:
    text = _apply(_ADDRESSES, text)
    if _HAS_DIGIT.search(text):
        text = _apply(_VALUES, _apply(_NUMERIC_DATES[day_first], text))
    return _apply(_MARKS, text).strip()


def _apply(rules: list[Rule], text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


_MOST_PASSES = 8
_HAS_DIGIT = re.compile(r"[\d½¼¾]")
# A sentence that begins with digits would begin with a small letter once they are words.
_NUMBER_FIRST = re.compile(r"\s*[$€£]?\s?\d")


def _compile(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


_FRACTIONS = {"½": " and a half", "¼": " and a quarter", "¾": " and three quarters"}

_NUMERIC_DATES: dict[bool, list[Rule]] = {
    day_first: [
        (
            re.compile(
                r"(?<![\d/.-])(?P<first>0?[1-9]|[12]\d|3[01])(?P<sep>[/.-])(?P<second>0?[1-9]|[12]\d|3[01])"
                r"(?P=sep)(?P<year>(?:20)?\d\d)(?![\d/-])"
            ),
            numeric_date(day_first),
        ),
        (
            re.compile(
                r"(?<![\d/.-])(?!24/7)(?P<first>0?[1-9]|[12]\d|3[01])/(?P<second>0?[1-9]|[12]\d|3[01])"
                r"(?P<year>)(?![\d/])"
            ),
            numeric_date(day_first),
        ),
    ]
    for day_first in (False, True)
}

# Before all else, since their dots and digits would mean something else to every other rule.
_ADDRESSES: list[Rule] = [
    (_compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), email),
    (_compile(r"\b(?:https?://|www\.)[^\s,;!?]+"), url),
]

# For text with digits in it; in this order, from the special to the plain number.
_VALUES: list[Rule] = [
    (
        _compile(
            r"(?<![\w.-])(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,4}\)\s?|\d{2,4}[\s.-])\d{3,4}[\s.-]\d{3,4}(?![\w-])"
        ),
        phone,
    ),
    (_compile(r"(?<![\w.-])\+\d[\d\s().-]{5,}\d"), phone),
    # Dates
    (_compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)(?:[T ]00:00(?::00)?Z?)?\b"), iso_date),
    (
        _compile(
            rf"\b{_MONTH_NAME}\s(?:the\s)?{_DAY}(?:st|nd|rd|th)?"
            rf"(?:(?:{_TO}|\sto\s)(?P<last>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?)?"
            rf"(?:,?\s{_YEAR})?(?![\d:])"
        ),
        named_date,
    ),
    (
        _compile(
            rf"\b(?P<the>the\s)?{_DAY}(?:st|nd|rd|th)?\s(?P<of>of\s)?{_MONTH_NAME}(?:,?\s{_YEAR})?(?!\w)"
        ),
        day_and_month,
    ),
    (_compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b"), lambda m: words.ordinal(int(m[1]))),
    # Times
    (
        _compile(
            rf"(?:\b(?P<first>\d{{1,2}}(?:[:.]\d\d)?)(?:{_TO}|\sto\s))?"
            rf"\b(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d)(?::\d\d)?)?\s?{_HALF}"
        ),
        twelve_hour,
    ),
    (
        _compile(
            r"\b(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\so'clock|\sh(?:rs|ours)?\b)?(?!\d)"
        ),
        clock_time,
    ),
    (_compile(r"\b24/7\b"), "twenty-four seven"),
    # Money
    (_compile(r"(?<=\d)\s?[–—-]\s?(?=[$€£]\s?\d)"), " to "),
    (
        _compile(
            r"(?P<sign>[$€£])\s?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<cents>\d{1,2}))?"
            r"(?:\s(?P<scale>thousand|million)\b)?(?!\d)(?:\s?(?:USD|EUR|GBP)\b)?"
        ),
        money,
    ),
    (
        _compile(
            r"\b(?P<code>USD|EUR|GBP)\s?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<cents>\d{1,2}))?(?!\d)"
        ),
        money,
    ),
    (
        _compile(
            r"(?<![\d.,])(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<cents>\d{1,2}))?\s?(?P<code>USD|EUR|GBP|€|£)(?!\w)"
        ),
        money,
    ),
    # Rooms, references, numbers
    (
        _compile(
            r"\b(?P<room>rooms?|suites?)\s(?:no\.?\s?|number\s|#)?(?P<number>\d{1,4})\b(?![-/.,:]\d)"
        ),
        room_number,
    ),
    (_compile(r"(?<![\w'’-])(?=[^A-Z]*[A-Z])[A-Z0-9](?:[ -][A-Z0-9](?![\w'’])){2,}", 0), spelled),
    (
        _compile(
            r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z0-9]+(?:[-–][A-Z0-9]+)*(?![\w-])(?<=....)", 0
        ),
        reference,
    ),
    (_compile(r"(?<![\w-])(?=[\w]*\d)(?=[\w]*[A-Za-z])[A-Za-z0-9]{6,}(?![\w-])", 0), reference),
    (_compile(r"(?<=\d)\s?%"), " percent"),
    (_compile(r"(?<=\d)\s?°\s?C\b"), " degrees Celsius"),
    (_compile(r"(?<=\d)\s?°\s?F\b"), " degrees Fahrenheit"),
    (_compile(r"(?<=\d)\s?°"), " degrees"),
    (_compile(r"(?<=\d)\s?[½¼¾]"), lambda m: _FRACTIONS[m.group().strip()]),
    (_compile(r"[½¼¾]"), lambda m: _FRACTIONS[m.group()].removeprefix(" and ")),
    (_compile(r"\bno\.\s?(?=\d)"), "number "),
    (_compile(r"#\s?(?=\d)"), "number "),
    (_compile(r"(?<=\d)\s?[–—-]\s?(?=\d)"), " to "),
    (_compile(r"\b1/2\b"), "one half"),
    (_compile(r"(?<=\d)/(?=\d)"), " over "),
    (_compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"), apart(number)),
]

_MARKS: list[Rule] = [
    (_compile(r"(?<![\w'’-])[A-Z](?:[ -][A-Z](?![\w'’])){2,}", 0), spelled),
    # Abbreviations and symbols
    (_compile(r"\be\.g\.,?"), "for example,"),
    (_compile(r"\bi\.e\.,?"), "that is,"),
    (_compile(r"\betc\.(?=\s*$)"), "and so on."),
    (_compile(r"\betc\b\.?"), "and so on"),
    (_compile(r"\bvs\b\.?"), "versus"),
    (_compile(r"\bapprox\b\.?"), "about"),
    (_compile(r"\bincl\b\.?"), "including"),
    (_compile(r"\bw/(?=\s)"), "with"),
    (_compile(r"\b(?:p\.?p\.?p\.?n\.)(?=\s|$)"), "per person per night"),
    (_compile(r"\s?/\s?(?=(?:night|person|day|hour|guest|room|week)\b)"), " per "),
    (_compile(r"\band/or\b"), "and or"),
    (_compile(r"(?<=\w)\s?/\s?(?=\w)"), " or "),
    (_compile(r"\s?&\s?"), " and "),
    (_compile(r"\s?@\s?"), " at "),
    (_compile(r"\s?\+\s?"), " plus "),
    (_compile(r"\s?=\s?"), " equals "),
    (_compile(r"\s?%"), " percent"),
    (_compile(r"(?<=\w)_+(?=\w)"), " "),
    # Punctuation joints: what stood in brackets or behind a dash becomes a clause of its own.
    (_compile(r"\s*(?:…|\.{2,})(?=\s*$)"), "."),
    (_compile(r"\s*(?:…|\.{2,})\s*"), ", "),
    (_compile(r"\s*[()\[\]{}]+\s*"), ", "),
    (_compile(r"\s*/+\s*"), " "),
    (_compile(r"\s*[—―]\s*|\s+[–-]+\s+|\s*–\s*|--+"), ", "),
    (_compile(r"[*_`~#|<>\\^°$€£\"“”„«»]"), ""),
    (_compile(r"\s+"), " "),
    (_compile(r"\s+(?=[,.;:!?])"), ""),
    (_compile(r",(?:\s*,)+"), ","),
    (_compile(r",\s*(?=[.;:!?])"), ""),
    (_compile(r"(?<=[;:!?]),|(?<=[^m.]\.),"), ""),  # but "three p.m., or later"
    (_compile(r"\.{2,}"), "."),
    (_compile(r"^[\s,;:.]+"), ""),
    (_compile(r",\s*$"), ""),
    (_compile(r"(?<=[,;:])(?=[^\W\d_])"), " "),
]
