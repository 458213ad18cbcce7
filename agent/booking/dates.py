"""Check-in and check-out: which date of a turn is which, and what changes by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

from agent.booking.corrections import negated, replacing, takes_back
from agent.booking.date_mentions import Mention, Shape, find_mentions
from agent.booking.date_resolution import (
    Impossible,
    Resolved,
    resolve_check_in,
    resolve_check_out,
    with_month_of,
)
from agent.booking.heard import Asked, Found, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.stay_lengths import StayLength, find_stay_length
from agent.booking.tokens import Utterance

CHECK_IN_CUES = (
    "check in",
    "check - in",
    "checkin",
    "checking in",
    "checking - in",
    "check and date",  # what Whisper makes of "check-in date"
    "check and",
    "chicken date",
    "chicken",
    "check in date",
    "arrive",
    "arriving",
    "arrival",
    "arrives",
    "from",
    "starting",
    "start",
    "starts",
    "beginning",
    "coming in",
    "coming on",
    "come in",
    "get there",
    "getting there",
    "get in",
    "between",
)
CHECK_OUT_CUES = (
    "check out",
    "check - out",
    "checkout",
    "checking out",
    "checking - out",
    "check out date",
    "leave",
    "leaving",
    "leaves",
    "depart",
    "departing",
    "departure",
    "until",
    "till",
    "til",
    "through",
    "thru",
    "ending",
    "ends",
    "end",
    "up to",
    "going home",
    "go home",
    "heading home",
)
# Alone between two dates, these make a range of them.
_RANGE_WORDS = frozenset({"to", "through", "thru", "until", "till", "til", "-", "–", "—", "too"})
_MOVING = ("change", "move", "switch", "shift", "push", "swap")
_FILLER = frozenset(
    {
        "the",
        "on",
        "is",
        "to",
        ",",
        "my",
        "our",
        "date",
        "as",
        "for",
        "will",
        "be",
        "a",
        "it's",
        "of",
    }
)
_TRAILING_LINKS = frozenset({"is", "as", "for", "my", "our", "the", "being", "will", "be", "to"})
# A lone date this many times nearer to one end of the stay than to the other is a correction of it.
_CLEARLY_NEARER = 3


@dataclass(frozen=True)
class _Said:
    """A mention, and which end of the stay its words make it."""

    mention: Mention
    role: Field | None = None


def hear_dates(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    today: date,
    hotel: Hotel,
    turn: int,
    taken: frozenset[int] = frozenset(),
) -> Found:
    """What a turn says of the stay's dates and length.

    Args:
        utterance: the turn.
        request: what is known so far.
        asked: what the agent's last turn was about.
        today: the hotel's date; the earliest check-in.
        hotel: its limits, and how it reads dates in numbers.
        turn: the turn's number, for the evidence.
        taken: tokens that belong to something else.
    """
    mentions = find_mentions(
        utterance,
        today=today,
        order=hotel.date_order,
        taken=taken,
        bare_numbers=asked.about(Field.CHECK_IN, Field.CHECK_OUT),
    )
    in_mentions = frozenset(
        index for mention in mentions for index in range(mention.first, mention.last + 1)
    )
    length = find_stay_length(utterance, taken | in_mentions)
    used = in_mentions | (
        frozenset(range(length.first, length.last + 1)) if length else frozenset()
    )
    stay = _Stay(utterance, request, asked, today, hotel, turn)
    nights_of = _nights_of(utterance, mentions)
    if nights_of is not None:
        stay.take_nights_of(*nights_of)
    else:
        said, old = _with_roles(utterance, mentions, request)
        stay.take(said, old, length)
    return Found(tuple(stay.changes), tuple(stay.problems), used)


def _nights_of(
    utterance: Utterance, mentions: tuple[Mention, ...]
) -> tuple[Mention, Mention] | None:
    """The first and last night of "the nights of the fourth and fifth"."""
    for start, end in utterance.find(("night of", "nights of")):
        if utterance.words[start - 1 : start] in (("a",), ("one",)):
            continue
        nights = [mention for mention in mentions if mention.first > end]
        if nights and nights[0].first <= end + 2:
            return nights[0], nights[-1]
    return None


def _with_roles(
    utterance: Utterance, mentions: tuple[Mention, ...], request: BookingRequest
) -> tuple[list[_Said], list[Mention]]:
    """The mentions that stand, with their roles; and those that name what no longer does."""
    said: list[_Said] = []
    old: list[Mention] = []
    previous: Mention | None = None
    trailing_end = -1
    for number, mention in enumerate(mentions):
        gap_start = max(previous.last + 1 if previous else 0, trailing_end + 1)
        role = _leading_role(utterance, gap_start, mention.first)
        following = mentions[number + 1] if number + 1 < len(mentions) else None
        trailing = _trailing_role(utterance, mention, following)
        if trailing is not None:
            role, trailing_end = trailing
        joined = previous is not None and _is_range(utterance, previous, mention)
        moved = joined and previous is not None and _names_old(utterance, previous, request)
        if negated(utterance, mention.first):
            old.append(mention)
        elif moved and said:
            old.append(said.pop().mention)
            said.append(_Said(mention, _role_of_old(old[-1], request, role)))
        elif joined and said and said[-1].mention is previous:
            said[-1] = replace(said[-1], role=said[-1].role or Field.CHECK_IN)
            said.append(_Said(mention, Field.CHECK_OUT))
        else:
            replaces = previous is not None and replacing(
                utterance, previous.last + 1, mention.first
            )
            _add(said, _Said(mention, role), replaces)
        previous = mention
    return said, old


def _add(said: list[_Said], new: _Said, replaces: bool) -> None:
    """Add a mention; one that replaces an earlier one takes its place and its role."""
    if replaces and said:
        same = [place for place, one in enumerate(said) if new.role in (None, one.role)]
        if same:
            place = same[-1]
            said[place] = _Said(
                _completed(new.mention, said[place].mention), new.role or said[place].role
            )
            return
    same_role = [place for place, one in enumerate(said) if new.role and one.role is new.role]
    if same_role:
        said[same_role[-1]] = new
    else:
        said.append(new)


def _completed(new: Mention, old: Mention) -> Mention:
    """A correction with the month of what it replaces: "October fourth, no, the fifth"."""
    if new.shape is Shape.DAY and new.day is not None and new.month is None:
        return replace(new, month=old.month, year=old.year)
    return new


def _leading_role(utterance: Utterance, start: int, before: int) -> Field | None:
    """The role that the words before a mention give it: the nearest cue's."""
    cues = [(end, Field.CHECK_IN) for first, end in utterance.find(CHECK_IN_CUES) if first >= start]
    cues += [
        (end, Field.CHECK_OUT) for first, end in utterance.find(CHECK_OUT_CUES) if first >= start
    ]
    near = [cue for cue in cues if cue[0] < before]
    return max(near)[1] if near else None


def _trailing_role(
    utterance: Utterance, mention: Mention, following: Mention | None
) -> tuple[Field, int] | None:
    """The role of "the sixteenth is my check-in", and the last token of those words."""
    words = utterance.words
    index = mention.last + 1
    while index < len(words) and words[index] in _TRAILING_LINKS:
        index += 1
    linked = index > mention.last + 1
    if not linked and following is not None:
        return None
    for cues, role in ((CHECK_IN_CUES, Field.CHECK_IN), (CHECK_OUT_CUES, Field.CHECK_OUT)):
        for first, end in utterance.find(cues):
            # "the sixteenth to leave the twentieth": the cue leads on to the next date.
            leads_on = following is not None and all(
                word in _FILLER for word in words[end + 1 : following.first]
            )
            if first == index and not leads_on:
                return role, end
    return None


def _is_range(utterance: Utterance, first: Mention, second: Mention) -> bool:
    between = [
        word for word in utterance.words[first.last + 1 : second.first] if word not in ("the", "on")
    ]
    between = [word for word in between if word not in (",", "about", "up")]
    if between == ["and"]:
        return utterance.words[max(0, first.first - 2) : first.first].count("between") > 0
    return len(between) == 1 and between[0] in _RANGE_WORDS


def _names_old(utterance: Utterance, first: Mention, request: BookingRequest) -> bool:
    """Whether "from A" in "change it from A to B" names a date of the request."""
    if not any(end < first.first for _, end in utterance.find(_MOVING)):
        return False
    return any(_is_same(first, day) for day in (request.check_in, request.check_out))


def _role_of_old(old: Mention, request: BookingRequest, role: Field | None) -> Field | None:
    if role is not None:
        return role
    return Field.CHECK_IN if _is_same(old, request.check_in) else Field.CHECK_OUT


def _is_same(mention: Mention, day: date | None) -> bool:
    """Whether a mention, as far as it goes, names this date."""
    if day is None:
        return False
    if mention.exact is not None:
        return mention.exact == day
    if mention.day is None:
        return mention.weekday == day.weekday()
    return mention.day == day.day and mention.month in (None, day.month)


class _Stay:
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

    def take(self, said: list[_Said], old: list[Mention], length: StayLength | None) -> None:
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
        self, said: list[_Said], old: list[Mention]
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
                Field.CHECK_IN: _is_same(mention, request.check_in),
                Field.CHECK_OUT: _is_same(mention, request.check_out),
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
            words = next(
                change.words
                for change in reversed(request.history)
                if change.field is Field.CHECK_OUT
            )
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
