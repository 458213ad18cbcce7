"""How each kind of written value is said; the replacements of `speakable`'s rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from agent.speech import words

_CURRENCIES = {
    "$": ("dollar", "cent"),
    "usd": ("dollar", "cent"),
    "€": ("euro", "cent"),
    "eur": ("euro", "cent"),
    "£": ("pound", "penny"),
    "gbp": ("pound", "penny"),
}


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(words.MONTHS, 1) if month[:3] == name[:3].capitalize())


def _date_words(month: int, day: int, year: int | None) -> str:
    said = f"{words.MONTHS[month - 1]} {words.ordinal(day)}"
    return f"{said}, {words.year(year)}" if year else said


def iso_date(match: re.Match[str]) -> str:
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    try:
        date(year, month, day)
    except ValueError:
        return match.group()  # not a date: left to the rules for numbers
    return _date_words(month, day, year)


def numeric_date(day_first: bool) -> Callable[[re.Match[str]], str]:
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


def named_date(match: re.Match[str]) -> str:
    month = words.MONTHS[_month_number(match["month"]) - 1]
    said = f"{month} {words.ordinal(int(match['day']))}"
    if last := match.groupdict().get("last"):
        said += f" to {words.ordinal(int(last))}"
    if year := match.groupdict().get("year"):
        said += f", {words.year(int(year))}"
    return said


def day_and_month(match: re.Match[str]) -> str:
    """ "18 October" and "the 18th of October" keep their order."""
    month = words.MONTHS[_month_number(match["month"]) - 1]
    the = "" if match["the"] is None else match["the"]
    of = "of " if the or match["of"] else ""
    said = f"{the}{words.ordinal(int(match['day']))} {of}{month}"
    return f"{said} {words.year(int(match['year']))}" if match["year"] else said


def twelve_hour(match: re.Match[str]) -> str:
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


def clock_time(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    # Only the 24-hour clock says which half of the day: "15:00", "07:30", but not "7:30".
    known = hour > 12 or hour == 0 or match["hour"].startswith("0") or (hour == 12)
    half = ("p.m." if hour >= 12 else "a.m.") if known else ""
    return words.clock(hour, minute, half)


def money(match: re.Match[str]) -> str:
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


def email(match: re.Match[str]) -> str:
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


def url(match: re.Match[str]) -> str:
    said = re.sub(r"^https?://", "", match.group())
    tail = "."[: said.endswith(".")]
    said = said.rstrip("./")
    for symbol, word in ((".", "dot"), ("/", "slash"), ("-", "dash"), ("_", "underscore")):
        said = said.replace(symbol, f" {word} ")
    return " ".join(said.replace("www", "w w w").split()) + tail


def phone(match: re.Match[str]) -> str:
    number = match.group()
    groups = [words.digits(group) for group in re.findall(r"\d+", number)]
    plus = "plus " if number.startswith("+") else ""
    return plus + ", ".join(groups)


def reference(match: re.Match[str]) -> str:
    """Letters and digits one by one, in the groups as written or else in threes."""
    parts = [part for part in re.split(r"[-–]", match.group()) if part]
    if len(parts) == 1:
        whole = parts[0]
        parts = [whole[i : i + 3] for i in range(0, len(whole), 3)]
        if len(parts) > 1 and len(parts[-1]) == 1:  # never a lone last letter: 3 + 4
            parts[-2:] = [parts[-2] + parts[-1]]
    return ", ".join(_one_by_one(part) for part in parts)


def spelled(match: re.Match[str]) -> str:
    """What is spelled already, with spaces or hyphens between: "K 7 4", "R-A-M-A-N"."""
    return _one_by_one(re.sub(r"[ -]", "", match.group()))


def _one_by_one(chars: str) -> str:
    said = [words.digits(char) if char.isdigit() else char.upper() for char in chars]
    # Before another word, a voice reads a lone "A" as in "a room"; a comma makes it the letter.
    return " ".join(f"{char}," if char == "A" else char for char in said).removesuffix(",")


def room_number(match: re.Match[str]) -> str:
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


def number(match: re.Match[str]) -> str:
    text = match.group().replace(",", "")
    whole, _, fraction = text.partition(".")
    if len(whole) > 1 and whole.startswith("0"):
        said = words.digits(whole)
    elif len(whole) == 4 and 1900 <= int(whole) <= 2099 and "," not in match.group():
        said = words.year(int(whole))
    else:
        said = words.cardinal(int(whole))
    return f"{said} point {words.digits(fraction)}" if fraction else said


def apart(say: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    """Keep what is said apart from letters that touched the digits ("3x", "B12c")."""

    def spaced(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()] if match.start() else ""
        after = match.string[match.end() : match.end() + 1]
        return f"{' ' * before.isalpha()}{say(match)}{' ' * after.isalpha()}"

    return spaced
