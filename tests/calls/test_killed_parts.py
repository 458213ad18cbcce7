"""`kill -9` in the middle of a call: the part comes back, nothing told is lost, calls go on."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.booking.store import BookingStore, StoredRequest, open_store
from tests.calls.playing import command, play
from tests.stack import PROJECT, Stack

SAVED_S = 60.0
# What is killed in each call. The worker is last: until then it must find what came back by itself.
KILLED = (("page", "generation", "model-server"), ("room-server",), ("worker",))


@pytest.mark.timeout(600)
def test_killed_parts_are_back_for_the_next_call_and_the_booking_stands(
    stack: Stack, tmp_path: Path
) -> None:
    store = open_store(stack.environment["DATABASE_URL"])
    try:
        for parts in KILLED:
            with calling(stack, tmp_path / "cut.json") as call:
                told = next_request(store, call)
                before = stack.parts()
                killed = {part: stack.kill(part) for part in parts}
                for part, pid in killed.items():
                    stack.wait_restarted(part, pid)
                stack.wait_ready()
                for name, part in stack.parts().items():
                    assert part["restarts"] == before[name]["restarts"] + (name in parts)
                kept = store.load(told.call_id)
            assert kept is not None
            assert kept.check_in == told.request.check_in is not None
            assert kept.history
    finally:
        store.close()
    play(stack, "one-sentence", tmp_path)


@contextmanager
def calling(stack: Stack, report: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A call under way; hung up at the end."""
    call = subprocess.Popen(
        command("correction", report),
        cwd=PROJECT,
        env=stack.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield call
    finally:
        call.terminate()
        call.wait()


def next_request(store: BookingStore, call: subprocess.Popen[bytes]) -> StoredRequest:
    """The request of a call that has just begun, once its first values are saved."""
    known = {one.call_id for one in store.list_requests()}
    deadline = time.monotonic() + SAVED_S
    while True:
        new = [one for one in store.list_requests() if one.call_id not in known]
        if new:
            return new[0]
        assert call.poll() is None, "the call came to an end"
        assert time.monotonic() < deadline, "the call's first values were not saved"
        time.sleep(0.1)
