"""The outbox: what the hotel's own system is to be told, kept until it is accepted.

A message is written by the transaction that made it true, so neither a crash nor a dead receiver
loses it. It is delivered at least once; its id is the same each time, for the receiver to tell.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, and_, func, insert, or_, select, update

from desk.database import Database
from desk.tables import OUTBOX

FINISHED = "request.finished"  # the caller has confirmed
CHANGED = "request.changed"  # and then, in the same call, said something else

# Longer than a delivery can take: after it, whoever claimed the message is taken for dead.
CLAIM = timedelta(seconds=60)
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(hours=1)


@dataclass(frozen=True)
class Message:
    """One thing to tell; `attempts` were made before."""

    id: str
    body: str
    attempts: int


def put(
    connection: Connection,
    kind: str,
    call_id: str,
    number: int | None,
    request: dict[str, Any],
    now: datetime,
) -> None:
    """Write a message, within the transaction of what it tells."""
    last = connection.scalar(select(func.max(OUTBOX.c.position)).where(OUTBOX.c.call_id == call_id))
    data = {"call_id": call_id, "number": str(number), "request": request}
    body = {"type": kind, "timestamp": now.isoformat(timespec="milliseconds"), "data": data}
    connection.execute(
        insert(OUTBOX).values(
            id=f"msg_{uuid.uuid4().hex}",
            position=1 if last is None else last + 1,
            call_id=call_id,
            body=json.dumps(body, ensure_ascii=False),
            created_at=now,
            attempts=0,
            next_attempt_at=now,
        )
    )


def wait_after(attempts: int, spread: float) -> timedelta:
    """How long to wait after so many failed attempts: twice as long each time, up to an hour.

    Args:
        attempts: made so far, at least 1.
        spread: from 0 to 1, random: keeps those who failed together from coming back together.
    """
    doubled = FIRST_WAIT * 2 ** min(attempts - 1, 20)
    return min(doubled, LONGEST_WAIT) * (0.75 + 0.5 * spread)


class Outbox:
    """The messages that are still to be delivered.

    Every method raises `DatabaseError` where the database cannot be used.

    Args:
        database: with its tables up to date.
        now: the clock; UTC.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def claim(self) -> Message | None:
        """The message to deliver next, which nobody else will be given for a while.

        A call's messages are delivered in order: a later one waits until the earlier is accepted.
        """

        def look(connection: Connection) -> bool:
            return connection.execute(_due(self._now())).first() is not None

        def take(connection: Connection) -> Message | None:
            now = self._now()
            row = connection.execute(_due(now).with_for_update(skip_locked=True)).one_or_none()
            if row is None:
                return None
            connection.execute(
                update(OUTBOX).where(OUTBOX.c.id == row.id).values(claimed_until=now + CLAIM)
            )
            return Message(row.id, row.body, row.attempts)

        # Mostly there is none, and looking takes no lock from a call that wants to write.
        if not self._database.transact(look, reading=True):
            return None
        return self._database.transact(take)

    def accepted(self, message: Message) -> None:
        """The receiver has it."""
        self._settle(message, accepted_at=self._now(), last_error=None)

    def failed(self, message: Message, error: str, spread: float) -> datetime:
        """The receiver has not taken it; returns when it will be tried again.

        Args:
            message: as it was claimed.
            error: what happened, without what the message says.
            spread: see `wait_after`.
        """
        again_at = self._now() + wait_after(message.attempts + 1, spread)
        self._settle(message, next_attempt_at=again_at, last_error=error[:200])
        return again_at

    def waiting(self) -> int:
        """How many messages were not accepted yet."""
        count = select(func.count()).select_from(OUTBOX).where(OUTBOX.c.accepted_at.is_(None))
        return int(self._database.transact(lambda it: it.scalar(count), reading=True) or 0)

    def _settle(self, message: Message, **values: Any) -> None:
        mine = OUTBOX.c.id == message.id
        tried = {"attempts": message.attempts + 1, "claimed_until": None, **values}
        self._database.transact(lambda it: it.execute(update(OUTBOX).where(mine).values(**tried)))


def _due(now: datetime) -> Select[Any]:
    """The message whose turn it is, of those that nobody has claimed."""
    earlier = OUTBOX.alias()
    free = or_(OUTBOX.c.claimed_until.is_(None), OUTBOX.c.claimed_until < now)
    is_due = and_(OUTBOX.c.accepted_at.is_(None), OUTBOX.c.next_attempt_at <= now, free)
    before_it = select(earlier.c.id).where(
        earlier.c.call_id == OUTBOX.c.call_id,
        earlier.c.position < OUTBOX.c.position,
        earlier.c.accepted_at.is_(None),
    )
    return (
        select(OUTBOX)
        .where(is_due, ~before_it.exists())
        .order_by(OUTBOX.c.next_attempt_at, OUTBOX.c.id)
        .limit(1)
    )
