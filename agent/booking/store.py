"""Where booking requests are kept: saved as they fill, so that nothing a caller said is lost.

Each call has one row, with the whole request in it, and each write is one transaction: a process
killed at any moment leaves the last whole state. A request number is given once a call.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    DateTime,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from agent.booking.request import BookingRequest, Change, Field, Value

FIRST_NUMBER = 1001
# How long a write waits for others before it fails: a caller who waits for it hears silence.
_BUSY_TIMEOUT_S = 5.0
_READING = "reading"  # the execution option of a connection that takes no write lock

T = TypeVar("T")


class Status(StrEnum):
    """How far a request has come."""

    OPEN = "open"  # the call goes on, or ended before the caller confirmed
    FINISHED = "finished"  # confirmed by the caller; has a number


class StoreError(RuntimeError):
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


_METADATA = MetaData()
_REQUESTS = Table(
    "booking_requests",
    _METADATA,
    Column("call_id", String(200), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("number", Integer, unique=True, nullable=True),
    Column("request", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)


def open_store(database_url: str) -> SqlBookingStore:
    """Open the database, and make its table if it is not there.

    Args:
        database_url: as SQLAlchemy takes it, such as "sqlite:///hotel.sqlite3".

    Raises:
        StoreError: the database cannot be reached or written.
    """
    return SqlBookingStore(database_url, now=lambda: datetime.now(UTC))


class SqlBookingStore:
    """A `BookingStore` in any database that SQLAlchemy speaks to.

    Args:
        database_url: as SQLAlchemy takes it.
        now: the clock, for when a request was made and last changed; UTC.
    """

    def __init__(self, database_url: str, *, now: Callable[[], datetime]) -> None:
        self._now = now
        try:
            self._engine = create_engine(database_url)
        except (ArgumentError, SQLAlchemyError, ImportError) as error:
            raise _unusable(error) from None
        if self._engine.dialect.name == "sqlite":
            _prepare_sqlite(self._engine)
        self._transact(_METADATA.create_all)

    def close(self) -> None:
        self._engine.dispose()

    def save(self, call_id: str, request: BookingRequest, status: Status = Status.OPEN) -> None:
        self._transact(lambda connection: self._write(connection, call_id, request, status))

    def load(self, call_id: str) -> BookingRequest | None:
        mine = select(_REQUESTS.c.request).where(_REQUESTS.c.call_id == call_id)
        kept = self._transact(lambda connection: connection.scalar(mine), reading=True)
        return None if kept is None else request_from_json(kept)

    def finish(self, call_id: str, request: BookingRequest) -> str:
        def write(connection: Connection) -> str:
            self._write(connection, call_id, request, Status.FINISHED)
            return self._numbered(connection, call_id)

        return self._transact(write)

    def list_requests(self) -> list[StoredRequest]:
        newest_first = select(_REQUESTS).order_by(
            _REQUESTS.c.created_at.desc(), _REQUESTS.c.call_id
        )
        rows = self._transact(
            lambda connection: connection.execute(newest_first).all(), reading=True
        )
        return [
            StoredRequest(
                call_id=row.call_id,
                request=request_from_json(row.request),
                status=Status(row.status),
                number=None if row.number is None else str(row.number),
                created_at=_in_utc(row.created_at),
                updated_at=_in_utc(row.updated_at),
            )
            for row in rows
        ]

    def _transact(self, work: Callable[[Connection], T], *, reading: bool = False) -> T:
        """Do some work in one transaction, from the start again while others are in its way.

        SQLite's own waiting does not cover all of its locks, and a row or a number may have been
        taken by another in the same moment.
        """
        engine = self._engine.execution_options(**{_READING: reading})
        try:
            for attempt in Retrying(
                retry=retry_if_exception(_is_passing),
                wait=wait_random_exponential(multiplier=0.01, max=0.2),
                stop=stop_after_delay(_BUSY_TIMEOUT_S),
                reraise=True,
            ):
                with attempt, engine.begin() as connection:
                    result = work(connection)
        except SQLAlchemyError as error:
            raise _unusable(error) from None
        return result

    def _write(
        self, connection: Connection, call_id: str, request: BookingRequest, status: Status
    ) -> None:
        """Update the call's row, or insert it. A finished request stays finished."""
        now = self._now()
        values: dict[str, Any] = {"request": request_to_json(request), "updated_at": now}
        if status is Status.FINISHED:
            values["status"] = status.value
        mine = _REQUESTS.c.call_id == call_id
        if connection.execute(update(_REQUESTS).where(mine).values(**values)).rowcount == 0:
            values |= {"call_id": call_id, "status": status.value, "created_at": now}
            connection.execute(insert(_REQUESTS).values(**values))

    def _numbered(self, connection: Connection, call_id: str) -> str:
        """The call's number, given now if it has none."""
        mine = _REQUESTS.c.call_id == call_id
        number = connection.execute(select(_REQUESTS.c.number).where(mine)).scalar_one()
        if number is None:
            last = connection.execute(
                select(_REQUESTS.c.number)
                .where(_REQUESTS.c.number.is_not(None))
                .order_by(_REQUESTS.c.number.desc())
                .limit(1)
            ).scalar()
            number = FIRST_NUMBER if last is None else last + 1
            connection.execute(update(_REQUESTS).where(mine).values(number=number))
        return str(number)


def _is_passing(error: BaseException) -> bool:
    """Whether the work may well succeed if it is done again."""
    locked = isinstance(error, OperationalError) and "locked" in str(error.orig)
    return locked or isinstance(error, IntegrityError)


def _unusable(error: Exception) -> StoreError:
    # The error's own text may hold the URL's password, and what a caller said.
    return StoreError(
        "DATABASE_URL: expected a database that can be opened and written, such as "
        f"sqlite:///hotel.sqlite3; it could not be ({type(error).__name__})"
    )


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


def _in_utc(moment: datetime) -> datetime:
    """SQLite gives times back without their zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _prepare_sqlite(engine: Engine) -> None:
    """Readers beside a writer, every commit on disk, and writers that wait for one another."""

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # the driver's own BEGIN would come too late
        connection.execute(f"PRAGMA busy_timeout={int(_BUSY_TIMEOUT_S * 1000)}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads before it writes must hold the write lock from the start, or
        # SQLite refuses it when another has written in between.
        reading = connection.get_execution_options().get(_READING, False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
