"""Requests: one a call, saved as they fill, each write whole.

A process that is killed at any moment leaves the last whole state. A number is given once a call,
and whatever the hotel has to be told is put into the outbox by the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, insert, select, update

from desk import outbox
from desk.database import Database, in_utc
from desk.tables import REQUESTS

FIRST_NUMBER = 1001

Document = dict[str, Any]
"""A request as JSON: its values by name, and `history`, each change with the caller's words."""


class Status(StrEnum):
    """How far a request has come."""

    OPEN = "open"  # the call goes on, or ended before the caller confirmed
    FINISHED = "finished"  # confirmed by the caller; has a number


@dataclass(frozen=True)
class Kept:
    """A request as it is kept; `number` is None while it is open."""

    call_id: str
    status: Status
    number: str | None
    request: Document
    created_at: datetime
    updated_at: datetime


class Requests:
    """All calls' requests. Synchronous and quick; safe to use from any thread.

    Every method raises `DatabaseError` where the database cannot be used.

    Args:
        database: with its tables up to date.
        now: the clock, for when a request was made and last changed; UTC.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def save(self, call_id: str, request: Document, status: Status = Status.OPEN) -> None:
        """Keep the call's request as it is now. A finished request stays finished."""
        self._database.transact(lambda it: self._write(it, call_id, request, status))

    def load(self, call_id: str) -> Document | None:
        """The call's request, or None if nothing was kept."""
        mine = select(REQUESTS.c.request).where(REQUESTS.c.call_id == call_id)
        kept: Document | None = self._database.transact(lambda it: it.scalar(mine), reading=True)
        return kept

    def finish(self, call_id: str, request: Document) -> str:
        """Keep the confirmed request and give it a number; the same one if the call has one."""
        return self._database.transact(
            lambda it: str(self._write(it, call_id, request, Status.FINISHED))
        )

    def newest(self, limit: int | None = None) -> list[Kept]:
        """The requests, the newest first; all of them if `limit` is None."""
        query = select(REQUESTS).order_by(REQUESTS.c.created_at.desc(), REQUESTS.c.call_id)
        rows = self._database.transact(
            lambda it: it.execute(query.limit(limit)).all(), reading=True
        )
        return [_kept(row) for row in rows]

    def _write(
        self, connection: Connection, call_id: str, request: Document, status: Status
    ) -> int | None:
        """Update the call's row, or insert it; returns its number, if it has one now."""
        now = self._now()
        mine = REQUESTS.c.call_id == call_id
        # On PostgreSQL the row's lock keeps a second writer of the same call out until the end.
        before = connection.execute(select(REQUESTS).where(mine).with_for_update()).one_or_none()
        was_finished = before is not None and before.status == Status.FINISHED
        number = None if before is None else before.number
        if status is Status.FINISHED and number is None:
            number = _next_number(connection)
        values = {
            "request": request,
            "status": Status.FINISHED.value if was_finished else status.value,
            "number": number,
            "updated_at": now,
        }
        if before is None:
            values |= {"call_id": call_id, "created_at": now}
            connection.execute(insert(REQUESTS).values(**values))
        else:
            connection.execute(update(REQUESTS).where(mine).values(**values))
        if status is Status.FINISHED and not was_finished:
            outbox.put(connection, outbox.FINISHED, call_id, number, request, now)
        elif before is not None and was_finished and before.request != request:
            outbox.put(connection, outbox.CHANGED, call_id, number, request, now)
        return number


def _next_number(connection: Connection) -> int:
    """One more than the last; another who takes the same one is refused by the table."""
    numbered = REQUESTS.c.number.is_not(None)
    last = connection.scalar(
        select(REQUESTS.c.number).where(numbered).order_by(REQUESTS.c.number.desc()).limit(1)
    )
    return FIRST_NUMBER if last is None else int(last) + 1


def _kept(row: Any) -> Kept:
    return Kept(
        call_id=row.call_id,
        status=Status(row.status),
        number=None if row.number is None else str(row.number),
        request=row.request,
        created_at=in_utc(row.created_at),
        updated_at=in_utc(row.updated_at),
    )
