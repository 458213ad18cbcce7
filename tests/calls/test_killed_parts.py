"""`kill -9` in the middle of a call: the part comes back, nothing told is lost, calls go on."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from agent.booking.store import open_store
from tests.calls.playing import CALL_S, command, play
from tests.stack import PROJECT, Stack

SAVED_S = 60.0


@pytest.mark.parametrize(
    "parts",
    [("page", "generation", "model-server"), ("worker",), ("room-server",)],
    ids=lambda parts: "+".join(parts),
)
def test_a_killed_part_is_back_for_the_next_call_and_the_booking_stands(
    parts: tuple[str, ...], stack: Stack, tmp_path: Path
) -> None:
    store = open_store(stack.environment["DATABASE_URL"])
    before = len(store.list_requests())
    call = subprocess.Popen(
        command("correction", tmp_path / "cut.json"),
        cwd=PROJECT,
        env=stack.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + SAVED_S
        while len(store.list_requests()) == before:
            assert time.monotonic() < deadline, "the call's first values were not saved"
            time.sleep(0.1)
        for part in parts:
            stack.wait_restarted(part, stack.kill(part))
        stack.wait_ready()
        told = store.list_requests()[-1].request
        assert told.check_in is not None
        assert told.history
        call.wait(CALL_S)  # the caller notices, one way or the other
    finally:
        call.kill()
        call.wait()
        store.close()
    play(stack, "one-sentence", tmp_path)
