from __future__ import annotations

import os
from pathlib import Path

import pytest

from desk.database import Database
from desk.forgetting import Forgotten, Memory
from desk.migrate import open_database
from desk.outbox import Outbox
from desk.requests import Requests
from tests.desk.conftest import Clock

PAST = {"guest_name": "Zoë", "check_in": "2026-12-01", "check_out": "2026-12-03"}
FUTURE = {"guest_name": "Ana", "check_in": "2027-10-16", "check_out": None}


@pytest.fixture
def requests(database: Database, clock: Clock) -> Requests:
    return Requests(database, now=clock)


def memory(database: Database, folder: Path, clock: Clock, *, delivers: bool = False) -> Memory:
    return Memory(database, folder, now=clock, delivers=delivers)


def record(folder: Path, call_id: str, clock: Clock) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"20261130T120000Z-{call_id}.jsonl"
    path.write_text("{}\n")
    os.utime(path, (clock().timestamp(),) * 2)
    return path


def test_a_request_is_forgotten_once_both_call_and_stay_are_over(
    database: Database, requests: Requests, clock: Clock, tmp_path: Path
) -> None:
    requests.finish("past", PAST)
    requests.finish("future", FUTURE)
    requests.save("nothing-told", {})
    record(tmp_path / "r", "past", clock)
    keeper = memory(database, tmp_path / "r", clock)
    clock.go_on(days=29)
    assert keeper.forget_older_than(30) == Forgotten(0, 0)
    clock.go_on(days=6)
    recent = record(tmp_path / "r", "recent", clock)
    assert keeper.forget_older_than(30) == Forgotten(2, 1)
    assert [kept.call_id for kept in requests.newest()] == ["future"]
    assert list((tmp_path / "r").iterdir()) == [recent]
    assert Outbox(database, now=clock).waiting() == 1


def test_what_the_hotel_has_not_taken_is_kept_if_it_takes_messages(
    database: Database, requests: Requests, clock: Clock, tmp_path: Path
) -> None:
    requests.finish("past", PAST)
    clock.go_on(days=100)
    assert memory(database, tmp_path, clock, delivers=True).forget_older_than(30).requests == 0
    outbox = Outbox(database, now=clock)
    message = outbox.claim()
    assert message is not None
    outbox.accepted(message)
    assert memory(database, tmp_path, clock, delivers=True).forget_older_than(30).requests == 1


def test_one_call_is_forgotten_with_its_messages_and_recordings(
    database: Database, requests: Requests, clock: Clock, tmp_path: Path
) -> None:
    number = requests.finish("RM_abc", PAST)
    requests.finish("RM_ab", PAST)
    record(tmp_path, "RM_abc", clock)
    other = record(tmp_path, "RM_ab", clock)
    keeper = memory(database, tmp_path, clock)
    assert keeper.calls_of(number) == keeper.calls_of("RM_abc") == ["RM_abc"]
    assert keeper.calls_of("no such call") == []
    assert keeper.forget_call("RM_abc") == Forgotten(1, 1)
    assert [kept.call_id for kept in requests.newest()] == ["RM_ab"]
    assert list(tmp_path.glob("*.jsonl")) == [other]
    assert Outbox(database, now=clock).waiting() == 1


def test_forgotten_words_are_not_left_in_the_file(tmp_path: Path, clock: Clock) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'hotel.sqlite3'}")
    Requests(database, now=clock).finish("call-1", {"guest_name": "Unmistakable"})
    memory(database, tmp_path, clock).forget_call("call-1")
    database.close()
    assert not any(b"Unmistakable" in path.read_bytes() for path in tmp_path.iterdir())
