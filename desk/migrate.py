"""Brings a database to the tables that this version knows, whoever opens it first."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from desk.database import Database, DatabaseError

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_204_118_305  # any number of our own, for PostgreSQL's advisory lock


def open_database(url: str) -> Database:
    """Open a database and bring its tables up to date.

    Each job process of a worker does so, and several may at once: all but the first wait, and find
    it done. A whole migration is one transaction.

    Args:
        url: as SQLAlchemy takes it.

    Raises:
        DatabaseError: it cannot be used, or a newer version of this program has changed it.
    """
    database = Database(url)
    try:
        if _revision(database) != newest_revision():
            database.transact(_upgrade)
    except DatabaseError:
        database.close()
        raise
    return database


def newest_revision() -> str:
    """The migration that this version's tables come from."""
    revision = _scripts().get_current_head()
    assert revision is not None, "there is at least one migration"
    return revision


def _revision(database: Database) -> str | None:
    return database.transact(
        lambda connection: MigrationContext.configure(connection).get_current_revision(),
        reading=True,
    )


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    revision = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in _scripts().walk_revisions()}
    if revision is not None and revision not in known:
        raise DatabaseError(
            f"DATABASE_URL: the database is at revision {revision}, which this version of the "
            f"program does not know (its own is {newest_revision()}). Use the version that wrote "
            "it, or another database."
        )
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())
