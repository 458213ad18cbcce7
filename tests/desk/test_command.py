"""`python -m desk` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest

from desk.__main__ import main
from desk.migrate import open_database
from desk.requests import Requests
from selfhost.ports import free_port
from tests.desk.receiver import SECRET, running_receiver

PROJECT = Path(__file__).resolve().parents[2]


class Ran(NamedTuple):
    """A command that has ended."""

    status: object
    out: str
    err: str


Desk = Callable[..., Ran]

REQUEST = {"guest_name": "=HYPERLINK(1)", "check_in": "2027-10-16", "guests": 2, "history": []}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    settings = {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'hotel.sqlite3'}",
        "RECORDINGS": str(tmp_path / "recordings"),
        "WEBHOOK_SECRET": SECRET,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **settings}


@pytest.fixture
def number(environment: dict[str, str]) -> str:
    database = open_database(environment["DATABASE_URL"])
    number = Requests(database, now=lambda: datetime.now(UTC)).finish("call-1", REQUEST)
    database.close()
    return number


@pytest.fixture
def desk(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["desk", *arguments])
        try:
            status: object = main()
        except SystemExit as ended:
            status = ended.code
        return Ran(status, *capsys.readouterr())

    return run


def test_requests_are_listed_exported_and_deleted(desk: Desk, number: str, tmp_path: Path) -> None:
    listed = json.loads(desk("list").out)
    assert (listed["number"], listed["request"]) == (number, REQUEST)
    (row,) = csv.DictReader(io.StringIO(desk("export").out))
    assert (row["number"], row["guests"], row["guest_name"]) == (number, "2", "'=HYPERLINK(1)")
    table = tmp_path / "requests.csv"
    assert desk("export", str(table)).status == 0
    assert table.read_text(encoding="utf-8-sig").startswith("number,status,")
    assert table.stat().st_mode & 0o077 == 0
    assert "deleted 1 requests" in desk("delete", number).out
    assert desk("list").out == ""


@pytest.mark.parametrize(
    ("arguments", "changes", "told"),
    [
        (["delete"], {}, "a request's number or a call's id"),
        (["delete", "4711"], {}, "Nothing is kept of '4711'"),
        (["run"], {"WEBHOOK_URL": "http://h.example/", "WEBHOOK_SECRET": ""}, "WEBHOOK_SECRET"),
        (["run"], {"WEBHOOK_URL": "ftp://h.example/"}, "WEBHOOK_URL"),
        (["run"], {"WEBHOOK_SECRET": "c2hvcnQ="}, "base64 of at least 24"),
        (["list"], {"DATABASE_URL": "nosuchdb://user:hush@host/db"}, "DATABASE_URL"),
        (["export", "/nowhere/at/all.csv"], {}, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    changes: dict[str, str],
    told: str,
) -> None:
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    run = desk(*arguments)
    assert run.status == 2
    assert told in run.err
    assert "hush" not in run.err
    assert "c2hvcnQ" not in run.err


ACCEPTED = 'hotel_voice_desk_deliveries_total{outcome="accepted"} 1.0'


def told(port: int) -> str:
    """What the desk's metrics say; nothing while it starts."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def test_the_running_desk_hands_requests_over_and_ends_when_told(
    environment: dict[str, str], number: str
) -> None:
    port = free_port()
    with running_receiver() as receiver:
        process = subprocess.Popen(
            [sys.executable, "-m", "desk", "run"],
            cwd=PROJECT,
            env={
                **environment,
                "WEBHOOK_URL": receiver.url,
                "NO_PROXY": "127.0.0.1",
                "DESK_PORT": str(port),
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        # Counted once the receiver has answered, a moment after it has the message.
        deadline = time.monotonic() + 60
        while process.poll() is None and ACCEPTED not in told(port):
            assert time.monotonic() < deadline, told(port)
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    (message,) = receiver.messages
    assert message["data"]["number"] == number
    assert process.returncode == 0, log
    assert "HYPERLINK" not in log
    assert receiver.url not in log
