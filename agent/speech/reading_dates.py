"""Reads a date out of a spoken text: "Saturday, the eighteenth of October", "the fourth"."""

from __future__ import annotations

from agent.speech.mentions import DateMention
from agent.speech.tokens import Tokens
from agent.speech.words import MONTHS, TENS, UNITS, WEEKDAYS, vocabulary

_MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_WEEKDAY_NUMBERS = {name.lower(): number for number, name in enumerate(WEEKDAYS)}
_WEEKDAY_NUMBERS |= {f"{name}s": number for name, number in tuple(_WEEKDAY_NUMBERS.items())}
_OFFSETS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_WHICH_PERIOD = vocabulary("next this last coming following")
_PERIODS = vocabulary("week weekend fortnight month year summer winter spring autumn")
_NAMED_DAYS = {
    ("new", "year's", "eve"): (12, 31),
    ("new", "year's", "day"): (1, 1),
    ("new", "year's"): (1, 1),
    ("christmas", "eve"): (12, 24),
    ("christmas", "day"): (12, 25),
    ("christmas",): (12, 25),
    ("boxing", "day"): (12, 26),
    ("valentine's", "day"): (2, 14),
    ("halloween",): (10, 31),
}

_VERBS_TOO = vocabulary("may march")  # months only where a date is plainly meant
_BEFORE_MONTH = vocabulary("in of this next last until from by since early late mid")
# After "the fourth": then it is no day of a month.
_RANKED = vocabulary(
    "floor floors name names time times night nights room rooms guest guests person people "
    "thing things question step steps option choice one ones class street avenue place part "
    "point attempt bed beds party language year day visit child adult"
)
# After "the first", "the second", "the third", for it to be a day of a month.
_AFTER_DAY = vocabulary(
    "to through thru until till and or for of at instead is as with if correct right in on then "
    "checking leaving arriving departing staying"
)
_BEFORE_DAY = vocabulary("the to through until and from on")

# Month, day and year as far as they were said, and the position after them.
_Parts = tuple[int | None, int | None, int | None, int]


def date_at(tokens: Tokens, index: int) -> tuple[DateMention, int] | None:
    """The date whose words begin here, and the position after them."""
    word = tokens.word(index)
    if word in _OFFSETS:
        end = index + 1
        return DateMention(*tokens.span(index, end), offset=_OFFSETS[word]), end
    if word in _WHICH_PERIOD and tokens.word(index + 1) in _PERIODS:
        end = index + 2
        return DateMention(*tokens.span(index, end), vague=True), end
    for name, (month, day) in _NAMED_DAYS.items():
        end = index + len(name)
        if all(tokens.word(index + place) == part for place, part in enumerate(name)):
            return DateMention(*tokens.span(index, end), month=month, day=day), end
    weekday = _WEEKDAY_NUMBERS.get(word)
    at = index
    if weekday is not None:
        at += 1
        at += tokens.word(at) == ","
        at += tokens.word(at) == "the"
    parts = _month_first(tokens, at) or _day_first(tokens, at, bare=weekday is None)
    if parts is None:
        if weekday is None:
            return None
        return DateMention(*tokens.span(index, index + 1), weekday=weekday), index + 1
    month_said, day_said, year, end = parts
    span = tokens.span(index, end)
    return DateMention(*span, month=month_said, day=day_said, year=year, weekday=weekday), end


def _month_first(tokens: Tokens, at: int) -> _Parts | None:
    """ "October eighteenth, twenty twenty-five", "October"."""
    month = _MONTH_NUMBERS.get(tokens.word(at))
    if month is None:
        return None
    after = at + 1
    if year := _year(tokens, after):
        return month, None, *year
    the = tokens.word(after) == "the"
    if said := _day(tokens, after + the):
        day, after = said
        comma = tokens.word(after) == ","
        if year := _year(tokens, after + comma):
            return month, day, *year
        return month, day, None, after
    if tokens.word(at) in _VERBS_TOO and tokens.word(at - 1) not in _BEFORE_MONTH:
        return None
    return month, None, None, after


def _day_first(tokens: Tokens, at: int, *, bare: bool) -> _Parts | None:
    """ "the eighteenth of October", "the eighteenth"."""
    ranked = tokens.ordinal(at)
    if ranked is None or ranked[0] > 31:
        return _cardinal_and_month(tokens, at)
    day, after = ranked
    of = tokens.word(after) == "of"
    month = _MONTH_NUMBERS.get(tokens.word(after + of))
    if month is not None and (of or tokens.word(after) not in _VERBS_TOO):
        after += of + 1
        comma = tokens.word(after) == ","
        if year := _year(tokens, after + comma):
            return month, day, *year
        return month, day, None, after
    following, before = tokens.word(after), tokens.word(at - 1)
    if following in _RANKED or before in ("your", "my", "our", "their"):
        return None
    # "first", "second" and "third" are days of a month only where nothing else can be meant.
    dated = before in _BEFORE_DAY and (not following.isalpha() or following in _AFTER_DAY)
    if day <= 3 and bare and not dated:
        return None
    return None, day, None, after


def _cardinal_and_month(tokens: Tokens, at: int) -> _Parts | None:
    """ "eighteen October"."""
    number = tokens.cardinal(at)
    if number is None or not 1 <= number[0] <= 31:
        return None
    month = _MONTH_NUMBERS.get(tokens.word(number[1]))
    if month is None or tokens.word(number[1]) in _VERBS_TOO:
        return None
    year = _year(tokens, number[1] + 1)
    return (month, number[0], *year) if year else (month, number[0], None, number[1] + 1)


def _day(tokens: Tokens, at: int) -> tuple[int, int] | None:
    said = tokens.ordinal(at) or tokens.cardinal(at)
    return said if said and 1 <= said[0] <= 31 else None


def _year(tokens: Tokens, at: int) -> tuple[int, int] | None:
    """ "twenty twenty-five", "nineteen oh five", "two thousand five"."""
    word = tokens.word(at)
    if word == "two" and tokens.word(at + 1) == "thousand":
        return tokens.cardinal(at)
    if word not in ("nineteen", "twenty"):
        return None
    century = UNITS.get(word) or TENS[word]
    oh = tokens.word(at + 1) == "oh"
    rest = tokens.cardinal(at + 1 + oh)
    if rest is None or not (oh or 10 <= rest[0] <= 99):
        return None
    return century * 100 + rest[0], rest[1]
