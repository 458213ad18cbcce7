from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from desk.database import Database, DatabaseError
from desk.migrate import newest_revision, open_database
from desk.tables import METADATA, REQUESTS


def test_the_migrations_make_the_tables_that_this_version_knows(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == newest_revision()


def test_a_database_from_before_the_migrations_keeps_its_requests(url: str) -> None:
    old = Database(url)
    old.transact(lambda connection: REQUESTS.create(connection))
    row = "('call-1', 'finished', 1001, '{}', '2026-11-01 12:00:00', '2026-11-01 12:00:00')"
    insert = text(f"INSERT INTO booking_requests VALUES {row}")
    old.transact(lambda connection: connection.execute(insert))
    old.close()
    database = open_database(url)
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT number FROM booking_requests")) == 1001
        assert inspect(connection).has_table("outbox")
    database.close()


def test_processes_that_open_a_new_database_at_once_all_find_it_whole(url: str) -> None:
    with ThreadPoolExecutor(6) as threads:
        opened = list(threads.map(lambda _: open_database(url), range(6)))
    for database in opened:
        assert inspect(database.engine).has_table("outbox")
        database.close()


def test_a_database_of_a_newer_version_is_left_alone(url: str, database: Database) -> None:
    newer = text("UPDATE alembic_version SET version_num = '9999'")
    database.transact(lambda connection: connection.execute(newer))
    with pytest.raises(DatabaseError, match="revision 9999"):
        open_database(url)


def test_a_database_that_is_not_there_is_told_without_its_password() -> None:
    with pytest.raises(DatabaseError, match="DATABASE_URL") as error:
        open_database("postgresql://desk:hush@127.0.0.1:1/hotel")
    assert "hush" not in str(error.value)
