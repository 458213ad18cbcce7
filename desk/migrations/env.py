"""How Alembic runs the migrations: on the connection, and in the transaction, that it is given."""

from __future__ import annotations

from alembic import context

from desk.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA)
context.run_migrations()
