"""Requests as the front desk reads them: each value with the caller's words for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from desk.requests import Document, Kept, Status

UNKNOWN = "unknown"
COLUMNS = ("Number", "Name", "Stay", "Guests", "Room", "State", "Begun (UTC)")
# Of the request's own keys: not what the caller asked for.
_NOT_VALUES = ("history", "confirmed", "nights", "month")


@dataclass(frozen=True)
class Said:
    """One thing that the caller said of a value: what it became, in which words, in which turn."""

    value: str
    words: str
    turn: int | None


@dataclass(frozen=True)
class Value:
    """A value of a request as it stands, and how it came to be, the latest first."""

    name: str
    now: str
    said: tuple[Said, ...]


def title(kept: Kept) -> str:
    """A request in a line: its number, who, and when."""
    number = f"No. {kept.number}" if kept.number else "No number"
    known = [kept.request.get("guest_name"), _stay(kept.request)]
    return " · ".join([number, *(one for one in known if one), describe(kept.status)])


def summary(kept: Kept) -> dict[str, str]:
    """A request's cells, by `COLUMNS`."""
    request = kept.request
    cells = (
        kept.number or "–",
        _text(request.get("guest_name")),
        _stay(request) or UNKNOWN,
        _text(request.get("guests")),
        _text(request.get("room_type")),
        describe(kept.status),
        f"{kept.created_at:%Y-%m-%d %H:%M}",
    )
    return dict(zip(COLUMNS, cells, strict=True))


def describe(status: Status) -> str:
    """What a status means, for people."""
    return "confirmed by the caller" if status is Status.FINISHED else "not finished"


def values(request: Document) -> list[Value]:
    """Every value of a request, known or not, in the request's own order."""
    history = request.get("history") or []
    return [
        Value(name.replace("_", " "), _shown(name, value), _said(name, history))
        for name, value in request.items()
        if name not in _NOT_VALUES
    ]


def matching(requests: Sequence[Kept], wanted: str) -> list[Kept]:
    """The requests that hold all of the words somewhere in their number, call or values."""
    words = wanted.casefold().split()
    return [kept for kept in requests if all(word in _haystack(kept) for word in words)]


def _stay(request: Document) -> str:
    days = (request.get(name) for name in ("check_in", "check_out"))
    return " to ".join(_day(day) for day in days if day)


def _haystack(kept: Kept) -> str:
    known = (value for name, value in kept.request.items() if name not in _NOT_VALUES and value)
    return " ".join([kept.number or "", kept.call_id, *map(str, known)]).casefold()


def _said(name: str, history: Sequence[Mapping[str, Any]]) -> tuple[Said, ...]:
    return tuple(
        Said(_became(name, change), str(change.get("words", "")), change.get("turn"))
        for change in reversed(history)
        if change.get("field") == name
    )


def _became(name: str, change: Mapping[str, Any]) -> str:
    if change.get("new") is None and change.get("nights"):
        return f"{change['nights']} nights"
    return _shown(name, change.get("new"))


def _shown(name: str, value: object) -> str:
    return _day(str(value)) if name in ("check_in", "check_out") and value else _text(value)


def _text(value: object) -> str:
    return UNKNOWN if value is None or value == "" else str(value)


def _day(iso: str) -> str:
    return f"{date.fromisoformat(iso):%a %-d %b %Y}"
