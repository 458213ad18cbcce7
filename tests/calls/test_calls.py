"""Whole spoken calls, through the real room, models and worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.timeline.events import Event
from agent.timeline.recording import read
from tests.calls.playing import CALLS, play
from tests.calls.telling import assert_counted, assert_traced, figures, wait_call_over
from tests.collector import Collector
from tests.stack import Stack

# Played by the other tests of this folder, which ask more of them.
ELSEWHERE = {"one-sentence", "simple-booking"}
NAMES = sorted({file.stem for file in CALLS.glob("*.yaml")} - ELSEWHERE)


@pytest.mark.parametrize("name", NAMES)
def test_the_call_comes_out_as_its_file_expects(
    name: str, stack: Stack, collector: Collector, tmp_path: Path
) -> None:
    before = figures(stack)
    report = play(stack, name, tmp_path)
    turns = report["turns"]
    assert not [turn for turn in turns if turn["missed"]]
    for figure in ("gap_ms", "first_partial_ms", "final_ms"):
        assert [turn[figure] for turn in turns if turn[figure] is not None]
    received = [
        {name: value for name, value in event.items() if name != "received_s"}
        for event in report["timeline"]
    ]
    added = wait_call_over(stack, before)
    events = recorded(stack, received[0]["call_id"])
    # The caller has hung up before the call's last events.
    assert [json.loads(event.to_json()) for event in events[: len(received)]] == received
    assert_counted(added, events)
    assert_traced(collector, events)


def recorded(stack: Stack, call_id: str) -> tuple[Event, ...]:
    """The events in a call's recording, which must have no fault."""
    (path,) = Path(stack.environment["RECORDINGS"]).glob(f"*{call_id}.jsonl")
    recording = read(path)
    assert recording.problems == ()
    return recording.events
