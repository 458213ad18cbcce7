"""One row for each call's request."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The first versions of this program made the table without keeping a revision.
    if sa.inspect(op.get_bind()).has_table("booking_requests"):
        return
    op.create_table(
        "booking_requests",
        sa.Column("call_id", sa.String(200), primary_key=True),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("number", sa.Integer, unique=True, nullable=True),
        sa.Column("request", sa.JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
