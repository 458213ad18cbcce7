"""Dates by how far they are: "tomorrow", "next Friday", "a week from Monday", "this weekend"."""

from __future__ import annotations

from datetime import date, timedelta

from agent.booking.calendar_dates import CalendarDates
from agent.booking.calendar_words import FRIDAY, WEEKDAY_NUMBERS
from agent.booking.mention import Mention, Shape
from agent.booking.numbers import cardinal_at
from agent.booking.tokens import Utterance

_DAYS_FROM_TODAY = (
    (("the", "day", "after", "tomorrow"), 2),
    (("day", "after", "tomorrow"), 2),
    (("tomorrow", "week"), 8),
    (("tomorrow", "night"), 1),
    (("tomorrow", "evening"), 1),
    (("tomorrow",), 1),
    (("today",), 0),
    (("tonight",), 0),
    (("this", "evening"), 0),
    (("yesterday",), -1),
)
_WEEKS = (
    (("the", "week", "after", "next"), 2, Shape.WEEK),
    (("week", "after", "next"), 2, Shape.WEEK),
    (("the", "weekend", "after", "next"), 2, Shape.WEEKEND),
    (("the", "weekend", "after", "this"), 1, Shape.WEEKEND),
    (("next", "weekend"), 1, Shape.WEEKEND),
    (("this", "weekend"), 0, Shape.WEEKEND),
    (("this", "coming", "weekend"), 0, Shape.WEEKEND),
    (("the", "coming", "weekend"), 0, Shape.WEEKEND),
    (("the", "weekend"), 0, Shape.WEEKEND),
    (("next", "week"), 1, Shape.WEEK),
    (("this", "week"), 0, Shape.WEEK),
)
_DAYS_OF_UNIT = {"day": 1, "days": 1, "week": 7, "weeks": 7, "fortnight": 14}


class RelativeDates:
    """Reads the mention of a date that starts at a token, or gives None.

    Args:
        utterance: the turn.
        today: what is counted from.
        calendar: reads the day that may follow a weekday ("Friday the sixteenth").
    """

    def __init__(self, utterance: Utterance, *, today: date, calendar: CalendarDates) -> None:
        self._utterance = utterance
        self._words = utterance.words
        self._today = today
        self._calendar = calendar

    def from_today(self, index: int) -> Mention | None:
        """ "Tomorrow", "in three days", "a week from Friday"."""
        for phrase, days in _DAYS_FROM_TODAY:
            if self._utterance.match(index, phrase):
                exact = self._today + timedelta(days=days)
                return Mention(index, index + len(phrase) - 1, exact=exact)
        return self._in_some_days(index) or self._some_weeks_from(index)

    def week(self, index: int) -> Mention | None:
        """ "This weekend", "the week after next", "next week on Friday"."""
        for phrase, weeks, shape in _WEEKS:
            if not self._utterance.match(index, phrase):
                continue
            last = index + len(phrase) - 1
            if shape is Shape.WEEKEND:
                return Mention(index, last, shape=shape, exact=self._in_week(weeks, FRIDAY))
            day_at = last + (2 if self._utterance.word(last + 1) in ("on", ",") else 1)
            day = self.weekday(day_at)
            if day is not None and day.day is None and day.weekday is not None:
                exact = self._in_week(weeks, day.weekday)
                return Mention(index, day.last, weekday=day.weekday, exact=exact)
            return Mention(index, last, shape=shape, exact=self._in_week(weeks, 0))
        return None

    def weekday(self, index: int) -> Mention | None:
        """ "Friday", "next Friday", "Friday the sixteenth of October", "Friday week"."""
        start = index
        which = self._utterance.word(index)
        if which in ("next", "this", "coming", "following", "last"):
            start += 1
            if self._utterance.word(start) in ("coming", "following"):
                start += 1
        else:
            which = ""
        weekday = WEEKDAY_NUMBERS.get(self._utterance.word(start))
        if weekday is None:
            return None
        after = start + (2 if self._utterance.word(start + 1) in (",", "on") else 1)
        day = self._calendar.month_first(after) or self._calendar.day_first(
            after, after_weekday=True
        )
        if day is not None:
            return Mention(
                index, day.last, day=day.day, month=day.month, year=day.year, weekday=weekday
            )
        coming = self._coming(weekday)
        for phrase, exact in (
            (("after", "next"), self._in_week(2, weekday)),
            (("week", "after", "next"), self._in_week(2, weekday)),
            (("the", "week", "after", "next"), self._in_week(2, weekday)),
            (("of", "next", "week"), self._in_week(1, weekday)),
            (("next", "week"), self._in_week(1, weekday)),
            (("this", "week"), self._in_week(0, weekday)),
            (("week",), coming + timedelta(weeks=1)),
        ):
            if self._utterance.match(start + 1, phrase):
                return Mention(index, start + len(phrase), weekday=weekday, exact=exact)
        last = start
        if self._utterance.word(last + 1) in ("night", "evening", "morning", "afternoon"):
            last += 1
        # "Next Friday" is the one of next week, whatever day is today: the read-back with its date
        # settles it for those who mean the coming one.
        exact_by_word = {
            "next": self._in_week(1, weekday),
            "last": coming - timedelta(weeks=1),
            "this": self._today if weekday == self._today.weekday() else None,
        }
        return Mention(index, last, weekday=weekday, exact=exact_by_word.get(which))

    def _in_some_days(self, index: int) -> Mention | None:
        """ "in three days", "in two weeks", "in a fortnight"."""
        if self._utterance.word(index) != "in" or self._utterance.word(index - 1) in (
            "check",
            "checking",
        ):
            return None
        length = self._length(index + 1)
        if length is None:
            return None
        days, last = length
        if self._utterance.word(last + 1) in ("'", "time"):
            last += 1
        return Mention(index, last, exact=self._today + timedelta(days=days))

    def _some_weeks_from(self, index: int) -> Mention | None:
        """ "a week from Friday", "three days from now", "two weeks after tomorrow"."""
        length = self._length(index)
        if length is None or self._utterance.word(length[1] + 1) not in ("from", "on"):
            return None
        days, last = length
        if self._utterance.word(last + 2) in ("now", "today"):
            return Mention(index, last + 2, exact=self._today + timedelta(days=days))
        start = self.weekday(last + 2) or self.from_today(last + 2)
        if start is None or (self._utterance.word(last + 1) == "on" and days % 7):
            return None
        if start.exact is not None:
            return Mention(index, start.last, exact=start.exact + timedelta(days=days))
        if start.weekday is None or start.day is not None:
            return None
        exact = self._coming(start.weekday) + timedelta(days=days)
        return Mention(index, start.last, weekday=start.weekday, exact=exact)

    def _length(self, index: int) -> tuple[int, int] | None:
        """A number of days, weeks or a fortnight: in days, and its last token."""
        if self._utterance.word(index) in ("a", "one"):
            number, taken = 1, 1
        elif self._utterance.word(index) == "fortnight":
            return 14, index
        else:
            found = cardinal_at(self._words, index)
            if found is None:
                return None
            number, taken = found
        unit = self._utterance.word(index + taken)
        days = _DAYS_OF_UNIT.get(unit)
        return None if days is None else (number * days, index + taken)

    def _coming(self, weekday: int) -> date:
        """The next day that is this weekday; never today."""
        return self._today + timedelta(days=(weekday - self._today.weekday() - 1) % 7 + 1)

    def _in_week(self, weeks_ahead: int, weekday: int) -> date:
        """This weekday in the week that many weeks from this one; weeks begin on Monday."""
        monday = self._today - timedelta(days=self._today.weekday())
        return monday + timedelta(weeks=weeks_ahead, days=weekday)
