"""A date as it was said.

What was said is not yet a date: "the sixteenth" has a day and no month. Which date it is, and what
it is for, is decided from the whole turn and from what is known (`stay.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Shape(StrEnum):
    """What kind of thing a mention names."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"  # a week without its day
    MONTH = "month"  # a month without its day


@dataclass(frozen=True)
class Mention:
    """One date as it was said; what was not said is None.

    `exact` is a date that needs nothing more ("tomorrow", "next Friday"); of a weekend it is the
    Friday, of a week the Monday. `shift_days` is to be added ("the day after Christmas"). `bare` is
    a number that is a day only where a date was asked for ("sixteen").
    """

    first: int
    last: int
    shape: Shape = Shape.DAY
    day: int | None = None
    month: int | None = None
    year: int | None = None
    weekday: int | None = None
    exact: date | None = None
    shift_days: int = 0
    bare: bool = False
