from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from desk.database import Database
from desk.migrate import open_database
from desk.requests import FIRST_NUMBER, Requests, Status
from desk.tables import OUTBOX
from tests.desk.conftest import Clock

REQUEST = {"guest_name": "Zoë O'Brien", "check_in": "2027-10-16", "history": [{"words": "Zoë"}]}
LATER = {**REQUEST, "check_in": "2027-10-18"}


@pytest.fixture
def requests(database: Database, clock: Clock) -> Requests:
    return Requests(database, now=clock)


def told(database: Database) -> list[tuple[str, str, str]]:
    """What the hotel is to be told: kind, call and check-in of each message."""
    with database.engine.connect() as connection:
        rows = connection.execute(select(OUTBOX).order_by(OUTBOX.c.call_id, OUTBOX.c.position))
        bodies = [(row.call_id, json.loads(row.body)) for row in rows]
    return [(body["type"], call, body["data"]["request"]["check_in"]) for call, body in bodies]


def test_a_request_comes_back_as_it_was(requests: Requests, clock: Clock) -> None:
    requests.save("call-1", REQUEST)
    clock.go_on(minutes=1)
    requests.save("call-1", LATER)
    assert requests.load("call-1") == LATER
    assert requests.load("call-2") is None
    (kept,) = requests.newest()
    assert (kept.status, kept.number) == (Status.OPEN, None)
    assert (kept.updated_at - kept.created_at).total_seconds() == 60


def test_only_a_finished_request_is_told_and_only_once(
    requests: Requests, database: Database
) -> None:
    requests.save("call-1", REQUEST)
    assert told(database) == []
    assert requests.finish("call-1", REQUEST) == requests.finish("call-1", REQUEST)
    requests.save("call-1", REQUEST)
    assert told(database) == [("request.finished", "call-1", "2027-10-16")]


def test_what_changes_after_the_number_is_told_too(requests: Requests, database: Database) -> None:
    number = requests.finish("call-1", REQUEST)
    requests.save("call-1", LATER)
    assert [kind for kind, _, _ in told(database)] == ["request.finished", "request.changed"]
    (kept,) = requests.newest()
    assert (kept.status, kept.number) == (Status.FINISHED, number)


def test_calls_that_finish_at_the_same_moment_get_numbers_of_their_own(
    url: str, requests: Requests, database: Database, clock: Clock
) -> None:
    other = open_database(url)
    both = [requests, Requests(other, now=clock)]
    with ThreadPoolExecutor(8) as threads:
        numbers = list(threads.map(lambda n: both[n % 2].finish(f"call-{n}", REQUEST), range(24)))
    assert sorted(map(int, numbers)) == list(range(FIRST_NUMBER, FIRST_NUMBER + 24))
    assert len(told(database)) == 24
    other.close()


def test_one_call_that_is_finished_many_times_at_once_is_one_request(
    url: str, requests: Requests, database: Database, clock: Clock
) -> None:
    other = open_database(url)
    both = [requests, Requests(other, now=clock)]
    with ThreadPoolExecutor(8) as threads:
        numbers = set(threads.map(lambda n: both[n % 2].finish("call-1", REQUEST), range(16)))
    assert numbers == {str(FIRST_NUMBER)}
    assert len(requests.newest()) == len(told(database)) == 1
    other.close()
