"""The values that a spoken text mentions: dates, times, amounts, counts and spelled codes.

It reads only words (see `speakable`), since that is what the caller will hear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from agent.speech.words import (
    DIGITS,
    MONTHS,
    ORDINALS,
    TENS,
    UNITS,
    WEEKDAYS,
    read_cardinal,
    vocabulary,
)


@dataclass(frozen=True)
class Mention:
    """A value in a text: its words and where they stand, as character offsets."""

    words: str
    start: int
    end: int


@dataclass(frozen=True)
class DateMention(Mention):
    """A date, or as much of one as was said; `weekday` is 0 for Monday, `offset` days from today."""

    month: int | None = None
    day: int | None = None
    year: int | None = None
    weekday: int | None = None
    offset: int | None = None


@dataclass(frozen=True)
class TimeMention(Mention):
    """A time of day: `hour` 0 to 11, `half` "a" or "p" where it was said."""

    hour: int
    minute: int
    half: str | None


@dataclass(frozen=True)
class AmountMention(Mention):
    """Money, a percentage or a temperature; `number` as said, `unit` in the singular."""

    number: str
    unit: str


@dataclass(frozen=True)
class CountMention(Mention):
    """A plain number and what it counts: "guest", "night", "room", another noun, or ""."""

    number: int
    unit: str


@dataclass(frozen=True)
class CodeMention(Mention):
    """Letters and digits one by one: a reference, a telephone number, a spelled name."""

    code: str


@dataclass(frozen=True)
class _Token:
    text: str  # in lower case
    raw: str
    start: int
    end: int


_TOKEN = re.compile(r"[ap]\.m\.|[^\W\d_]+(?:['’][^\W\d_]+)*|[.,;:!?]", re.IGNORECASE)

_MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_WEEKDAY_NUMBERS = {name.lower(): number for number, name in enumerate(WEEKDAYS)}
_WEEKDAY_NUMBERS |= {f"{name}s": number for name, number in tuple(_WEEKDAY_NUMBERS.items())}
_VERBS_TOO = frozenset(("may", "march"))  # months only where a date is plainly meant
_BEFORE_MONTH = vocabulary("in of this next last until from by since early late mid")
_OFFSETS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}

NATO = {
    word: word[0].upper()
    for word in [
        "alpha",
        "alfa",
        "bravo",
        "charlie",
        "delta",
        "echo",
        "foxtrot",
        "golf",
        "hotel",
        "india",
        "juliet",
        "juliett",
        "kilo",
        "lima",
        "mike",
        "november",
        "oscar",
        "papa",
        "quebec",
        "romeo",
        "sierra",
        "tango",
        "uniform",
        "victor",
        "whiskey",
        "xray",
        "yankee",
        "zulu",
    ]
}
_CURRENCY = {
    word: unit
    for unit in ("dollar", "euro", "pound", "cent", "percent", "degree")
    for word in (unit, f"{unit}s")
} | {"pence": "cent", "penny": "cent", "bucks": "dollar"}

_UNITS_COUNTED = {
    "guest": "guest guests person persons people adult adults child children kid kids toddler "
    "toddlers infant infants baby babies traveller travellers traveler travelers visitors",
    "night": "night nights",
    "room": "room rooms",
}
_COUNTED = {word: unit for unit, words in _UNITS_COUNTED.items() for word in words.split()}

# After "the fourth": then it is no day of a month.
_RANKED = vocabulary(
    "floor floors name names time times night nights room rooms guest guests person people thing "
    "things question step steps option choice one ones class street avenue place part point attempt "
    "bed beds party language year day visit child adult to-last"
)
# After "the first", "the second", "the third", for it to be a day of a month.
_AFTER_DAY = vocabulary(
    "to through thru until till and or for of at instead is as with if correct right in on then "
    "checking leaving arriving departing staying"
)


@lru_cache(maxsize=2048)
def mentions(text: str) -> tuple[Mention, ...]:
    """Every value in `text`, in the order of its words; they never overlap."""
    tokens = [
        _Token(match.group().lower().replace("’", "'"), match.group(), *match.span())
        for match in _TOKEN.finditer(text)
    ]
    return tuple(_Reader(text, tokens).read())


class _Reader:
    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self._text = text
        self._tokens = tokens

    def read(self) -> list[Mention]:
        found: list[Mention] = []
        index = 0
        readers: tuple[Callable[[int], tuple[Mention, int] | None], ...] = (
            self._code,
            self._date,
            self._time,
            self._number,
        )
        while index < len(self._tokens):
            for reader in readers:
                if result := reader(index):
                    found.append(result[0])
                    index = result[1]
                    break
            else:
                index += 1
        return found

    def _word(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ""

    def _span(self, first: int, after: int) -> tuple[str, int, int]:
        start, end = self._tokens[first].start, self._tokens[after - 1].end
        return self._text[start:end], start, end

    # Codes

    def _code(self, index: int) -> tuple[Mention, int] | None:
        code, at, end, nato = "", index, index, 0
        while at < len(self._tokens):
            word, raw = self._tokens[at].text, self._tokens[at].raw
            if word in DIGITS:
                code += DIGITS[word]
            elif len(raw) == 1 and raw.isalpha() and (raw.isupper() or (code and word not in "ai")):
                if raw == "I" and not code:
                    break
                code += raw.upper()
            elif word in NATO and (code or word not in ("hotel", "november")):
                code += NATO[word]
                nato += 1
            elif code and word in (",", "dash", "hyphen") and at == end:
                at += 1
                continue
            else:
                break
            at += 1
            end = at
        if len(code) < 3 or nato == len(code) < 4:
            return None
        if code.isdigit() and len(code) == 3 and self._looks_like_time(index, end):
            return None
        if code.isdigit() and self._word(end) in (*TENS, "hundred", "thousand", "point", "percent"):
            return None
        return CodeMention(*self._span(index, end), code), end

    def _looks_like_time(self, index: int, end: int) -> bool:
        """ "three oh five" is a time, unless it is the number of a room."""
        return self._word(index + 1) == "oh" and (
            self._word(end) in ("a.m.", "p.m.")
            or self._word(index - 1) not in ("room", "suite", "number", "extension")
        )

    # Dates

    def _date(self, index: int) -> tuple[Mention, int] | None:
        word = self._word(index)
        if word in _OFFSETS:
            return DateMention(*self._span(index, index + 1), offset=_OFFSETS[word]), index + 1
        weekday = _WEEKDAY_NUMBERS.get(word)
        at = index
        if weekday is not None:
            at += 1
            at += self._word(at) == ","
            at += self._word(at) == "the"
        result = self._month_first(at) or self._day_first(at, bare=weekday is None)
        if result is None:
            if weekday is None:
                return None
            return DateMention(*self._span(index, index + 1), weekday=weekday), index + 1
        month, day, year, end = result
        span = self._span(index, end)
        return DateMention(*span, month=month, day=day, year=year, weekday=weekday), end

    def _month_first(self, at: int) -> tuple[int, int | None, int | None, int] | None:
        month = _MONTH_NUMBERS.get(self._word(at))
        if month is None:
            return None
        after = at + 1
        day = None
        year = self._year(after)
        if year is None:
            the = self._word(after) == "the"
            if said := self._day(after + the):
                day, after = said
                comma = self._word(after) == ","
                year = self._year(after + comma)
        if day is None and year is None and self._word(at) in _VERBS_TOO:
            if self._word(at - 1) not in _BEFORE_MONTH:
                return None
        if year:
            return month, day, year[0], year[1]
        return month, day, None, after

    def _day_first(self, at: int, *, bare: bool) -> tuple[int | None, int, int | None, int] | None:
        ranked = self._ordinal(at)
        if ranked is None or ranked[0] > 31:
            return self._cardinal_and_month(at)
        day, after = ranked
        of = self._word(after) == "of"
        month = _MONTH_NUMBERS.get(self._word(after + of))
        if month is not None and (of or self._word(after) not in _VERBS_TOO):
            after += of + 1
            comma = self._word(after) == ","
            if year := self._year(after + comma):
                return month, day, *year
            return month, day, None, after
        following, before = self._word(after), self._word(at - 1)
        if following in _RANKED or before in ("your", "my", "our", "their"):
            return None
        if day <= 3 and bare:
            dated = before in ("the", "to", "through", "until", "and", "from", "on")
            if not dated or not (not following.isalpha() or following in _AFTER_DAY):
                return None
        return None, day, None, after

    def _cardinal_and_month(self, at: int) -> tuple[int, int, int | None, int] | None:
        number = self._cardinal(at)
        if number is None or not 1 <= number[0] <= 31:
            return None
        month = _MONTH_NUMBERS.get(self._word(number[1]))
        if month is None or self._word(number[1]) in _VERBS_TOO:
            return None
        year = self._year(number[1] + 1)
        return (month, number[0], *year) if year else (month, number[0], None, number[1] + 1)

    def _day(self, at: int) -> tuple[int, int] | None:
        said = self._ordinal(at) or self._cardinal(at)
        return said if said and 1 <= said[0] <= 31 else None

    def _year(self, at: int) -> tuple[int, int] | None:
        word = self._word(at)
        if word == "two" and self._word(at + 1) == "thousand":
            return self._cardinal(at)
        if word not in ("nineteen", "twenty"):
            return None
        century = UNITS.get(word) or TENS[word]
        after = at + 1
        oh = self._word(after) == "oh"
        rest = self._cardinal(after + oh)
        if rest is None or not (oh or 10 <= rest[0] <= 99):
            return None
        return century * 100 + rest[0], rest[1]

    # Times and numbers

    def _time(self, index: int) -> tuple[Mention, int] | None:
        word = self._word(index)
        if word in ("noon", "midnight"):
            half = "p" if word == "noon" else "a"
            return TimeMention(*self._span(index, index + 1), 0, 0, half), index + 1
        if word in ("half", "quarter") and self._word(index + 1) in ("past", "to"):
            hour = self._cardinal(index + 2)
            if hour is None or not 1 <= hour[0] <= 12:
                return None
            minutes = 30 if word == "half" else 15
            total = hour[0] * 60 + (minutes if self._word(index + 1) == "past" else -minutes)
            return self._timed(index, hour[1], total // 60, total % 60)
        hour = self._cardinal(index)
        if hour is None or not 1 <= hour[0] <= 12:
            return None
        after = hour[1]
        oh = self._word(after) == "oh"
        minute = self._cardinal(after + oh)
        if minute and (oh or 10 <= minute[0] <= 59) and minute[0] <= 59:
            if self._word(minute[1]) in (*_CURRENCY, *_COUNTED, "hundred", "thousand"):
                return None
            return self._timed(index, minute[1], hour[0], minute[0])
        if self._word(after) in ("a.m.", "p.m.", "o'clock") or self._half_in_words(after):
            return self._timed(index, after, hour[0], 0)
        return None

    def _timed(self, index: int, after: int, hour: int, minute: int) -> tuple[Mention, int]:
        half = None
        after += self._word(after) == "o'clock"
        if self._word(after) in ("a.m.", "p.m."):
            half = self._word(after)[0]
            after += 1
        elif in_words := self._half_in_words(after):
            half, after = in_words
        return TimeMention(*self._span(index, after), hour % 12, minute, half), after

    def _half_in_words(self, at: int) -> tuple[str, int] | None:
        if self._word(at) == "in" and self._word(at + 1) == "the":
            half = {"morning": "a", "afternoon": "p", "evening": "p"}.get(self._word(at + 2))
            return (half, at + 3) if half else None
        return None

    def _number(self, index: int) -> tuple[Mention, int] | None:
        number = self._cardinal(index)
        if number is None:
            return None
        value, after = number
        text = str(value)
        if self._word(after) == "point" and self._word(after + 1) in DIGITS:
            text += "."
            after += 1
            while self._word(after) in DIGITS:
                text += DIGITS[self._word(after)]
                after += 1
        if unit := _CURRENCY.get(self._word(after)):
            return AmountMention(*self._span(index, after + 1), text, unit), after + 1
        if "." in text:
            return AmountMention(*self._span(index, after), text, ""), after
        counted = self._word(after)
        if self._word(after) == "of" and self._word(after + 1) in ("you", "us"):
            return CountMention(*self._span(index, after + 2), value, "guest"), after + 2
        for skipped in (0, 1, 2):
            word = self._word(after + skipped)
            if not word.isalpha() or word in ("and", "or", "to", "for", "in", "with", "from"):
                break
            if word in _COUNTED:
                end = after + skipped + 1
                return CountMention(*self._span(index, end), value, _COUNTED[word]), end
        return CountMention(*self._span(index, after), value, counted), after

    def _cardinal(self, at: int) -> tuple[int, int] | None:
        said = read_cardinal([token.text for token in self._tokens[at : at + 12]])
        return (said[0], at + said[1]) if said else None

    def _ordinal(self, at: int) -> tuple[int, int] | None:
        word, following = self._word(at), self._word(at + 1)
        if word in TENS and (unit := ORDINALS.get(following)) and unit < 10:
            return TENS[word] + unit, at + 2
        number = ORDINALS.get(word)
        return (number, at + 1) if number else None
