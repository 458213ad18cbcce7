"""The tables, as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import JSON, Column, DateTime, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()

# One row a call, with the whole request in it. A number is given once the caller has confirmed.
REQUESTS = Table(
    "booking_requests",
    METADATA,
    Column("call_id", String(200), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("number", Integer, unique=True, nullable=True),
    Column("request", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)

# What the hotel's own system is still to be told, written in the transaction that made it true.
OUTBOX = Table(
    "outbox",
    METADATA,
    Column("id", String(64), primary_key=True),
    # The order in which a call's messages came to be.
    Column("position", Integer, nullable=False),
    Column("call_id", String(200), nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", DateTime(timezone=True), nullable=False),
    # Set while somebody is trying to deliver it; past, if they died meanwhile.
    Column("claimed_until", DateTime(timezone=True), nullable=True),
    Column("accepted_at", DateTime(timezone=True), nullable=True),
    Column("last_error", String(200), nullable=True),
    Index("outbox_by_call", "call_id", "position", unique=True),
)
