"""A reader believes only what can have followed each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.timeline.events import Event, EventType
from agent.timeline.order import in_order

BEGAN = datetime(2026, 10, 1, tzinfo=UTC)
Told = tuple[int, EventType, float]

A_TURN: list[Told] = [
    (0, EventType.AGENT_SPEAKING, 600),
    (0, EventType.AGENT_STOPPED, 2600),
    (1, EventType.SPEECH_STARTED, 3000),
    (1, EventType.SPEECH_ENDED, 5000),
    (1, EventType.FINAL_TRANSCRIPT, 5400),
    (1, EventType.AGENT_SPEAKING, 6000),
]


def events(told: list[Told]) -> list[Event]:
    return [
        Event(seq, turn, kind, t_ms, BEGAN + timedelta(milliseconds=t_ms))
        for seq, (turn, kind, t_ms) in enumerate(told, start=1)
    ]


def test_a_turn_that_is_interrupted_is_believed() -> None:
    told = [
        *A_TURN,
        (2, EventType.SPEECH_STARTED, 6900),  # known after the agent began, in which it lies
        (1, EventType.INTERRUPTED, 7300),
        (1, EventType.AGENT_STOPPED, 7400),
        (2, EventType.FINAL_TRANSCRIPT, 8000),
    ]
    assert in_order(events(told)) == (events(told), [])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((1, EventType.AGENT_STOPPED, 5500), "the agent was not speaking"),
        ((0, EventType.FINAL_TRANSCRIPT, 5500), "turn 1 had begun"),
        ((3, EventType.SPEECH_STARTED, 5500), "turn 2 had not begun"),
        ((1, EventType.PARTIAL_TRANSCRIPT, 205_500), "after those that follow it"),
        ((1, EventType.BOOKING_UPDATED, 0), "before those that it follows"),
    ],
)
def test_only_the_event_that_cannot_be_is_left_out(wrong: Told, said: str) -> None:
    told = [*A_TURN[:5], wrong, (1, EventType.AGENT_SPEAKING, 6000)]
    if wrong[2] == 0:
        told = [(turn, kind, t_ms + 10_000) for turn, kind, t_ms in told[:5]] + [
            wrong,
            (1, EventType.AGENT_SPEAKING, 16_000),
        ]
    kept, problems = in_order(events(told))
    assert [event.seq for event in kept] == [1, 2, 3, 4, 5, 7]
    (problem,) = problems
    assert said in problem
    assert "event 6" in problem
