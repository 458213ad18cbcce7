"""Where a turn speaks of dates, and what each mention leaves open.

A mention is what was said, not yet a date: "the sixteenth" has a day and no month. Which date it is
and what it is for is decided in `dates.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from agent.booking.calendar_words import (
    COUNTED,
    DOUBTFUL_MONTHS,
    FRIDAY,
    MONTH_NUMBERS,
    NAMED_DAYS,
    NOT_AFTER_ORDINAL,
    TIME_WORDS,
    WEEKDAY_NUMBERS,
)
from agent.booking.hotel import DateOrder
from agent.booking.numbers import cardinal_at, ordinal_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_BEFORE_RANGE_END = word_set("to until till through thru - – and")
_BEFORE_MONTH = word_set("in of early mid late next during around for not said")


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
    Friday, of a week the Monday. `bare` is a number that
    is a day only where a date was asked for ("sixteen").
    """

    first: int
    last: int
    shape: Shape = Shape.DAY
    day: int | None = None
    month: int | None = None
    year: int | None = None
    weekday: int | None = None
    exact: date | None = None
    bare: bool = False


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
    reader = _Reader(utterance, today, order, bare_numbers, bare_correction_over)
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
    """Reads one mention at a place of the turn."""

    def __init__(
        self,
        utterance: Utterance,
        today: date,
        order: DateOrder,
        bare_numbers: bool,
        bare_correction_over: int | None,
    ) -> None:
        self.words = utterance.words
        self.utterance = utterance
        self.today = today
        self.order = order
        self.bare_numbers = bare_numbers
        self.bare_correction_over = bare_correction_over

    def word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def at(self, index: int) -> Mention | None:
        return (
            self._named(index)
            or self._relative(index)
            or self._in_numbers(index)
            or self._weekday(index)
            or self._month_first(index)
            or self._day_first(index)
            or self._month_alone(index)
            or self._bare(index)
        )

    def _named(self, index: int) -> Mention | None:
        for name, (month, day) in NAMED_DAYS.items():
            phrase = name.split()
            if self.utterance.match(index, phrase):
                return Mention(index, index + len(phrase) - 1, month=month, day=day)
        return None

    def _relative(self, index: int) -> Mention | None:
        for phrase, days in (
            (("the", "day", "after", "tomorrow"), 2),
            (("day", "after", "tomorrow"), 2),
            (("today",), 0),
            (("tonight",), 0),
            (("this", "evening"), 0),
            (("tomorrow",), 1),
            (("yesterday",), -1),
        ):
            if self.utterance.match(index, phrase):
                last = index + len(phrase) - 1
                exact = self.today + timedelta(days=days)
                if phrase == ("tomorrow",) and self.word(index + 1) in ("night", "evening"):
                    last += 1
                if phrase == ("tomorrow",) and self.word(index + 1) == "week":
                    return Mention(index, index + 1, exact=exact + timedelta(weeks=1))
                return Mention(index, last, exact=exact)
        return self._in_some_days(index) or self._some_weeks_from(index) or self._week(index)

    def _in_some_days(self, index: int) -> Mention | None:
        """ "in three days", "in two weeks", "in a fortnight"."""
        if self.word(index) != "in":
            return None
        length = self._length(index + 1)
        if length is None:
            return None
        days, last = length
        if self.word(last + 1) in ("'", "time"):
            last += 1
        return Mention(index, last, exact=self.today + timedelta(days=days))

    def _some_weeks_from(self, index: int) -> Mention | None:
        """ "a week from Friday", "three days from now", "two weeks after tomorrow"."""
        length = self._length(index)
        if length is None or self.word(length[1] + 1) not in ("from", "on"):
            return None
        days, last = length
        if self.word(last + 2) in ("now", "today"):
            return Mention(index, last + 2, exact=self.today + timedelta(days=days))
        start = self._weekday(last + 2) or self._relative(last + 2)
        if start is None or (self.word(last + 1) == "on" and days % 7):
            return None
        if start.exact is not None:
            return Mention(index, start.last, exact=start.exact + timedelta(days=days))
        if start.weekday is None or start.day is not None:
            return None
        coming = self.today + timedelta(days=(start.weekday - self.today.weekday() - 1) % 7 + 1)
        return Mention(
            index, start.last, weekday=start.weekday, exact=coming + timedelta(days=days)
        )

    def _length(self, index: int) -> tuple[int, int] | None:
        """A number of days, weeks or a fortnight: in days, and its last token."""
        if self.word(index) in ("a", "one"):
            number, taken = 1, 1
        elif self.word(index) == "fortnight":
            return 14, index
        else:
            found = cardinal_at(self.words, index)
            if found is None:
                return None
            number, taken = found
        unit = self.word(index + taken)
        days = {"day": 1, "days": 1, "week": 7, "weeks": 7, "fortnight": 14}.get(unit)
        return None if days is None else (number * days, index + taken)

    def _week(self, index: int) -> Mention | None:
        """ "this weekend", "next week", "the week after next"."""
        for phrase, weeks, shape in (
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
        ):
            if not self.utterance.match(index, phrase):
                continue
            last = index + len(phrase) - 1
            if shape is Shape.WEEKEND and self.word(last + 1) in ("of", "from", "starting"):
                start = self.at(last + 2)
                if start is not None and start.shape is Shape.DAY:
                    return None  # "the weekend of the sixteenth": the day says which
            if shape is Shape.WEEK:
                start_at = last + (2 if self.word(last + 1) in ("on", ",") else 1)
                day = self._weekday(start_at)
                if day is not None and day.day is None and day.weekday is not None:
                    exact = self._in_week(weeks, day.weekday)
                    return Mention(index, day.last, weekday=day.weekday, exact=exact)
            first_day = self._in_week(weeks, FRIDAY if shape is Shape.WEEKEND else 0)
            return Mention(index, last, shape=shape, exact=first_day)
        return None

    def _in_numbers(self, index: int) -> Mention | None:
        """16/10, 10/16/2027, 16.10., 2027-10-16; day or month first by the hotel's locale."""
        parts = [self.word(index + offset) for offset in range(5)]
        if not parts[0].isdigit() or parts[1] not in ("/", ".", "-") or not parts[2].isdigit():
            return None
        if not (self.utterance.adjoins(index + 1) and self.utterance.adjoins(index + 2)):
            return None
        third = parts[3] == parts[1] and parts[4].isdigit() and self.utterance.adjoins(index + 4)
        last = index + (4 if third else 2)
        if third and len(parts[0]) == 4:
            return Mention(index, last, year=int(parts[0]), month=int(parts[2]), day=int(parts[4]))
        if parts[1] == "-" and not third:
            return None  # "16-20" is a range
        first, second = int(parts[0]), int(parts[2])
        if parts[1] == "." and (len(parts[2]) > 2 or self.word(last + 1) in TIME_WORDS):
            return None
        day, month = (first, second) if self.order is DateOrder.DAY_FIRST else (second, first)
        if month > 12 >= day:  # only the other way round is a date at all
            day, month = month, day
        year = int(parts[4]) if third else None
        if year is not None and year < 100:
            year += 2000
        return Mention(index, last, day=day, month=month, year=year)

    def _weekday(self, index: int) -> Mention | None:
        """ "Friday", "next Friday", "Friday the sixteenth of October", "Friday week"."""
        start = index
        which = self.word(index)
        if which in ("next", "this", "coming", "following", "last"):
            start += 1
            if self.word(start) in ("coming", "following"):
                start += 1
        else:
            which = ""
        weekday = WEEKDAY_NUMBERS.get(self.word(start))
        if weekday is None:
            return None
        after = start + (2 if self.word(start + 1) in (",", "on") else 1)
        day = self._month_first(after) or self._day_first(after, after_weekday=True)
        if day is not None:
            return Mention(
                index, day.last, day=day.day, month=day.month, year=day.year, weekday=weekday
            )
        coming = self.today + timedelta(days=(weekday - self.today.weekday() - 1) % 7 + 1)
        for phrase, exact in (
            (("week", "after", "next"), self._in_week(2, weekday)),
            (("the", "week", "after", "next"), self._in_week(2, weekday)),
            (("of", "next", "week"), self._in_week(1, weekday)),
            (("next", "week"), self._in_week(1, weekday)),
            (("this", "week"), self._in_week(0, weekday)),
            (("week",), coming + timedelta(weeks=1)),
        ):
            if self.utterance.match(start + 1, phrase):
                return Mention(index, start + len(phrase), weekday=weekday, exact=exact)
        last = start
        if self.word(last + 1) in ("night", "evening", "morning", "afternoon"):
            last += 1
        # "Next Friday" is the one of next week, whatever day is today: the read-back with its date
        # settles it for those who mean the coming one.
        exact_by_word = {
            "next": self._in_week(1, weekday),
            "last": coming - timedelta(weeks=1),
            "this": self.today if weekday == self.today.weekday() else None,
        }
        return Mention(index, last, weekday=weekday, exact=exact_by_word.get(which))

    def _in_week(self, weeks_ahead: int, weekday: int) -> date:
        """This weekday in the week that many weeks from this one; weeks begin on Monday."""
        monday = self.today - timedelta(days=self.today.weekday())
        return monday + timedelta(weeks=weeks_ahead, days=weekday)

    def _month_first(self, index: int) -> Mention | None:
        """ "October sixteenth", "October the 16th", "October 16, 2027"."""
        month = MONTH_NUMBERS.get(self.word(index))
        if month is None:
            return None
        after = index + 1
        while self.word(after) in ("the", "."):
            after += 1
        found = ordinal_at(self.words, after) or cardinal_at(self.words, after)
        if found is None or not 1 <= found[0] <= 99 or self._counted(after + found[1]):
            return None
        day, taken = found
        last = after + taken - 1
        year, last = self._year(last)
        return Mention(index, last, day=day, month=month, year=year)

    def _day_first(self, index: int, *, after_weekday: bool = False) -> Mention | None:
        """ "the sixteenth", "16th of October", "16 October"."""
        start = index
        if self.word(index) == "the":
            index += 1
        ordinal = ordinal_at(self.words, index)
        found = ordinal or cardinal_at(self.words, index)
        if found is None or not 1 <= found[0] <= 99:
            return None
        day, taken = found
        last = index + taken - 1
        after = last + 1
        while self.word(after) in ("of", ",", ".", "day", "in") and after - last <= 2:
            after += 1
        month = MONTH_NUMBERS.get(self.word(after))
        if month is not None:
            year, last = self._year(after)
            return Mention(start, last, day=day, month=month, year=year)
        if self.utterance.match(last + 1, ("of", "the", "month")):
            return Mention(start, last + 3, day=day)
        with_article = index > start
        if ordinal is None:
            # "the 16" is a day, "16" alone is not (yet), and "the two of us" never.
            if not with_article or day > 31 or self._counted(last + 1):
                return None
            return Mention(start, last, day=day)
        if self.word(last + 1) in NOT_AFTER_ORDINAL:
            return None
        if not with_article and not after_weekday and self._is_not_a_day(start, day):
            return None
        return Mention(start, last, day=day)

    def _is_not_a_day(self, index: int, day: int) -> bool:
        """Whether an ordinal without "the" is most likely something else ("first", "a second")."""
        before = self.word(index - 1)
        if before in ("a", "one", "my", "our", "at", "per", "just"):
            return True
        digits = self.word(index)[0].isdigit()
        return day <= 3 and not digits and before not in ("to", "through", "until", "and", "from")

    def _month_alone(self, index: int) -> Mention | None:
        """ "In October", "sometime in May"; the bare word only where a date is expected.

        Months are names as well ("June Carter"), and November is a letter.
        """
        month = MONTH_NUMBERS.get(self.word(index))
        if month is None:
            return None
        announced = self.word(index - 1) in _BEFORE_MONTH
        if not announced and self.word(index) in DOUBTFUL_MONTHS:
            return None
        alone = self.utterance.plain == self.word(index)
        if not (announced or self.bare_numbers or alone):
            return None
        return Mention(index, index, shape=Shape.MONTH, month=month)

    def _bare(self, index: int) -> Mention | None:
        """ "sixteen", where a date was asked for, or "20" after "October 16 to"."""
        found = cardinal_at(self.words, index)
        if found is None or not 1 <= found[0] <= 31 or self._counted(index + found[1]):
            return None
        before = self.word(index - 1)
        if not (
            self.bare_numbers or before in _BEFORE_RANGE_END or self._corrects(index, found[0])
        ):
            return None
        if before in (":", "room", "number", "am", "at"):
            return None
        return Mention(index, index + found[1] - 1, day=found[0], bare=True)

    def _corrects(self, index: int, number: int) -> bool:
        """Whether a number is all that follows "no": "No. 17", for "no, the seventeenth"."""
        if self.bare_correction_over is None or number <= self.bare_correction_over:
            return False
        before = [word for word in self.words[:index] if word[0].isalnum()]
        return before[-1:] in (["no"], ["sorry"], ["meant"], ["wait"])

    def _counted(self, index: int) -> bool:
        """Whether the number before this token counts something, or is a time of day."""
        word = self.word(index)
        if word == "of":
            return self.word(index + 1) == "us"
        return word in COUNTED or word in (TIME_WORDS - {"in"}) or word == ":"

    def _year(self, last: int) -> tuple[int | None, int]:
        """The year after a date's last token: the year, and the last token with it."""
        after = last + 1
        while self.word(after) in (",", "in", "of"):
            after += 1
        word = self.word(after)
        if len(word) == 4 and word.startswith("20") and word.isdigit():
            return int(word), after
        # "twenty twenty seven", "20 27"
        if word in ("twenty", "20"):
            found = cardinal_at(self.words, after + 1)
            if found and 20 <= found[0] <= 99:
                return 2000 + found[0], after + found[1]
        return None, last
