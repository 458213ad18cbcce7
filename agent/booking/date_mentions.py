"""Where a turn speaks of dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from agent.booking.calendar_dates import CalendarDates
from agent.booking.hotel import DateOrder
from agent.booking.mention import Mention, Shape
from agent.booking.relative_dates import RelativeDates
from agent.booking.tokens import Utterance


def find_mentions(
    utterance: Utterance,
    *,
    today: date,
    order: DateOrder,
    taken: frozenset[int],
    bare_numbers: bool,
    bare_correction_over: int | None = None,
) -> tuple[Mention, ...]:
    """Every mention of a date, in the order of speech.

    Args:
        utterance: the turn.
        today: what "tomorrow" counts from.
        order: how a date in numbers is read.
        taken: tokens that belong to something else.
        bare_numbers: whether a number alone may be a day, because a date was asked for.
        bare_correction_over: a larger number than this may be a day right after "no", as a
            correction of a date that is known; None where there is none to correct.
    """
    calendar = CalendarDates(
        utterance,
        today=today,
        order=order,
        bare_numbers=bare_numbers,
        bare_correction_over=bare_correction_over,
    )
    reader = _Reader(utterance, calendar, RelativeDates(utterance, today=today, calendar=calendar))
    mentions: list[Mention] = []
    index = 0
    while index < len(utterance.tokens):
        mention = None if index in taken else reader.at(index)
        if mention is None or taken & set(range(mention.first, mention.last + 1)):
            index += 1
        else:
            mentions.append(mention)
            index = mention.last + 1
    return tuple(mentions)


class _Reader:
    """Reads the mention of a date that starts at a token: the first reading that fits."""

    def __init__(
        self, utterance: Utterance, calendar: CalendarDates, relative: RelativeDates
    ) -> None:
        self._utterance = utterance
        self._readings = (
            self._shifted,
            self._weekend_of,
            calendar.named,
            relative.from_today,
            relative.week,
            calendar.last_of_month,
            calendar.in_numbers,
            relative.weekday,
            calendar.month_first,
            calendar.day_first,
            calendar.month_alone,
            calendar.bare,
        )

    def at(self, index: int) -> Mention | None:
        found = (read(index) for read in self._readings)
        return next((mention for mention in found if mention is not None), None)

    def _shifted(self, index: int) -> Mention | None:
        """ "The day after Christmas", "the day before the sixteenth"."""
        start = index + (self._utterance.word(index) == "the")
        days = {"after": 1, "before": -1}.get(self._utterance.word(start + 1))
        if self._utterance.word(start) not in ("day", "night") or days is None:
            return None
        if self._utterance.word(start + 2) == "tomorrow":
            return None  # a word of its own, as it were
        mention = self.at(start + 2)
        if mention is None or mention.shape is not Shape.DAY:
            return None
        return replace(mention, first=index, shift_days=mention.shift_days + days)

    def _weekend_of(self, index: int) -> Mention | None:
        """ "The weekend of the sixteenth"."""
        start = index + (self._utterance.word(index) == "the")
        if self._utterance.word(start) != "weekend":
            return None
        if self._utterance.word(start + 1) not in ("of", "from", "starting"):
            return None
        day = self.at(start + 2)
        if day is None or day.shape is not Shape.DAY:
            return None
        return replace(day, first=index, shape=Shape.WEEKEND)
