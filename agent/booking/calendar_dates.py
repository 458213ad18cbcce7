"""Dates by the calendar: "October sixteenth", "the 16th", "16/10", "in October"."""

from __future__ import annotations

from datetime import date

from agent.booking.calendar_words import (
    COUNTED,
    DOUBTFUL_MONTHS,
    MONTH_NUMBERS,
    NAMED_DAYS,
    NOT_AFTER_ORDINAL,
    TIME_WORDS,
)
from agent.booking.hotel import DateOrder
from agent.booking.mention import Mention, Shape
from agent.booking.numbers import cardinal_at, ordinal_at
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_RANGE_WORDS = word_set("to until till through thru - – and")
_BEFORE_MONTH = word_set(
    "in of early mid late next during around for not said meant mean it's month"
)


class CalendarDates:
    """Reads the mention of a date that starts at a token, or gives None.

    Args:
        utterance: the turn.
        today: what "next month" counts from.
        order: how a date in numbers is read.
        bare_numbers: whether a number alone may be a day, because a date was asked for.
        bare_correction_over: a larger number than this may be a day right after "no", as a
            correction of a date that is known; None where there is none to correct.
    """

    def __init__(
        self,
        utterance: Utterance,
        *,
        today: date,
        order: DateOrder,
        bare_numbers: bool,
        bare_correction_over: int | None,
    ) -> None:
        self._utterance = utterance
        self._words = utterance.words
        self._today = today
        self._order = order
        self._bare_numbers = bare_numbers
        self._bare_correction_over = bare_correction_over

    def named(self, index: int) -> Mention | None:
        for name, (month, day) in NAMED_DAYS.items():
            phrase = name.split()
            if self._utterance.match(index, phrase):
                return Mention(index, index + len(phrase) - 1, month=month, day=day)
        return None

    def month_first(self, index: int) -> Mention | None:
        """ "October sixteenth", "October the 16th", "October 16, 2027"."""
        month = MONTH_NUMBERS.get(self._utterance.word(index))
        if month is None:
            return None
        after = index + 1
        while self._utterance.word(after) in ("the", "."):
            after += 1
        found = ordinal_at(self._words, after) or cardinal_at(self._words, after)
        if found is None or not 1 <= found[0] <= 99 or self._counted(after + found[1]):
            return None
        day, taken = found
        last = after + taken - 1
        year, last = self._year(last)
        return Mention(index, last, day=day, month=month, year=year)

    def day_first(self, index: int, *, after_weekday: bool = False) -> Mention | None:
        """ "the sixteenth", "16th of October", "16 October"."""
        start = index
        if self._utterance.word(index) == "the":
            index += 1
        ordinal = ordinal_at(self._words, index)
        found = ordinal or cardinal_at(self._words, index)
        if found is None or not 1 <= found[0] <= 99:
            return None
        day, taken = found
        last = index + taken - 1
        after = last + 1
        while self._utterance.word(after) in ("of", ",", ".", "day", "in") and after - last <= 2:
            after += 1
        month = MONTH_NUMBERS.get(self._utterance.word(after))
        if month is not None:
            year, last = self._year(after)
            return Mention(start, last, day=day, month=month, year=year)
        for phrase, ahead in (
            (("the", "month"), None),
            (("this", "month"), 0),
            (("next", "month"), 1),
        ):
            if self._utterance.word(last + 1) in ("of", "in") and self._utterance.match(
                last + 2, phrase
            ):
                return Mention(start, last + 3, day=day, month=self._month_ahead(ahead))
        with_article = index > start
        if ordinal is None:
            # "the 16" is a day, "16" alone is not (yet), and "the two of us" never.
            if not with_article or day > 31 or self._counted(last + 1):
                return None
            return Mention(start, last, day=day)
        if self._utterance.word(last + 1) in NOT_AFTER_ORDINAL:
            return None
        if not with_article and not after_weekday and self._is_not_a_day(start, day):
            return None
        return Mention(start, last, day=day)

    def last_of_month(self, index: int) -> Mention | None:
        """ "The last day of October", "the last of October"."""
        for phrase in (("the", "last", "day", "of"), ("the", "last", "of")):
            month = MONTH_NUMBERS.get(self._utterance.word(index + len(phrase)))
            if month is not None and self._utterance.match(index, phrase):
                # The day before the next month's first: of any length, in any year.
                return Mention(
                    index, index + len(phrase), day=1, month=month % 12 + 1, shift_days=-1
                )
        return None

    def in_numbers(self, index: int) -> Mention | None:
        """16/10, 10/16/2027, 16.10., 2027-10-16; day or month first by the hotel's locale."""
        if (spoken := self._with_slash(index)) is not None:
            return spoken
        parts = [self._utterance.word(index + offset) for offset in range(5)]
        if not parts[0].isdecimal() or parts[1] not in ("/", ".", "-") or not parts[2].isdecimal():
            return None
        if not (self._utterance.adjoins(index + 1) and self._utterance.adjoins(index + 2)):
            return None
        third = parts[3] == parts[1] and parts[4].isdecimal() and self._utterance.adjoins(index + 4)
        last = index + (4 if third else 2)
        if third and len(parts[0]) == 4:
            return Mention(index, last, year=int(parts[0]), month=int(parts[2]), day=int(parts[4]))
        if parts[1] == "-" and not third:
            return None  # "16-20" is a range
        if parts[1] == "." and (len(parts[2]) > 2 or self._utterance.word(last + 1) in TIME_WORDS):
            return None
        day, month = self._ordered(int(parts[0]), int(parts[2]))
        year = int(parts[4]) if third else None
        if year is not None and year < 100:
            year += 2000
        return Mention(index, last, day=day, month=month, year=year)

    def _with_slash(self, index: int) -> Mention | None:
        """ "Sixteen slash ten", "16-flash-10"."""
        first = cardinal_at(self._words, index)
        if first is None:
            return None
        slash = index + first[1]
        slash += self._utterance.word(slash) == "-"
        if self._utterance.word(slash) not in ("slash", "flash"):
            return None
        after = slash + 1 + (self._utterance.word(slash + 1) == "-")
        second = cardinal_at(self._words, after)
        if second is None:
            return None
        day, month = self._ordered(first[0], second[0])
        return Mention(index, after + second[1] - 1, day=day, month=month)

    def _ordered(self, first: int, second: int) -> tuple[int, int]:
        """Day and month of two numbers, by the hotel's locale unless only the other can be."""
        day, month = (first, second) if self._order is DateOrder.DAY_FIRST else (second, first)
        return (month, day) if month > 12 >= day else (day, month)

    def month_alone(self, index: int) -> Mention | None:
        """ "In October", "sometime in May"; the bare word only where a date is expected.

        Months are names as well ("June Carter"), and November is a letter.
        """
        if self._utterance.match(index, ("next", "month")):
            return Mention(index, index + 1, shape=Shape.MONTH, month=self._month_ahead(1))
        month = MONTH_NUMBERS.get(self._utterance.word(index))
        if month is None:
            return None
        announced = self._utterance.word(index - 1) in _BEFORE_MONTH
        if not announced and self._utterance.word(index) in DOUBTFUL_MONTHS:
            return None
        alone = self._utterance.plain == self._utterance.word(index)
        if not (announced or self._bare_numbers or alone):
            return None
        return Mention(index, index, shape=Shape.MONTH, month=month)

    def bare(self, index: int) -> Mention | None:
        """ "sixteen", where a date was asked for, or "20" after "October 16 to"."""
        found = cardinal_at(self._words, index)
        if found is None or not 1 <= found[0] <= 31 or self._counted(index + found[1]):
            return None
        before = self._utterance.word(index - 1)
        after = index + found[1]
        if not (
            self._bare_numbers
            or (before in _RANGE_WORDS and self._ends_date(index - 2))
            or (self._utterance.word(after) in _RANGE_WORDS and self._starts_date(after + 1))
            or self._corrects(index, found[0])
        ):
            return None
        if before in (":", "room", "number", "am", "at"):
            return None
        return Mention(index, index + found[1] - 1, day=found[0], bare=True)

    def _ends_date(self, index: int) -> bool:
        """Whether a day or month is named up to this token: "October 16 to 20"."""
        word = self._utterance.word(index)
        ends_day = ordinal_at(self._words, index) is not None or word.isdecimal()
        return word in MONTH_NUMBERS or ends_day

    def _starts_date(self, index: int) -> bool:
        """Whether a day with its month follows: "4 to 6 December"."""
        day = self.day_first(index)
        return day is not None and day.month is not None

    def _corrects(self, index: int, number: int) -> bool:
        """Whether a number is all that follows "no": "No. 17", for "no, the seventeenth"."""
        if self._bare_correction_over is None or number <= self._bare_correction_over:
            return False
        before = [word for word in self._words[:index] if word[0].isalnum()]
        return before[-1:] in (["no"], ["sorry"], ["meant"], ["wait"])

    def _is_not_a_day(self, index: int, day: int) -> bool:
        """Whether an ordinal without "the" is most likely something else ("first", "a second")."""
        before = self._utterance.word(index - 1)
        if before in ("a", "one", "my", "our", "at", "per", "just"):
            return True
        digits = self._utterance.word(index)[0].isdecimal()
        return day <= 3 and not digits and before not in ("to", "through", "until", "and", "from")

    def _counted(self, index: int) -> bool:
        """Whether the number before this token counts something, or is a time of day."""
        word = self._utterance.word(index)
        if word == "of":
            return self._utterance.word(index + 1) == "us"
        return word in COUNTED or word in (TIME_WORDS - {"in"}) or word == ":"

    def _month_ahead(self, months: int | None) -> int | None:
        return None if months is None else (self._today.month - 1 + months) % 12 + 1

    def _year(self, last: int) -> tuple[int | None, int]:
        """The year after a date's last token: the year, and the last token with it."""
        after = last + 1
        while self._utterance.word(after) in (",", "in", "of"):
            after += 1
        word = self._utterance.word(after)
        if len(word) == 4 and word.startswith("20") and word.isdecimal():
            return int(word), after
        # "twenty twenty seven", "20 27"
        if word in ("twenty", "20"):
            found = cardinal_at(self._words, after + 1)
            if found and 20 <= found[0] <= 99:
                return 2000 + found[0], after + found[1]
        return None, last
