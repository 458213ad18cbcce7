"""The values that a text can mention: dates, times, amounts, counts and spelled codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mention:
    """A value in a text: its words and where they stand, as character offsets."""

    words: str
    start: int
    end: int


@dataclass(frozen=True)
class DateMention(Mention):
    """A date as far as it was said.

    `weekday` is 0 for Monday, `offset` in days from today; a `vague` one ("next month") says no day
    that could be checked.
    """

    month: int | None = None
    day: int | None = None
    year: int | None = None
    weekday: int | None = None
    offset: int | None = None
    vague: bool = False


@dataclass(frozen=True)
class TimeMention(Mention):
    """A time of day: `hour` 0 to 11, `half` "a" or "p" where it was said."""

    hour: int
    minute: int
    half: str | None


@dataclass(frozen=True)
class AmountMention(Mention):
    """Money, a percentage or a temperature; `number` as said, `unit` in the singular."""

    number: str
    unit: str


@dataclass(frozen=True)
class CountMention(Mention):
    """A plain number and what it counts: "guest", "night", "room", another noun, or ""."""

    number: int
    unit: str


@dataclass(frozen=True)
class CodeMention(Mention):
    """Letters and digits one by one: a reference, a telephone number, a spelled name."""

    code: str
