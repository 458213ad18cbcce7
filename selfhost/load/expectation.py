"""What a call should come to, and whether it did: pure rules over a booking and over words.

A caller says "October eighteenth", without a year, and the agent takes the next one that comes. So
what a call file expects of a date is a rule that is resolved on the day of the call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)

LEAP_CYCLE_YEARS = 8  # 29 February comes within eight years, also around 1900 or 2100


def _month_and_day(text: str) -> str:
    match = re.fullmatch(r"(\d{1,2})-(\d{1,2})", text)
    try:
        # A leap year, so that 29 February is allowed.
        date(2000, int(match[1]), int(match[2]))  # type: ignore[index]
    except (TypeError, ValueError):
        raise ValueError(f'expected a month and a day such as "10-18", got {text!r}') from None
    return text


class DateRule(BaseModel):
    """A date that depends on the day of the call.

    `next: "10-18"` is the first 18 October on or after today; with `after: check_in`, the first one
    after that date. `days: 3` is three days after today, or after the date that `after` names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    next: Annotated[str, AfterValidator(_month_and_day)] | None = None
    after: str | None = None
    days: int | None = None

    @model_validator(mode="after")
    def _one_way_of_saying_it(self) -> Self:
        if (self.next is None) == (self.days is None):
            raise ValueError('expected either next: "MM-DD" or days: N')
        return self


RULE, VALUE = "rule", "value"
Value = str | int | None


def _kind(value: Any) -> str:
    return RULE if isinstance(value, dict | DateRule) else VALUE


Expected = Annotated[
    Annotated[DateRule, Tag(RULE)] | Annotated[date | StrictInt | StrictStr | None, Tag(VALUE)],
    Discriminator(_kind),
]


def next_occurrence(month_and_day: str, on_or_after: date) -> date:
    """The first `MM-DD` that is not before `on_or_after`."""
    month, day = (int(part) for part in month_and_day.split("-"))
    for year in range(on_or_after.year, on_or_after.year + LEAP_CYCLE_YEARS + 1):
        try:
            candidate = date(year, month, day)
        except ValueError:  # 29 February in a common year
            continue
        if candidate >= on_or_after:
            return candidate
    raise ValueError(f"there is no {month_and_day} in any year")


def resolve(expected: Mapping[str, Expected], today: date) -> dict[str, Value]:
    """The booking that `expected` asks for, were the call made on `today`.

    Returns:
        For each field that is listed: a text, a number, an ISO date, or None for "must be empty".

    Raises:
        ValueError: a rule refers to a field that is not a date of this expectation, or in a circle.
    """

    def as_date(name: str, on_the_way: tuple[str, ...]) -> date:
        if name in on_the_way:
            raise ValueError(f"{' → '.join((*on_the_way, name))} refer to each other in a circle")
        rule = expected.get(name)
        if isinstance(rule, date):
            return rule
        if not isinstance(rule, DateRule):
            raise ValueError(f"after: {name} must name a date that is expected, got {rule!r}")
        start = as_date(rule.after, (*on_the_way, name)) if rule.after else today
        if rule.days is not None:
            return start + timedelta(days=rule.days)
        assert rule.next is not None  # the model allows one or the other
        return next_occurrence(rule.next, start + timedelta(days=1) if rule.after else start)

    return {
        name: as_date(name, ()).isoformat() if isinstance(value, DateRule | date) else value
        for name, value in expected.items()
    }


@dataclass(frozen=True)
class Failure:
    """One expectation that was not met: where, what was expected, what came."""

    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, got {self.got}"


def _plain(value: object) -> object:
    """Capitals and spacing are not heard, so they do not count."""
    return " ".join(value.split()).casefold() if isinstance(value, str) else value


def check_booking(
    expected: Mapping[str, Value], booking: Mapping[str, object] | None
) -> list[Failure]:
    """Compare the fields that are listed in `expected`; the others are free."""
    if expected and booking is None:
        return [Failure("booking", f"a booking with {', '.join(expected)}", "no booking at all")]
    return [
        Failure(f"booking.{name}", repr(value), repr(booking.get(name)))
        for name, value in expected.items()
        if booking is not None and _plain(value) != _plain(booking.get(name))
    ]


def check_includes(where: str, patterns: Sequence[str], text: str) -> list[Failure]:
    """Each pattern, a case-insensitive regular expression, must be found in `text`."""
    return [
        Failure(where, f"words that match {pattern!r}", repr(text))
        for pattern in patterns
        if not re.search(pattern, text, re.IGNORECASE)
    ]


def check_never(where: str, patterns: Sequence[str], text: str) -> list[Failure]:
    """No pattern, a case-insensitive regular expression, may be found in `text`."""
    return [
        Failure(where, f"nothing that matches {pattern!r}", repr(match[0]))
        for pattern in patterns
        if (match := re.search(pattern, text, re.IGNORECASE))
    ]
