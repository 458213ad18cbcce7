"""What hearing is told and what it tells: the data types of a turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from agent.booking.request import REQUIRED, BookingRequest, Change, Field, Value


class Answer(StrEnum):
    """The caller's answer to a read-back, where the turn holds one and nothing that changes it."""

    YES = "yes"
    NO = "no"
    NONE = "none"


class Intent(StrEnum):
    """What the caller wants of this turn, apart from the values in it."""

    BOOK = "book"
    QUESTION = "question"  # about the hotel
    CONFIRMED_QUESTION = "confirmed_question"  # "so it's booked?"
    PERSON = "person"
    GOODBYE = "goodbye"
    REPEAT = "repeat"
    NONE = "none"


class ProblemKind(StrEnum):
    """Why something that was heard cannot be taken as it is."""

    DATE_DOES_NOT_EXIST = "date_does_not_exist"  # "the thirty-first of November"
    DATE_IN_PAST = "date_in_past"  # value: the date
    DATE_INCOMPLETE = "date_incomplete"  # "in October": a month or week without its day
    DATE_AMBIGUOUS = "date_ambiguous"  # value: the date; choices: the fields it may be for
    WEEKDAY_MISMATCH = "weekday_mismatch"  # "Friday the 16th", a Saturday; value: the date
    CHECK_OUT_NOT_AFTER_CHECK_IN = "check_out_not_after_check_in"  # value: the check-out heard
    STAY_TOO_LONG = "stay_too_long"  # value: nights heard; limit: the hotel's
    TOO_MANY_GUESTS = "too_many_guests"  # value: guests heard; limit: the hotel's
    SEVERAL_ROOMS = "several_rooms"  # value: rooms heard; a request is for one
    ROOM_TYPE_UNKNOWN = "room_type_unknown"  # value: what was heard; choices: the hotel's types
    ROOM_TYPE_AMBIGUOUS = "room_type_ambiguous"  # choices: the types that were heard
    REFERENCE_MALFORMED = "reference_malformed"  # value: the letters and digits heard


@dataclass(frozen=True)
class Problem:
    """Something heard that has to be asked about, with what a question about it needs.

    Attributes:
        kind: why it cannot be taken.
        field: the part of the request that it was for; where `choices` are fields, the first.
        words: the caller's words for it.
        value: what was heard, by kind.
        limit: the hotel's limit that it is over, by kind.
        choices: the fields (as their values) or room types it may have meant, by kind.
    """

    kind: ProblemKind
    field: Field
    words: str
    value: Value | None = None
    limit: int | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What the agent's last turn was about.

    Attributes:
        fields: the parts of the request that it asked for.
        read_back: whether it read the whole request back and asked if that is right.
        problems: the problems that it asked about, so that a short answer ("the check-out") is
            understood.
    """

    fields: frozenset[Field] = frozenset()
    read_back: bool = False
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, asked: Asked | frozenset[Field]) -> Asked:
        return asked if isinstance(asked, Asked) else cls(fields=asked)

    @property
    def at_large(self) -> bool:
        """Whether the whole request was the subject, as in a read-back; no part in particular."""
        return self.read_back or self.fields.issuperset(REQUIRED)

    def about(self, *parts: Field) -> bool:
        """Whether any of these parts was asked for, by itself or because of a problem."""
        in_doubt = {problem.field for problem in self.problems}
        return any(
            part in in_doubt or (part in self.fields and not self.at_large) for part in parts
        )


@dataclass(frozen=True)
class Hearing:
    """What one turn of the caller says of the booking.

    Attributes:
        changes: values to take over with `BookingRequest.with_changes`, each with its words.
        answer: yes or no to a read-back.
        intent: what else the caller wants.
        problems: what was heard but has to be asked about.
    """

    changes: tuple[Change, ...] = field(default=())
    answer: Answer = Answer.NONE
    intent: Intent = Intent.NONE
    problems: tuple[Problem, ...] = field(default=())

    def taken_into(self, request: BookingRequest) -> BookingRequest:
        """The request after this turn.

        A reference that could not be taken is kept in the caller's words, for the front desk.
        """
        after = request.with_changes(self.changes)
        malformed = ProblemKind.REFERENCE_MALFORMED
        unclear = [found for found in self.problems if found.kind is malformed]
        return replace(after, unclear_reference=unclear[-1].words) if unclear else after


@dataclass(frozen=True)
class Found:
    """What one kind of hearing found: its changes and problems, and the tokens it used up."""

    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    used: frozenset[int] = frozenset()
