from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agent.booking.request import BookingRequest, Change, Field
from agent.booking.store import SqlBookingStore, StoreError, open_store
from desk.requests import FIRST_NUMBER, Status

REQUEST = BookingRequest().with_changes(
    (
        Change(Field.CHECK_IN, date(2027, 10, 16), "October 16th", turn=1),
        Change(Field.CHECK_IN, date(2027, 10, 18), "no, the 18th", turn=2),
        Change(Field.CHECK_OUT, None, "three nights", turn=2, nights=3),
        Change(Field.GUESTS, 2, "two guests", turn=3),
        Change(Field.GUEST_NAME, "Zoë O'Brien", "Zoë O'Brien", turn=4),
    )
)


class Clock:
    """A clock that goes on by a minute each time it is looked at."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(minutes=1)
        return self.time


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'hotel.sqlite3'}"


@pytest.fixture
def store(url: str) -> Iterator[SqlBookingStore]:
    store = SqlBookingStore(url, now=Clock())
    yield store
    store.close()


def test_a_request_comes_back_as_it_was_with_its_history(store: SqlBookingStore) -> None:
    store.save("call-1", REQUEST)
    assert store.load("call-1") == REQUEST


def test_a_call_that_was_never_saved_is_none(store: SqlBookingStore) -> None:
    assert store.load("call-1") is None


def test_saving_again_replaces_what_was_kept(store: SqlBookingStore) -> None:
    store.save("call-1", BookingRequest(guests=1))
    store.save("call-1", REQUEST)
    assert store.load("call-1") == REQUEST
    assert len(store.list_requests()) == 1


def test_what_one_connection_saves_another_loads(store: SqlBookingStore, url: str) -> None:
    other = open_store(url)
    store.save("call-1", REQUEST)
    assert other.load("call-1") == REQUEST
    other.close()


def test_a_call_gets_one_number_however_often_it_is_finished(store: SqlBookingStore) -> None:
    assert store.finish("call-1", REQUEST) == store.finish("call-1", REQUEST) == str(FIRST_NUMBER)
    assert len(store.list_requests()) == 1


def test_numbers_count_up(store: SqlBookingStore) -> None:
    numbers = [store.finish(f"call-{call}", REQUEST) for call in range(3)]
    assert numbers == [str(FIRST_NUMBER + count) for count in range(3)]


def test_a_finished_request_stays_finished_when_it_is_saved_again(store: SqlBookingStore) -> None:
    number = store.finish("call-1", REQUEST)
    store.save("call-1", REQUEST)
    (kept,) = store.list_requests()
    assert (kept.status, kept.number) == (Status.FINISHED, number)


def test_requests_are_listed_newest_first_with_their_times(store: SqlBookingStore) -> None:
    store.save("call-1", REQUEST)
    store.save("call-2", REQUEST)
    store.save("call-1", REQUEST)
    newest, oldest = store.list_requests()
    assert (newest.call_id, oldest.call_id) == ("call-2", "call-1")
    assert (oldest.status, oldest.number) == (Status.OPEN, None)
    assert oldest.updated_at > newest.updated_at > oldest.created_at
    assert oldest.created_at.tzinfo is not None


def test_calls_that_finish_at_the_same_moment_get_numbers_of_their_own(
    store: SqlBookingStore, url: str
) -> None:
    stores = [store, open_store(url)]
    with ThreadPoolExecutor(8) as threads:
        numbers = list(
            threads.map(lambda call: stores[call % 2].finish(f"call-{call}", REQUEST), range(24))
        )
    assert sorted(map(int, numbers)) == list(range(FIRST_NUMBER, FIRST_NUMBER + 24))
    stores[1].close()


def test_what_was_saved_outlives_a_process_that_is_killed(store: SqlBookingStore, url: str) -> None:
    script = textwrap.dedent(
        """
        import sys
        from agent.booking.request import BookingRequest
        from agent.booking.store import open_store

        store = open_store(sys.argv[1])
        for guests in range(1, 1000):
            store.save("call-1", BookingRequest(guests=guests))
            print(guests, flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, url], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    seen = [int(process.stdout.readline()) for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    seen += [int(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    kept = store.load("call-1")
    assert kept is not None
    assert kept.guests is not None
    assert kept.guests >= seen[-1]
    assert store.finish("call-1", kept) == str(FIRST_NUMBER)


@pytest.mark.parametrize(
    "database_url",
    ["not a url", "sqlite:////nowhere/at/all/hotel.sqlite3", "nosuchdb://user:secret@host/db"],
)
def test_a_database_that_cannot_be_used_is_told_without_its_password(database_url: str) -> None:
    with pytest.raises(StoreError, match="DATABASE_URL") as error:
        open_store(database_url)
    assert "secret" not in str(error.value)


def test_reading_does_not_wait_for_a_writer(store: SqlBookingStore, url: str) -> None:
    store.save("call-1", REQUEST)
    path = url.removeprefix("sqlite:///")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        assert store.load("call-1") == REQUEST
        assert len(store.list_requests()) == 1
    finally:
        writer.close()


def test_a_database_that_becomes_unusable_is_told(store: SqlBookingStore, url: str) -> None:
    path = url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as other:
        other.execute("ALTER TABLE booking_requests RENAME TO elsewhere")
    other.close()
    with pytest.raises(StoreError, match="OperationalError") as error:
        store.save("call-1", REQUEST)
    assert "O'Brien" not in str(error.value)
