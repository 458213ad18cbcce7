"""Written text made speakable: words only, no digit and no symbol that a voice would stumble on.

Applied to text that is already speakable it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from agent.speech import words

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str]

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)"
_MONTH_NAME = (
    rf"(?P<month>{'|'.join(words.MONTHS)}|{_MONTH}(?=[.\s]))\.?"  # "Oct." loses its full stop
)
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_HALF = r"(?P<half>[ap])\.?\s?m\b\.?"
_TO = r"\s?(?:-|–|—)\s?"
_CURRENCIES = {
    "$": ("dollar", "cent"),
    "usd": ("dollar", "cent"),
    "€": ("euro", "cent"),
    "eur": ("euro", "cent"),
    "£": ("pound", "penny"),
    "gbp": ("pound", "penny"),
}


def speakable(text: str, *, day_first: bool = False) -> str:
    """Write out what a voice cannot read: dates, times, money, numbers, references, symbols.

    Args:
        text: a sentence or a few, without markdown.
        day_first: read 03/04 as the third of April; a number over 12 decides by itself.

    Returns:
        The text as words and plain punctuation, on one line; no word of the text is lost.
    """
    for pattern, replacement in _NUMERIC_DATES[day_first]:
        text = pattern.sub(replacement, text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = text.strip()
    return text[:1].upper() + text[1:] if _STARTS_WITH_NUMBER.match(text) else text


# A sentence that began with digits begins with a small letter once they are words.
_STARTS_WITH_NUMBER = re.compile(
    rf"(?:{'|'.join(sorted(words.NUMBER_WORDS | words.ORDINALS.keys(), key=len, reverse=True))})\b"
)


def _compile(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(words.MONTHS, 1) if month[:3] == name[:3].capitalize())


def _date_words(month: int, day: int, year: int | None) -> str:
    said = f"{words.MONTHS[month - 1]} {words.ordinal(day)}"
    return f"{said}, {words.year(year)}" if year else said


def _iso_date(match: re.Match[str]) -> str:
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    try:
        date(year, month, day)
    except ValueError:
        return match.group()  # not a date: left to the rules for numbers
    return _date_words(month, day, year)


def _numeric_date(day_first: bool) -> Callable[[re.Match[str]], str]:
    def say(match: re.Match[str]) -> str:
        first, second = int(match["first"]), int(match["second"])
        day, month = (first, second) if day_first else (second, first)
        if month > 12:
            day, month = month, day
        year = int(match["year"]) if match["year"] else None
        if year is not None and year < 100:
            year += 2000
        try:
            date(year or 2024, month, day)  # a leap year, so that 29 February stands
        except ValueError:
            return match.group()
        return _date_words(month, day, year)

    return say


def _named_date(match: re.Match[str]) -> str:
    month = words.MONTHS[_month_number(match["month"]) - 1]
    said = f"{month} {words.ordinal(int(match['day']))}"
    if last := match.groupdict().get("last"):
        said += f" to {words.ordinal(int(last))}"
    if year := match.groupdict().get("year"):
        said += f", {words.year(int(year))}"
    return said


def _day_and_month(match: re.Match[str]) -> str:
    """ "18 October" and "the 18th of October" keep their order."""
    month = words.MONTHS[_month_number(match["month"]) - 1]
    the = "" if match["the"] is None else match["the"]
    of = "of " if the or match["of"] else ""
    said = f"{the}{words.ordinal(int(match['day']))} {of}{month}"
    return f"{said} {words.year(int(match['year']))}" if match["year"] else said


def _twelve_hour(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = match["half"].lower()
    if not 1 <= hour <= 12:
        hour, half = (hour, "p") if hour > 12 else (hour, half)  # "15:00 PM"
    else:
        hour = hour % 12 + (12 if half == "p" else 0)
    said = words.clock(hour, minute, f"{half}.m.")
    if match["first"]:
        said = f"{_bare_time(match['first'])} to {said}"
    # The full stop of "p.m." also ended the sentence, which noon and midnight then lack.
    return said if said.endswith(".") or not _ends_sentence(match) else said + "."


def _ends_sentence(match: re.Match[str]) -> bool:
    return match.group().endswith(".") and not match.string[match.end() :].strip()


def _bare_time(text: str) -> str:
    hour, _, minute = re.sub(r"[^\d:.]", "", text).replace(".", ":").partition(":")
    said = words.cardinal(int(hour))
    if minute.strip(":") and int(minute):
        said += f" {'oh ' if int(minute) < 10 else ''}{words.cardinal(int(minute))}"
    return said


def _clock_time(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    # Only the 24-hour clock says which half of the day: "15:00", "07:30", but not "7:30".
    known = hour > 12 or hour == 0 or match["hour"].startswith("0") or (hour == 12)
    half = ("p.m." if hour >= 12 else "a.m.") if known else ""
    return words.clock(hour, minute, half)


def _money(match: re.Match[str]) -> str:
    groups = match.groupdict()
    unit, cent = _CURRENCIES[(groups.get("sign") or groups["code"]).lower()]
    whole = int(groups["whole"].replace(",", ""))
    fraction = groups.get("cents")
    if scale := groups.get("scale"):
        amount = words.cardinal(whole)
        if fraction:
            amount += f" point {words.digits(fraction)}"
        return f"{amount} {scale} {unit}s"
    cents = int(fraction.ljust(2, "0")) if fraction else 0
    said = f"{words.cardinal(whole)} {unit}{'' if whole == 1 else 's'}"
    if not cents:
        return said
    plural = "pence" if cent == "penny" else f"{cent}s"
    small = f"{words.cardinal(cents)} {cent if cents == 1 else plural}"
    return small if whole == 0 else f"{said} and {small}"


def _email(match: re.Match[str]) -> str:
    said = match.group()
    for symbol, word in (
        (".", "dot"),
        ("@", "at"),
        ("_", "underscore"),
        ("-", "dash"),
        ("+", "plus"),
    ):
        said = said.replace(symbol, f" {word} ")
    said = re.sub(r"\d", lambda digit: f" {words.digits(digit.group())} ", said)
    return " ".join(said.split())


def _url(match: re.Match[str]) -> str:
    said = re.sub(r"^https?://", "", match.group())
    tail = "."[: said.endswith(".")]
    said = said.rstrip("./")
    for symbol, word in ((".", "dot"), ("/", "slash"), ("-", "dash"), ("_", "underscore")):
        said = said.replace(symbol, f" {word} ")
    return " ".join(said.replace("www", "w w w").split()) + tail


def _phone(match: re.Match[str]) -> str:
    number = match.group()
    groups = [words.digits(group) for group in re.findall(r"\d+", number)]
    plus = "plus " if number.startswith("+") else ""
    return plus + ", ".join(groups)


def _reference(match: re.Match[str]) -> str:
    """Letters and digits one by one, in the groups as written or else in threes."""
    parts = [part for part in re.split(r"[-–]", match.group()) if part]
    if len(parts) == 1:
        whole = parts[0]
        parts = [whole[i : i + 3] for i in range(0, len(whole), 3)]
        if len(parts) > 1 and len(parts[-1]) == 1:  # never a lone last letter: 3 + 4
            parts[-2:] = [parts[-2] + parts[-1]]
    spelled = (
        " ".join(words.digits(char) if char.isdigit() else char.upper() for char in part)
        for part in parts
    )
    return ", ".join(spelled)


def _room_number(match: re.Match[str]) -> str:
    number = match["number"]
    if len(number) == 3:
        said = " ".join("oh" if digit == "0" else words.digits(digit) for digit in number)
        if number.endswith("00"):
            said = words.cardinal(int(number))
    elif len(number) == 4 and number[2:] != "00" and number[0] != "0":
        low = int(number[2:])
        said = f"{words.cardinal(int(number[:2]))} {'oh ' if low < 10 else ''}{words.cardinal(low)}"
    else:
        said = words.cardinal(int(number))
    return f"{match['room']} {said}"


def _number(match: re.Match[str]) -> str:
    text = match.group().replace(",", "")
    whole, _, fraction = text.partition(".")
    if len(whole) > 1 and whole.startswith("0"):
        said = words.digits(whole)
    elif len(whole) == 4 and 1900 <= int(whole) <= 2099 and "," not in match.group():
        said = words.year(int(whole))
    else:
        said = words.cardinal(int(whole))
    return f"{said} point {words.digits(fraction)}" if fraction else said


def _apart(say: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    """Keep what is said apart from letters that touched the digits ("3x", "B12c")."""

    def spaced(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()] if match.start() else ""
        after = match.string[match.end() : match.end() + 1]
        return f"{' ' * before.isalpha()}{say(match)}{' ' * after.isalpha()}"

    return spaced


_FRACTIONS = {"½": " and a half", "¼": " and a quarter", "¾": " and three quarters"}

_NUMERIC_DATES: dict[bool, list[Rule]] = {
    day_first: [
        (
            re.compile(
                r"(?<![\d/.-])(?P<first>0?[1-9]|[12]\d|3[01])(?P<sep>[/.-])(?P<second>0?[1-9]|[12]\d|3[01])"
                r"(?P=sep)(?P<year>(?:20)?\d\d)(?![\d/-])"
            ),
            _numeric_date(day_first),
        ),
        (
            re.compile(
                r"(?<![\d/.-])(?!24/7)(?P<first>0?[1-9]|[12]\d|3[01])/(?P<second>0?[1-9]|[12]\d|3[01])"
                r"(?P<year>)(?![\d/])"
            ),
            _numeric_date(day_first),
        ),
    ]
    for day_first in (False, True)
}

_RULES: list[Rule] = [
    # Addresses first, since their dots and digits mean something else everywhere below.
    (_compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), _email),
    (_compile(r"\b(?:https?://|www\.)[^\s,;!?]+"), _url),
    (
        _compile(
            r"(?<![\w.-])(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,4}\)\s?|\d{2,4}[\s.-])\d{3,4}[\s.-]\d{3,4}(?![\w-])"
        ),
        _phone,
    ),
    (_compile(r"(?<![\w.-])\+\d[\d\s().-]{5,}\d"), _phone),
    # Dates
    (_compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)(?:[T ]00:00(?::00)?Z?)?\b"), _iso_date),
    (
        _compile(
            rf"\b{_MONTH_NAME}\s(?:the\s)?{_DAY}(?:st|nd|rd|th)?"
            rf"(?:(?:{_TO}|\sto\s)(?P<last>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?)?"
            rf"(?:,?\s{_YEAR})?(?![\d:])"
        ),
        _named_date,
    ),
    (
        _compile(
            rf"\b(?P<the>the\s)?{_DAY}(?:st|nd|rd|th)?\s(?P<of>of\s)?{_MONTH_NAME}(?:,?\s{_YEAR})?(?!\w)"
        ),
        _day_and_month,
    ),
    (_compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b"), lambda m: words.ordinal(int(m[1]))),
    # Times
    (
        _compile(
            rf"(?:\b(?P<first>\d{{1,2}}(?:[:.]\d\d)?)(?:{_TO}|\sto\s))?"
            rf"\b(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d)(?::\d\d)?)?\s?{_HALF}"
        ),
        _twelve_hour,
    ),
    (
        _compile(
            r"\b(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\so'clock|\sh(?:rs|ours)?\b)?(?!\d)"
        ),
        _clock_time,
    ),
    (_compile(r"\b24/7\b"), "twenty-four seven"),
    # Money
    (
        _compile(
            r"(?P<sign>[$€£])\s?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<cents>\d{1,2}))?"
            r"(?:\s(?P<scale>thousand|million)\b)?(?!\d)(?:\s?(?:USD|EUR|GBP)\b)?"
        ),
        _money,
    ),
    (
        _compile(
            r"\b(?P<code>USD|EUR|GBP)\s?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<cents>\d{1,2}))?(?!\d)"
        ),
        _money,
    ),
    (
        _compile(
            r"(?<![\d.,])(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<cents>\d{1,2}))?\s?(?P<code>USD|EUR|GBP|€|£)(?!\w)"
        ),
        _money,
    ),
    # Rooms, references, numbers
    (
        _compile(
            r"\b(?P<room>rooms?|suites?)\s(?:no\.?\s?|number\s|#)?(?P<number>\d{1,4})\b(?![-/.,:]\d)"
        ),
        _room_number,
    ),
    (
        _compile(
            r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z0-9]+(?:[-–][A-Z0-9]+)*(?![\w-])(?<=....)", 0
        ),
        _reference,
    ),
    (_compile(r"(?<![\w-])(?=[\w]*\d)(?=[\w]*[A-Za-z])[A-Za-z0-9]{6,}(?![\w-])", 0), _reference),
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
    (_compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"), _apart(_number)),
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
