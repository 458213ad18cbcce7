"""From what was said of a date to the date: the one that a person would take it for.

Everything is the next future occurrence, except where the stay that is known says otherwise. A date
that cannot be is returned as the reason why.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from agent.booking.heard import ProblemKind
from agent.booking.mention import Mention, Shape

_MONTHS_LOOKED_AHEAD = 14
_LAST_YEAR = 2199  # a later one is a slip of the recogniser's, and no date that exists here


@dataclass(frozen=True)
class Impossible:
    """Why a mention is no date to take; `value` is the date that it would be, if there is one."""

    kind: ProblemKind
    value: date | None = None
    month: int | None = None


Resolved = date | Impossible


@dataclass(frozen=True)
class Resolver:
    """What decides which date a mention is.

    Attributes:
        today: the earliest check-in.
        max_nights: the longest stay.
        old: the check-in that a new one would correct; a day alone is then in its month.
        month: the month (1 to 12) that the caller gave earlier without a day.
    """

    today: date
    max_nights: int
    old: date | None = None
    month: int | None = None

    def check_in(self, mention: Mention, *, check_out: date | None) -> Resolved:
        """The check-in date that was meant, given the check-out that stands."""
        if mention.shape in (Shape.MONTH, Shape.WEEK):
            return Impossible(ProblemKind.DATE_INCOMPLETE, mention.exact, mention.month)
        if mention.month is None and mention.exact is None and self.old is None:
            mention = replace(mention, month=self.month)
        dates = _occurrences(mention, self.old or self.today, self.today)
        if isinstance(dates, Impossible):
            return dates
        future = [day for day in dates if day >= self.today]
        if not future:
            return Impossible(ProblemKind.DATE_IN_PAST, dates[-1])
        if self.old is not None:
            return self._corrected(future, mention, self.old, check_out)
        staying = [day for day in future if check_out and self.is_stay(day, check_out)]
        return staying[-1] if staying else future[0]

    def check_out(self, mention: Mention, *, check_in: date | None) -> Resolved:
        """The check-out date that was meant: the first one after the check-in."""
        if mention.shape in (Shape.MONTH, Shape.WEEK):
            return Impossible(ProblemKind.DATE_INCOMPLETE, mention.exact, mention.month)
        after = check_in or self.today
        dates = _occurrences(mention, after, after)
        if isinstance(dates, Impossible):
            return dates
        later = [day for day in dates if day > after]
        earlier = [day for day in dates if day <= after]
        if check_in is None:
            return later[0] if later else Impossible(ProblemKind.DATE_IN_PAST, dates[-1])
        if not later:
            past = earlier[-1] < self.today
            kind = ProblemKind.DATE_IN_PAST if past else ProblemKind.CHECK_OUT_NOT_AFTER_CHECK_IN
            return Impossible(kind, earlier[-1])
        # "From the twentieth to the sixteenth": taken forward it would be a stay of weeks.
        nights = (later[0] - check_in).days
        if earlier and nights > self.max_nights and (check_in - earlier[-1]).days < nights:
            return Impossible(ProblemKind.CHECK_OUT_NOT_AFTER_CHECK_IN, earlier[-1])
        return later[0]

    def is_stay(self, check_in: date, check_out: date) -> bool:
        """Whether one can stay from the one date to the other."""
        return 0 < (check_out - check_in).days <= self.max_nights

    def _corrected(
        self, future: list[date], mention: Mention, old: date, check_out: date | None
    ) -> date:
        """What takes the place of `old`: a day alone keeps its month, or the check-out's."""
        nearest = min(future, key=lambda day: (abs((day - old).days), day))
        if mention.day is None or mention.month is not None:
            return nearest
        months = [(day.year, day.month) for day in (old, check_out) if day is not None]
        kept = [day for month in months for day in future if (day.year, day.month) == month]
        staying = [day for day in kept if check_out and self.is_stay(day, check_out)]
        return (staying or kept or [nearest])[0]


def with_month_of(mention: Mention, check_out: Mention, max_nights: int) -> Mention:
    """A check-in's mention, completed from its check-out's: "from the 16th to the 20th of October".

    A day that is later in the month than the check-out's is in the month before, unless the stay
    would then be over the hotel's limit.
    """
    if mention.month is not None or check_out.month is None or mention.day is None:
        return mention
    if check_out.day is None or mention.day < check_out.day:
        return replace(mention, month=check_out.month, year=check_out.year)
    month, year = check_out.month - 1 or 12, check_out.year
    if year is not None and month == 12:
        year -= 1
    # The shortest month that it can be, as the year is not settled.
    days = 31 if month in (1, 3, 5, 7, 8, 10, 12) else 30 if month != 2 else 28
    if days - mention.day + check_out.day > max_nights:
        return replace(mention, month=check_out.month, year=check_out.year)
    return replace(mention, month=month, year=year)


def _occurrences(mention: Mention, anchor: date, earliest: date) -> list[date] | Impossible:
    """The dates that a mention can be, in order; from a month before the anchor on."""
    if mention.exact is not None:
        return [mention.exact + timedelta(days=mention.shift_days)]
    if mention.day is None:
        assert mention.weekday is not None
        start = anchor + timedelta(days=(mention.weekday - anchor.weekday()) % 7)
        days = [start + timedelta(weeks=weeks) for weeks in (-1, 0, 1)]
        # "On Friday", said on a Friday, is the next one.
        days = [day for day in days if day != earliest]
        return [day + timedelta(days=mention.shift_days) for day in days]
    if mention.month is not None:
        years = (mention.year,) if mention.year else range(earliest.year - 1, anchor.year + 2)
        found = list(_existing((year, mention.month, mention.day) for year in years))
    else:
        months = (
            divmod(anchor.year * 12 + anchor.month - 1 + offset, 12)
            for offset in range(-1, _MONTHS_LOOKED_AHEAD)
        )
        found = list(_existing((year, month + 1, mention.day) for year, month in months))
    if not found:
        return Impossible(ProblemKind.DATE_DOES_NOT_EXIST)
    found = [day + timedelta(days=mention.shift_days) for day in found]
    return found if mention.weekday is None else _on_weekday(found, mention, earliest)


def _on_weekday(found: list[date], mention: Mention, start: date) -> list[date] | Impossible:
    """Those of the next few that are on the weekday that was said with the day."""
    near = [day for day in found if day >= start][: 1 if mention.month is not None else 3]
    fitting = [day for day in near if day.weekday() == mention.weekday]
    if fitting or not near:
        return fitting or found
    return Impossible(ProblemKind.WEEKDAY_MISMATCH, near[0])


def _existing(parts: Iterable[tuple[int, int, int]]) -> Iterator[date]:
    for year, month, day in parts:
        if year <= _LAST_YEAR and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
            yield date(year, month, day)
