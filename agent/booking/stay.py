"""The changes to a stay: which check-in and check-out follow from the dates of a turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from agent.booking.calendar_words import FRIDAY
from agent.booking.corrections import takes_back
from agent.booking.date_resolution import Impossible, Resolved, Resolver, with_month_of
from agent.booking.date_roles import CHECK_IN_CUES, CHECK_OUT_CUES, Said
from agent.booking.heard import Asked, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.lone_dates import end_of_lone
from agent.booking.mention import Mention, Shape
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.stay_lengths import Shift, StayLength
from agent.booking.tokens import Utterance


class Stay:
    """Works out one turn's changes to the stay."""

    def __init__(
        self,
        utterance: Utterance,
        request: BookingRequest,
        asked: Asked,
        today: date,
        hotel: Hotel,
        turn: int,
    ) -> None:
        self.utterance = utterance
        self.request = request
        self.asked = asked
        self.today = today
        self.turn = turn
        self.resolver = Resolver(
            today=today, max_nights=hotel.max_nights, old=request.check_in, month=request.month
        )
        self.check_in = request.check_in
        self.changes: list[Change] = []
        self.problems: list[Problem] = []

    def take(self, said: list[Said], old: list[Mention], length: StayLength | None) -> None:
        """Take the dates and the length of stay that a turn gives.

        Args:
            said: the dates, with the ends of the stay that their words make them.
            old: those that were named as what does not hold.
            length: the length of stay.
        """
        if any(one.unsure for one in said):
            self._ask_which(next(one for one in said if one.unsure))
            return
        if said and all(one.mention.shape is Shape.MONTH for one in said) and self._knows_stay():
            self._take_other_month(said[-1].mention, old)
            return
        weekend = [one.mention for one in said if one.mention.shape is Shape.WEEKEND]
        if weekend and len(said) == 1:
            self._take_weekend(weekend[0], length)
            return
        arrival, departure, unclear = self._ends(said, old)
        if arrival is not None and departure is not None:
            arrival = with_month_of(arrival, departure, self.resolver.max_nights)
        if arrival is not None:
            self._take_check_in(arrival, departure, length)
        if departure is not None and not (arrival is None and self._is_start_by_length(length)):
            self._take_check_out(departure)
        elif departure is not None and length is not None:
            self._take_end_and_length(departure, length)
        elif length is not None:
            self._take_length(length)
        if unclear is not None:
            self.problems.append(unclear)
        if not said:
            self._take_answer_about_end()

    def drop_impossible_check_out(self) -> None:
        """Let go of a known check-out that a new check-in has passed, so that it is asked for."""
        moved = [change for change in self.changes if change.field is Field.CHECK_IN]
        stays = not any(change.field is Field.CHECK_OUT for change in self.changes)
        check_out = self.request.check_out
        if moved and stays and self.check_in and check_out:
            if self.resolver.is_stay(self.check_in, check_out):
                return
            self.changes.append(Change(Field.CHECK_OUT, None, moved[-1].words, self.turn))

    def take_shift(self, shift: Shift) -> None:
        """Move the end of the stay that the words name: "check in a day later"."""
        ends = self._ends_named()
        words = self.utterance.said(shift.first, shift.last)
        if ends == {Field.CHECK_IN} and self.request.check_in is not None:
            day = self.request.check_in + timedelta(days=shift.days)
            if day < self.today:
                self.problems.append(
                    Problem(ProblemKind.DATE_IN_PAST, Field.CHECK_IN, words, value=day)
                )
            else:
                self._set_check_in(day, words)
                self._move_end_with_start(words)
        elif ends == {Field.CHECK_OUT} and self.request.check_out is not None:
            self._set_check_out(self.request.check_out + timedelta(days=shift.days), words)

    def take_nights_of(self, first_night: Mention, last_night: Mention) -> None:
        first_night = with_month_of(first_night, last_night, self.resolver.max_nights)
        self._take_check_in(first_night, last_night, None)
        if self.check_in is None:
            return
        night: Resolved = self.check_in
        if last_night.first != first_night.first:
            night = self.resolver.check_out(last_night, check_in=self.check_in)
        if isinstance(night, Impossible):
            self._add_problem(night, Field.CHECK_OUT, last_night)
        else:
            self._set_check_out(night + timedelta(days=1), self._words(last_night))

    def _ends(
        self, said: list[Said], old: list[Mention]
    ) -> tuple[Mention | None, Mention | None, Problem | None]:
        """The mentions of the check-in and the check-out, and the one that could be either."""
        roles = {one.role: one.mention for one in said if one.role is not None}
        arrival, departure = roles.get(Field.CHECK_IN), roles.get(Field.CHECK_OUT)
        free = _distinct([one.mention for one in said if one.role is None])
        if len(free) >= 2 and arrival is None and departure is None:
            return free[0], free[1], None
        if not free:
            return arrival, departure, None
        lone = free[-1]
        if arrival is not None:
            return arrival, departure or lone, None
        if departure is not None:
            return lone, departure, None
        end = end_of_lone(
            lone,
            old,
            request=self.request,
            asked=self.asked,
            takes_back=takes_back(self.utterance),
            resolver=self.resolver,
        )
        if isinstance(end, date):
            return None, None, self._either(lone, end)
        return (lone, None, None) if end is Field.CHECK_IN else (None, lone, None)

    def _take_answer_about_end(self) -> None:
        """ "The check-out", said to the question which of the two a date was for."""
        doubt = next(
            (one for one in self.asked.problems if one.kind is ProblemKind.DATE_AMBIGUOUS), None
        )
        if doubt is None or not isinstance(doubt.value, date):
            return
        ends = self._ends_named()
        if ends == {Field.CHECK_IN}:
            self._set_check_in(doubt.value, doubt.words)
        elif ends == {Field.CHECK_OUT} and self.check_in is not None:
            self._set_check_out(doubt.value, doubt.words)

    def _ends_named(self) -> set[Field]:
        """The ends of the stay that the turn's words speak of."""
        cues = ((CHECK_IN_CUES, Field.CHECK_IN), (CHECK_OUT_CUES, Field.CHECK_OUT))
        return {role for phrases, role in cues if self.utterance.find(phrases)}

    def _knows_stay(self) -> bool:
        return self.request.check_in is not None and self.request.check_out is not None

    def _either(self, lone: Mention, day: date) -> Problem:
        return Problem(
            ProblemKind.DATE_AMBIGUOUS,
            Field.CHECK_IN,
            self._words(lone),
            value=day,
            choices=(Field.CHECK_IN.value, Field.CHECK_OUT.value),
        )

    def _ask_which(self, one: Said) -> None:
        part = one.role or (
            Field.CHECK_OUT if self.asked.fields == {Field.CHECK_OUT} else Field.CHECK_IN
        )
        words = self._words(one.mention)
        self.problems.append(Problem(ProblemKind.DATE_INCOMPLETE, part, words))

    def _take_other_month(self, month: Mention, old: list[Mention]) -> None:
        """ "It's November, not October": the same days of the other month."""
        check_in, check_out = self.request.check_in, self.request.check_out
        assert check_in is not None
        assert check_out is not None
        if not (old or takes_back(self.utterance)) or check_in.month != check_out.month:
            return
        arrival = replace(month, shape=Shape.DAY, day=check_in.day)
        departure = replace(month, shape=Shape.DAY, day=check_out.day)
        self._take_check_in(arrival, departure, None)
        if not self.problems:
            self._take_check_out(departure)

    def _take_weekend(self, weekend: Mention, length: StayLength | None) -> None:
        """From Friday to Sunday, or for as long as was said."""
        words = self._words(weekend)
        day = self.resolver.check_in(weekend, check_out=None)
        if isinstance(day, Impossible):
            self._add_problem(day, Field.CHECK_IN, weekend)
            return
        if weekend.exact is None and day.weekday() < FRIDAY:
            # "The weekend of the thirteenth", a Wednesday.
            self.problems.append(
                Problem(ProblemKind.WEEKDAY_MISMATCH, Field.CHECK_IN, words, value=day)
            )
            return
        friday = day - timedelta(days=day.weekday() - FRIDAY)
        sunday = friday + timedelta(days=2)
        if self.today >= sunday:  # "this weekend", said on a Sunday
            friday, sunday = friday + timedelta(weeks=1), sunday + timedelta(weeks=1)
        self._set_check_in(max(friday, self.today), words)
        if length is not None:
            self._take_length(length)
        else:
            self._set_check_out(sunday, words)

    def _take_check_in(
        self, arrival: Mention, departure: Mention | None, length: StayLength | None
    ) -> None:
        open_end = departure is not None or length is not None
        resolved = self.resolver.check_in(
            arrival, check_out=None if open_end else self.request.check_out
        )
        if isinstance(resolved, Impossible):
            self._add_problem(resolved, Field.CHECK_IN, arrival)
            return
        self._set_check_in(resolved, self._words(arrival))
        if not open_end:
            self._move_end_with_start(self._words(arrival))

    def _move_end_with_start(self, words: str) -> None:
        """Keep the length that the caller gave; a check-out date that cannot stay is dropped."""
        request = self.request
        assert self.check_in is not None
        if request.nights is not None:
            said = (one.words for one in reversed(request.history) if one.nights is not None)
            self._set_nights(request.nights, next(said, words))
        elif request.check_out and not self.resolver.is_stay(self.check_in, request.check_out):
            nights = (request.check_out - self.check_in).days
            self._add_stay_problem(nights, request.check_out, words)

    def _take_check_out(self, departure: Mention) -> None:
        resolved = self.resolver.check_out(departure, check_in=self.check_in)
        if isinstance(resolved, Impossible):
            self._add_problem(resolved, Field.CHECK_OUT, departure)
        else:
            self._set_check_out(resolved, self._words(departure))

    def _is_start_by_length(self, length: StayLength | None) -> bool:
        return length is not None and not length.more and self.check_in is None

    def _take_end_and_length(self, departure: Mention, length: StayLength) -> None:
        """ "Three nights, until the twentieth": the check-in follows from both."""
        resolved = self.resolver.check_out(departure, check_in=self.check_in)
        if isinstance(resolved, Impossible):
            self._add_problem(resolved, Field.CHECK_OUT, departure)
            return
        if length.nights > self.resolver.max_nights:
            words = self.utterance.said(length.first, length.last)
            self._add_stay_problem(length.nights, None, words)
            return
        arrival = resolved - timedelta(days=length.nights)
        if arrival < self.today:
            self._add_problem(
                Impossible(ProblemKind.DATE_IN_PAST, arrival), Field.CHECK_IN, departure
            )
            return
        self._set_check_in(arrival, self.utterance.said(length.first, length.last))
        self._set_check_out(resolved, self._words(departure))

    def _take_length(self, length: StayLength) -> None:
        words = self.utterance.said(length.first, length.last)
        nights = length.nights
        if length.more:
            if self.check_in is None or self.request.check_out is None:
                return
            nights += (self.request.check_out - self.check_in).days
        self._set_nights(nights, words)

    def _set_check_in(self, day: date, words: str) -> None:
        self.check_in = day
        if day != self.request.check_in:
            self.changes.append(Change(Field.CHECK_IN, day, words, self.turn))

    def _set_check_out(self, day: date, words: str) -> None:
        if self.check_in is not None and not self.resolver.is_stay(self.check_in, day):
            self._add_stay_problem((day - self.check_in).days, day, words)
        elif day != self.request.check_out:
            self.changes.append(Change(Field.CHECK_OUT, day, words, self.turn))

    def _set_nights(self, nights: int, words: str) -> None:
        if nights < 1:
            return
        if nights > self.resolver.max_nights:
            self._add_stay_problem(nights, None, words)
            return
        day = None if self.check_in is None else self.check_in + timedelta(days=nights)
        if day != self.request.check_out or nights != self.request.nights:
            self.changes.append(Change(Field.CHECK_OUT, day, words, self.turn, nights=nights))

    def _add_stay_problem(self, nights: int, check_out: date | None, words: str) -> None:
        if nights > self.resolver.max_nights:
            problem = Problem(
                ProblemKind.STAY_TOO_LONG,
                Field.CHECK_OUT,
                words,
                value=nights,
                limit=self.resolver.max_nights,
            )
        else:
            problem = Problem(
                ProblemKind.CHECK_OUT_NOT_AFTER_CHECK_IN, Field.CHECK_OUT, words, value=check_out
            )
        self.problems.append(problem)

    def _add_problem(self, reason: Impossible, part: Field, mention: Mention) -> None:
        if reason.kind is ProblemKind.DATE_INCOMPLETE and reason.month is not None:
            if part is Field.CHECK_IN and self.request.check_in is None:
                self.changes.append(
                    Change(
                        Field.CHECK_IN, None, self._words(mention), self.turn, month=reason.month
                    )
                )
            elif part is Field.CHECK_IN or self.request.check_out is not None:
                return
        words = self._words(mention)
        self.problems.append(Problem(reason.kind, part, words, value=reason.value))

    def _words(self, mention: Mention) -> str:
        return self.utterance.said(mention.first, mention.last)


def _distinct(mentions: list[Mention]) -> list[Mention]:
    """The mentions without those that say the same again."""
    found: dict[Mention, Mention] = {}
    for mention in mentions:
        found.setdefault(replace(mention, first=0, last=0), mention)
    return list(found.values())
