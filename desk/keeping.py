"""The desk's own work, for as long as it runs: deliver what is due, forget what is old."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from desk.database import DatabaseError
from desk.forgetting import Memory
from desk.metrics import Metrics
from desk.outbox import Outbox
from desk.webhook import NotAccepted, Webhook

logger = logging.getLogger("desk")

LOOK_EVERY_S = 1.0
FORGET_EVERY = timedelta(hours=1)


def keep(
    outbox: Outbox,
    webhook: Webhook | None,
    memory: Memory,
    retention_days: int,
    stop: threading.Event,
    metrics: Metrics,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Deliver and forget until `stop` is set.

    A database that cannot be used is waited for: it is the worker's, and comes back with it.

    Args:
        outbox: what is to be delivered.
        webhook: who gets it; None if nobody is to be told.
        memory: what is kept of calls.
        retention_days: after how long it is forgotten; 0 for never.
        stop: ends the work, after the delivery that is under way.
        metrics: what is counted.
        now: the clock; UTC.
    """
    forget_at = now()
    while not stop.is_set():
        try:
            if webhook is not None:
                deliver_due(outbox, webhook, stop, metrics, now=now)
                metrics.waiting.set(outbox.waiting())
            if retention_days and now() >= forget_at:
                forgotten = memory.forget_older_than(retention_days)
                metrics.forgotten.labels("request").inc(forgotten.requests)
                metrics.forgotten.labels("recording").inc(forgotten.recordings)
                if forgotten.requests or forgotten.recordings:
                    logger.info(
                        "forgot %d requests and %d recordings older than %d days",
                        *(forgotten.requests, forgotten.recordings, retention_days),
                    )
                forget_at = now() + FORGET_EVERY
        except DatabaseError as error:
            logger.error("%s", error)
        stop.wait(LOOK_EVERY_S)


def deliver_due(
    outbox: Outbox,
    webhook: Webhook,
    stop: threading.Event,
    metrics: Metrics,
    *,
    now: Callable[[], datetime],
) -> None:
    """Deliver every message that is due, one after the other.

    Raises:
        DatabaseError: the database cannot be used.
    """
    while not stop.is_set() and (message := outbox.claim()) is not None:
        try:
            webhook.deliver(message, now())
        except NotAccepted as error:
            metrics.deliveries.labels("failed").inc()
            again_at = outbox.failed(message, str(error), random.random())
            logger.warning(
                "the hotel's system has not taken message %s (attempt %d: %s); again at %s",
                *(message.id, message.attempts + 1, error, f"{again_at:%H:%M:%S} UTC"),
            )
        else:
            metrics.deliveries.labels("accepted").inc()
            outbox.accepted(message)
            logger.info("message %s was accepted", message.id)
