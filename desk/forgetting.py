"""Forgets what callers said: old requests by themselves, any request when somebody asks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, or_, select

from agent.timeline.recording import recordings_in
from desk.database import Database
from desk.tables import OUTBOX, REQUESTS

logger = logging.getLogger("desk")


@dataclass(frozen=True)
class Forgotten:
    """What was deleted."""

    requests: int
    recordings: int


class Memory:
    """Everything that is kept of calls: requests, messages about them, recordings.

    Args:
        database: with its tables up to date.
        recordings: the folder of the calls' timelines.
        now: the clock; UTC.
        delivers: whether messages are delivered at all; if so, one that waits is not forgotten.
    """

    def __init__(
        self,
        database: Database,
        recordings: Path,
        *,
        now: Callable[[], datetime],
        delivers: bool,
    ) -> None:
        self._database = database
        self._recordings = recordings
        self._now = now
        self._delivers = delivers

    def forget_older_than(self, days: int) -> Forgotten:
        """Delete each request whose call and whose stay are both over for so many days.

        Raises:
            DatabaseError: the database cannot be used.
        """
        before = self._now() - timedelta(days=days)

        def work(connection: Connection) -> int:
            old = connection.execute(select(REQUESTS).where(REQUESTS.c.updated_at < before)).all()
            ended = [row.call_id for row in old if is_over(row.request, before.date())]
            if self._delivers:
                waiting = select(OUTBOX.c.call_id).where(
                    OUTBOX.c.call_id.in_(ended), OUTBOX.c.accepted_at.is_(None)
                )
                kept = set(connection.scalars(waiting))
                if kept:
                    logger.warning(
                        "%d old requests are kept: the hotel has not taken them", len(kept)
                    )
                ended = [call_id for call_id in ended if call_id not in kept]
            for call_id in ended:
                _delete(connection, call_id)
            return len(ended)

        requests = self._database.transact(work)
        recordings = recordings_in(self._recordings)
        return Forgotten(
            requests, _unlink(path for path in recordings if _written_at(path) < before.timestamp())
        )

    def forget_call(self, call_id: str) -> Forgotten:
        """Delete everything of one call, its recording and unsent messages included.

        Raises:
            DatabaseError: the database cannot be used.
        """
        requests = self._database.transact(lambda connection: _delete(connection, call_id))
        return Forgotten(requests, _unlink(recordings_in(self._recordings, call_id)))

    def calls_of(self, number_or_call: str) -> list[str]:
        """The calls with this request number or id; normally one or none."""
        mine = REQUESTS.c.call_id == number_or_call
        if number_or_call.isdecimal() and len(number_or_call) < 10:
            mine = or_(mine, REQUESTS.c.number == int(number_or_call))
        found = select(REQUESTS.c.call_id).where(mine)
        return self._database.transact(lambda it: list(it.scalars(found)), reading=True)


def is_over(request: dict[str, Any], day: date) -> bool:
    """Whether the stay that was asked for, if any, ended before `day`."""
    ends = request.get("check_out") or request.get("check_in")
    return ends is None or date.fromisoformat(ends) < day


def _unlink(paths: Iterable[Path]) -> int:
    gone = list(paths)
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)


def _delete(connection: Connection, call_id: str) -> int:
    connection.execute(delete(OUTBOX).where(OUTBOX.c.call_id == call_id))
    return connection.execute(delete(REQUESTS).where(REQUESTS.c.call_id == call_id)).rowcount


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")  # somebody else has deleted it meanwhile
