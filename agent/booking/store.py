"""Where booking requests are kept: saved as they fill, so that nothing a caller said is lost.

The front desk keeps them, as JSON; here they become what a call works with.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime
from typing import Any, Protocol

from agent.booking.request import BookingRequest, Change, Field, Value
from desk.database import Database, DatabaseError
from desk.migrate import open_database
from desk.requests import Requests, Status

StoreError = DatabaseError
"""The database cannot be used; the message says which setting to look at."""


@dataclass(frozen=True)
class StoredRequest:
    """A request as it is kept; `number` is None while it is open."""

    call_id: str
    request: BookingRequest
    status: Status
    number: str | None
    created_at: datetime
    updated_at: datetime


class BookingStore(Protocol):
    """Keeps one booking request a call. Synchronous and quick; safe to use from any thread.

    Every method raises `StoreError` where the database cannot be used.
    """

    def save(self, call_id: str, request: BookingRequest, status: Status = Status.OPEN) -> None:
        """Keep the call's request as it is now, in place of what was kept before."""

    def load(self, call_id: str) -> BookingRequest | None:
        """The call's request with its history, or None if nothing was kept."""

    def finish(self, call_id: str, request: BookingRequest) -> str:
        """Keep the confirmed request and give it a number; the same one if the call has one."""

    def list_requests(self) -> list[StoredRequest]:
        """All requests, the newest first."""


def open_store(database_url: str) -> SqlBookingStore:
    """Open the database, and bring its tables up to date.

    Args:
        database_url: as SQLAlchemy takes it, such as "sqlite:///hotel.sqlite3".

    Raises:
        StoreError: the database cannot be reached or written.
    """
    return SqlBookingStore(database_url, now=lambda: datetime.now(UTC))


class SqlBookingStore:
    """A `BookingStore` in the front desk's database.

    Args:
        database_url: as SQLAlchemy takes it.
        now: the clock, for when a request was made and last changed; UTC.
    """

    def __init__(self, database_url: str, *, now: Callable[[], datetime]) -> None:
        self._database: Database = open_database(database_url)
        self._requests = Requests(self._database, now=now)

    def close(self) -> None:
        self._database.close()

    def save(self, call_id: str, request: BookingRequest, status: Status = Status.OPEN) -> None:
        self._requests.save(call_id, request_to_json(request), status)

    def load(self, call_id: str) -> BookingRequest | None:
        kept = self._requests.load(call_id)
        return None if kept is None else request_from_json(kept)

    def finish(self, call_id: str, request: BookingRequest) -> str:
        return self._requests.finish(call_id, request_to_json(request))

    def list_requests(self) -> list[StoredRequest]:
        return [
            StoredRequest(
                call_id=kept.call_id,
                request=request_from_json(kept.request),
                status=kept.status,
                number=kept.number,
                created_at=kept.created_at,
                updated_at=kept.updated_at,
            )
            for kept in self._requests.newest()
        ]


def request_to_json(request: BookingRequest) -> dict[str, Any]:
    """The whole request, history included, as JSON types."""
    data = asdict(request)
    return dict(json.loads(json.dumps(data, default=date.isoformat)))


def request_from_json(data: dict[str, Any]) -> BookingRequest:
    """The request that `request_to_json` wrote; what this version does not know is left out."""
    known = {item.name for item in fields(BookingRequest)} & data.keys()
    values = {name: data[name] for name in known - {"history"}}
    for part in (Field.CHECK_IN, Field.CHECK_OUT):
        values[part.value] = _value(part, values.get(part.value))
    history = tuple(_change(change) for change in data.get("history", ()))
    return BookingRequest(**values, history=history)


def _change(data: dict[str, Any]) -> Change:
    part = Field(data["field"])
    known = {item.name for item in fields(Change)} & data.keys()
    values = {name: data[name] for name in known}
    return Change(
        **{
            **values,
            "field": part,
            "new": _value(part, data["new"]),
            "old": _value(part, data["old"]),
        }
    )


def _value(part: Field, value: str | int | None) -> Value | None:
    if isinstance(value, str) and part in (Field.CHECK_IN, Field.CHECK_OUT):
        return date.fromisoformat(value)
    return value
