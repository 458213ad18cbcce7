"""The changes to a stay: which check-in and check-out follow from the dates of a turn."""

from __future__ import annotations

from datetime import date, timedelta

from agent.booking.corrections import takes_back
from agent.booking.date_mentions import Mention, Shape
from agent.booking.date_resolution import (
    Impossible,
    Resolved,
    resolve_check_in,
    resolve_check_out,
    with_month_of,
)
from agent.booking.date_roles import CHECK_IN_CUES, CHECK_OUT_CUES, Said, is_same
from agent.booking.heard import Asked, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.stay_lengths import StayLength
from agent.booking.tokens import Utterance

# A lone date this many times nearer to one end of the stay than to the other is a correction of it.
_CLEARLY_NEARER = 3


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
        self.hotel = hotel
        self.turn = turn
        self.check_in = request.check_in
        self.changes: list[Change] = []
        self.problems: list[Problem] = []

    def take(self, said: list[Said], old: list[Mention], length: StayLength | None) -> None:
        weekend = [one.mention for one in said if one.mention.shape is Shape.WEEKEND]
        if weekend and len(said) == 1:
            self._take_weekend(weekend[0], length)
            return
        arrival, departure, unclear = self._ends(said, old)
        if arrival is not None and departure is not None:
            arrival = with_month_of(arrival, departure, self.hotel.max_nights)
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

    def take_nights_of(self, first_night: Mention, last_night: Mention) -> None:
        first_night = with_month_of(first_night, last_night, self.hotel.max_nights)
        self._take_check_in(first_night, last_night, None)
        if self.check_in is None:
            return
        night: Resolved = self.check_in
        if last_night != first_night and last_night.first != first_night.first:
            night = self._resolved_check_out(last_night)
        if isinstance(night, Impossible):
            self._add_problem(night, Field.CHECK_OUT, last_night)
        else:
            self._set_check_out(night + timedelta(days=1), self._words(last_night), last_night)

    def _ends(
        self, said: list[Said], old: list[Mention]
    ) -> tuple[Mention | None, Mention | None, Problem | None]:
        """The mentions of the check-in and the check-out, and the one that could be either."""
        roles = {one.role: one.mention for one in said if one.role is not None}
        arrival, departure = roles.get(Field.CHECK_IN), roles.get(Field.CHECK_OUT)
        free = [one.mention for one in said if one.role is None]
        if len(free) >= 2 and arrival is None and departure is None:
            return free[0], free[1], None
        if not free:
            return arrival, departure, None
        lone = free[-1]
        if arrival is not None:
            return arrival, departure or lone, None
        if departure is not None:
            return lone, departure, None
        role = self._role_of_lone(lone, old)
        if isinstance(role, Problem):
            return None, None, role
        return (lone, None, None) if role is Field.CHECK_IN else (None, lone, None)

    def _role_of_lone(self, lone: Mention, old: list[Mention]) -> Field | Problem:
        """Which end of the stay a single date without a role is for."""
        request = self.request
        for mention in old:
            matches = {
                Field.CHECK_IN: is_same(mention, request.check_in),
                Field.CHECK_OUT: is_same(mention, request.check_out),
            }
            if any(matches.values()) and not all(matches.values()):
                return next(part for part, same in matches.items() if same)
        asked = [part for part in (Field.CHECK_IN, Field.CHECK_OUT) if self.asked.about(part)]
        if request.check_in is None:
            return Field.CHECK_OUT if asked == [Field.CHECK_OUT] else Field.CHECK_IN
        if request.check_out is None:
            # "No wait, the eighteenth" is about the one date there is; "the twentieth" is not.
            return Field.CHECK_IN if takes_back(self.utterance) or old else Field.CHECK_OUT
        if len(asked) == 1:
            return asked[0]
        return self._nearer_end(lone, request.check_in, request.check_out)

    def _nearer_end(self, lone: Mention, check_in: date, check_out: date) -> Field | Problem:
        """The end of a known stay that a lone date corrects, where the dates make that clear."""
        as_check_in = self._resolved_check_in(lone, check_out=check_out)
        if isinstance(as_check_in, Impossible):
            return Field.CHECK_IN
        if as_check_in in (check_in, check_out):
            return Field.CHECK_IN if as_check_in == check_in else Field.CHECK_OUT
        if as_check_in > check_out:
            as_check_out = self._resolved_check_out(lone)
            if not isinstance(as_check_out, Impossible) and self._fits(check_in, as_check_out):
                return Field.CHECK_OUT
        if as_check_in < check_in:
            return Field.CHECK_IN
        from_start, to_end = abs((as_check_in - check_in).days), abs((check_out - as_check_in).days)
        if from_start * _CLEARLY_NEARER <= to_end:
            return Field.CHECK_IN
        if to_end * _CLEARLY_NEARER <= from_start:
            return Field.CHECK_OUT
        return Problem(
            ProblemKind.DATE_AMBIGUOUS,
            Field.CHECK_IN,
            self._words(lone),
            value=as_check_in,
            choices=(Field.CHECK_IN.value, Field.CHECK_OUT.value),
        )

    def _take_answer_about_end(self) -> None:
        """ "The check-out", said to the question which of the two a date was for."""
        doubt = next(
            (one for one in self.asked.problems if one.kind is ProblemKind.DATE_AMBIGUOUS), None
        )
        if doubt is None or not isinstance(doubt.value, date):
            return
        ends = {
            role
            for cues, role in (
                (CHECK_IN_CUES, Field.CHECK_IN),
                (CHECK_OUT_CUES, Field.CHECK_OUT),
            )
            if self.utterance.find(cues)
        }
        if ends == {Field.CHECK_IN}:
            self._set_check_in(doubt.value, doubt.words)
        elif ends == {Field.CHECK_OUT} and self.check_in is not None:
            self._set_check_out(doubt.value, doubt.words, None)

    def _take_weekend(self, weekend: Mention, length: StayLength | None) -> None:
        friday = weekend.exact
        assert friday is not None
        arrival = max(friday, self.today)
        sunday = friday + timedelta(days=2)
        if arrival >= sunday:  # "this weekend", said on a Sunday
            arrival, sunday = friday + timedelta(weeks=1), sunday + timedelta(weeks=1)
        self._set_check_in(arrival, self._words(weekend))
        if length is not None:
            self._take_length(length)
        else:
            self._set_check_out(sunday, self._words(weekend), weekend)

    def _take_check_in(
        self, arrival: Mention, departure: Mention | None, length: StayLength | None
    ) -> None:
        open_end = departure is not None or length is not None
        resolved = self._resolved_check_in(
            arrival, check_out=None if open_end else self.request.check_out
        )
        if isinstance(resolved, Impossible):
            self._add_problem(resolved, Field.CHECK_IN, arrival)
            return
        self._set_check_in(resolved, self._words(arrival))
        if not open_end:
            self._move_end_with_start(arrival)

    def _move_end_with_start(self, arrival: Mention) -> None:
        """Keep the length that the caller gave; a check-out date that cannot stay is dropped."""
        request = self.request
        assert self.check_in is not None
        if request.nights is not None:
            said = (one.words for one in reversed(request.history) if one.nights is not None)
            words = next(said, self._words(arrival))
            self._set_nights(request.nights, words)
        elif request.check_out is not None and not self._fits(self.check_in, request.check_out):
            nights = (request.check_out - self.check_in).days
            self.changes.append(Change(Field.CHECK_OUT, None, self._words(arrival), self.turn))
            self._add_stay_problem(nights, request.check_out, self._words(arrival))

    def _take_check_out(self, departure: Mention) -> None:
        resolved = self._resolved_check_out(departure)
        if isinstance(resolved, Impossible):
            self._add_problem(resolved, Field.CHECK_OUT, departure)
        else:
            self._set_check_out(resolved, self._words(departure), departure)

    def _is_start_by_length(self, length: StayLength | None) -> bool:
        return length is not None and not length.more and self.check_in is None

    def _take_end_and_length(self, departure: Mention, length: StayLength) -> None:
        """ "Three nights, until the twentieth": the check-in follows from both."""
        resolved = self._resolved_check_out(departure)
        if isinstance(resolved, Impossible):
            self._add_problem(resolved, Field.CHECK_OUT, departure)
            return
        arrival = resolved - timedelta(days=length.nights)
        if arrival < self.today:
            self._add_problem(
                Impossible(ProblemKind.DATE_IN_PAST, arrival), Field.CHECK_IN, departure
            )
            return
        self._set_check_in(arrival, self.utterance.said(length.first, length.last))
        self._set_check_out(resolved, self._words(departure), departure)

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

    def _set_check_out(self, day: date, words: str, mention: Mention | None) -> None:
        if self.check_in is not None and not self._fits(self.check_in, day):
            self._add_stay_problem((day - self.check_in).days, day, words)
            if self.request.check_out and not self._fits(self.check_in, self.request.check_out):
                self.changes.append(Change(Field.CHECK_OUT, None, words, self.turn))
        elif day != self.request.check_out:
            self.changes.append(Change(Field.CHECK_OUT, day, words, self.turn))

    def _set_nights(self, nights: int, words: str) -> None:
        if nights < 1:
            return
        if nights > self.hotel.max_nights:
            self._add_stay_problem(nights, None, words)
            return
        day = None if self.check_in is None else self.check_in + timedelta(days=nights)
        if day != self.request.check_out or nights != self.request.nights:
            self.changes.append(Change(Field.CHECK_OUT, day, words, self.turn, nights=nights))

    def _resolved_check_in(self, mention: Mention, *, check_out: date | None) -> Resolved:
        return resolve_check_in(
            mention,
            today=self.today,
            old=self.request.check_in,
            check_out=check_out,
            max_nights=self.hotel.max_nights,
            month=self.request.month,
        )

    def _resolved_check_out(self, mention: Mention) -> Resolved:
        return resolve_check_out(
            mention, today=self.today, check_in=self.check_in, max_nights=self.hotel.max_nights
        )

    def _fits(self, check_in: date, check_out: date) -> bool:
        return 0 < (check_out - check_in).days <= self.hotel.max_nights

    def _add_stay_problem(self, nights: int, check_out: date | None, words: str) -> None:
        if nights > self.hotel.max_nights:
            problem = Problem(
                ProblemKind.STAY_TOO_LONG,
                Field.CHECK_OUT,
                words,
                value=nights,
                limit=self.hotel.max_nights,
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
