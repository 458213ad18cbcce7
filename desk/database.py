"""The database: SQLite by default, PostgreSQL by `DATABASE_URL`; transactions that are whole."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

# How long a write waits for others before it fails: a caller who waits for it hears silence.
BUSY_TIMEOUT_S = 5.0
_READING = "reading"  # the execution option of a connection that takes no write lock
_TRY_AGAIN = ("40001", "40P01")  # PostgreSQL: serialization failure, deadlock

T = TypeVar("T")


class DatabaseError(RuntimeError):
    """The database cannot be used; the message says which setting to look at."""


class Database:
    """One database, safe to use from any thread.

    Args:
        url: as SQLAlchemy takes it, such as "sqlite:///hotel.sqlite3" or
            "postgresql://desk@localhost/hotel".

    Raises:
        DatabaseError: the URL names no database that could be used.
    """

    def __init__(self, url: str) -> None:
        try:
            address = make_url(url)
            if address.drivername in ("postgresql", "postgres"):
                address = address.set(drivername="postgresql+psycopg")
            # A connection that its server has closed meanwhile is opened again.
            self.engine = create_engine(address, pool_pre_ping=True)
        except (ArgumentError, SQLAlchemyError, ImportError) as error:
            raise _unusable(error) from None
        if self.engine.dialect.name == "sqlite":
            _prepare_sqlite(self.engine)

    def close(self) -> None:
        self.engine.dispose()

    def transact(self, work: Callable[[Connection], T], *, reading: bool = False) -> T:
        """Do some work in one transaction, from the start again while others are in its way.

        SQLite's own waiting does not cover all of its locks, and a row or a number may have been
        taken by another in the same moment.

        Raises:
            DatabaseError: it cannot be done.
        """
        engine = self.engine.execution_options(**{_READING: reading})
        try:
            for attempt in Retrying(
                retry=retry_if_exception(_is_passing),
                wait=wait_random_exponential(multiplier=0.01, max=0.2),
                stop=stop_after_delay(BUSY_TIMEOUT_S),
                reraise=True,
            ):
                with attempt, engine.begin() as connection:
                    result = work(connection)
        except SQLAlchemyError as error:
            raise _unusable(error) from None
        return result


def in_utc(moment: datetime) -> datetime:
    """SQLite gives times back without their zone, which is UTC."""
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_passing(error: BaseException) -> bool:
    """Whether the work may well succeed if it is done again."""
    if not isinstance(error, OperationalError):
        return isinstance(error, IntegrityError)
    return "locked" in str(error.orig) or getattr(error.orig, "sqlstate", None) in _TRY_AGAIN


def _unusable(error: Exception) -> DatabaseError:
    # The error's own text may hold the URL's password, and what a caller said.
    return DatabaseError(
        "DATABASE_URL: expected a database that can be opened and written, such as "
        "sqlite:///hotel.sqlite3 or postgresql://USER:PASSWORD@HOST/NAME; it could not be "
        f"({type(error).__name__})"
    )


def _prepare_sqlite(engine: Engine) -> None:
    """Readers beside a writer, every commit on disk, and writers that wait for one another."""

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # the driver's own BEGIN would come too late
        connection.execute(f"PRAGMA busy_timeout={int(BUSY_TIMEOUT_S * 1000)}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        # What is deleted is overwritten: it is what callers said.
        connection.execute("PRAGMA secure_delete=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads before it writes must hold the write lock from the start, or
        # SQLite refuses it when another has written in between.
        reading = connection.get_execution_options().get(_READING, False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
