"""The booking request: the data of a call that the code owns.

A value counts only with its evidence (the caller's own words); a corrected value replaces the old
one, which stays in the history.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Any

Value = str | int | date


class Field(StrEnum):
    """The parts of a booking request, in the order in which they are asked for."""

    CHECK_IN = "check_in"
    CHECK_OUT = "check_out"
    GUESTS = "guests"
    ROOM_TYPE = "room_type"
    GUEST_NAME = "guest_name"
    REFERENCE = "reference"


# A reference is taken when the caller has one; a new booking has none.
REQUIRED = tuple(part for part in Field if part is not Field.REFERENCE)


@dataclass(frozen=True)
class Change:
    """One value heard from the caller: which part, what it was before, and the words for it.

    `new` is None where what stood before no longer does (a check-out that a new check-in has
    passed), or where the words give only a part of a date: `nights` is a length of stay, which
    belongs to CHECK_OUT, and `month` (1 to 12) a month without its day, which belongs to CHECK_IN.
    """

    field: Field
    new: Value | None
    words: str
    turn: int
    old: Value | None = None
    nights: int | None = None
    month: int | None = None


@dataclass(frozen=True)
class BookingRequest:
    """What the caller asked for so far, and each change that led there."""

    check_in: date | None = None
    check_out: date | None = None
    guests: int | None = None
    room_type: str | None = None
    guest_name: str | None = None
    reference: str | None = None
    nights: int | None = None  # the stay's length, where the caller gave that and not its end
    month: int | None = None  # of the check-in, while its day is not known
    unclear_reference: str | None = None  # the caller's words for one that could not be taken
    confirmed: bool = False  # the caller said yes to the whole read-back
    history: tuple[Change, ...] = field(default=())

    def get(self, part: Field) -> Value | None:
        value: Value | None = getattr(self, part.value)
        return value

    def missing(self) -> tuple[Field, ...]:
        """The required parts that the caller has not given, in the order of asking.

        The check-out is not missing where the number of nights is known: it follows from the
        check-in.
        """
        given = {Field.CHECK_OUT} if self.nights is not None and self.check_in is None else set()
        return tuple(part for part in REQUIRED if self.get(part) is None and part not in given)

    def with_changes(self, changes: tuple[Change, ...]) -> BookingRequest:
        """The request after these changes; a changed request is no longer confirmed.

        Each change's `old` is filled in from this request; a change to the value that already
        stands is left out.
        """
        request = self
        for change in changes:
            old = request.get(change.field)
            values: dict[str, Any] = {change.field.value: change.new}
            if change.field is Field.CHECK_OUT:
                values["nights"] = change.nights
            if change.field is Field.CHECK_IN:
                values["month"] = change.month
            if change.field is Field.REFERENCE:
                values["unclear_reference"] = None
            if old == change.new and not request._is_news(change):
                continue
            request = replace(
                request,
                **values,
                confirmed=False,
                history=(*request.history, replace(change, old=old)),
            )
        return request

    def _is_news(self, change: Change) -> bool:
        """Whether a change without a value still tells a part of a date that was not known."""
        return change.new is None and (
            change.nights not in (None, self.nights) or change.month not in (None, self.month)
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """The values as JSON types: dates as ISO 8601, what is unknown as null."""
        return {
            part.value: value.isoformat() if isinstance(value := self.get(part), date) else value
            for part in Field
        }
