"""Whether the worker's metrics and the trace of a call say what its recording says."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import httpx
import pytest

from agent.timeline.events import Event, EventType
from agent.timeline.waterfall import PARTS
from selfhost.engines.scrape import samples
from tests.collector import Collector, ReceivedSpan
from tests.stack import Stack

TOLD_S = 20.0


def figures(stack: Stack) -> Mapping[str, float]:
    """The worker's metrics, added up over their labels."""
    page = httpx.get(stack.metrics_url, trust_env=False)
    return samples(page.raise_for_status().text)


def wait_call_over(stack: Stack, before: Mapping[str, float]) -> Mapping[str, float]:
    """What one call added to the metrics, once it is over."""
    deadline = time.monotonic() + TOLD_S
    ended = "hotel_voice_calls_total"  # not there, or 0, before a worker's first call

    def is_over(now: Mapping[str, float]) -> bool:
        counted = now.get(ended, 0.0) > before.get(ended, 0.0)
        return counted and now["hotel_voice_calls_in_progress"] == 0

    while not is_over(now := figures(stack)):
        assert time.monotonic() < deadline, "the call's end was not counted"
        time.sleep(0.1)
    return {name: value - before.get(name, 0.0) for name, value in now.items()}


def assert_counted(added: Mapping[str, float], events: Sequence[Event]) -> None:
    """The call added to the metrics what its recording holds."""
    assert added["hotel_voice_calls_total"] == 1
    assert added["hotel_voice_greeting_seconds_count"] == 1
    heard = {event.turn for event in events if event.type is EventType.FINAL_TRANSCRIPT}
    assert added["hotel_voice_turns_total"] == len(heard)
    answers = answered(events).values()
    durations = {"gap": [answer.fields["gap_ms"] for answer in answers]}
    for part in PARTS:
        recorded = [(answer.fields.get("waterfall") or {}).get(part) for answer in answers]
        durations[part] = [ms for ms in recorded if ms is not None]
    for name, recorded_ms in durations.items():
        metric = f"hotel_voice_{name}_seconds"
        assert added.get(f"{metric}_count", 0) == len(recorded_ms), name
        total_s = sum(recorded_ms) / 1000
        assert added.get(f"{metric}_sum", 0.0) == pytest.approx(total_s, abs=1e-6), name


def assert_traced(collector: Collector, events: Sequence[Event]) -> None:
    """The call is one trace, in which each answer's gap has the recorded length and parts."""
    call = _call(collector, events[0].fields["call_id"])
    turns = {turn.attributes["turn"]: turn for turn in collector.below(call, "turn")}
    for number, answer in answered(events).items():
        (gap,) = collector.below(turns[number], "gap")
        assert gap.ms == pytest.approx(answer.fields["gap_ms"], abs=0.1)
        parts = {part.name: part.ms for part in collector.below(gap)}
        waterfall = answer.fields.get("waterfall") or {}
        assert parts == pytest.approx(
            {name: ms for name, ms in waterfall.items() if ms is not None}, abs=0.1
        )
    sent = b"".join(collector.requests)
    for event in events:
        text = str(event.fields.get("text", ""))
        # One word alone may be in the name of what is measured.
        assert " " not in text or text.encode() not in sent


def answered(events: Sequence[Event]) -> dict[int, Event]:
    """Each turn's first reply that answered it, by the turn's number."""
    found: dict[int, Event] = {}
    for event in events:
        if event.type is EventType.AGENT_SPEAKING and event.fields["gap_ms"] is not None:
            found.setdefault(event.turn, event)
    return found


def _call(collector: Collector, call_id: str) -> ReceivedSpan:
    deadline = time.monotonic() + TOLD_S
    while True:
        for span in list(collector.spans):
            if span.name == "call" and span.attributes.get("call_id") == call_id:
                return span
        assert time.monotonic() < deadline, "the call's trace did not come"
        time.sleep(0.1)
