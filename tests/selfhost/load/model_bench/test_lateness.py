"""When many streams are too many."""

from __future__ import annotations

import pytest

from selfhost.load.model_bench.lateness import (
    LATE_S,
    STREAMS,
    Stream,
    climb,
    served_at_once,
    starved,
    step,
)


def in_time(streams: int) -> list[Stream]:
    return [Stream([0.2, 0.3], [0.1, 0.1]) for _ in range(streams)]


def test_a_step_is_in_time_when_nothing_is_late_or_missing() -> None:
    assert step(in_time(3)).in_time


@pytest.mark.parametrize(
    "spoiler",
    [
        Stream([LATE_S + 1, LATE_S + 1], [0.1, 0.1]),
        Stream([0.2, None], [0.1, 0.1]),
        Stream([0.2, 0.3], [0.1, None]),
        Stream([0.2, 0.3], [0.1, 0.1], starved_s=0.05),
    ],
    ids=["late", "no words", "no final", "starved"],
)
def test_one_stream_that_is_not_well_served_spoils_the_step(spoiler: Stream) -> None:
    assert not step([*in_time(2), spoiler]).in_time


def test_what_did_not_come_is_counted_and_never_taken_for_zero() -> None:
    nothing = step([Stream([None], [None])])
    assert nothing.missing == 2
    assert nothing.first_p95_s is None
    assert not nothing.in_time


def test_the_climb_ends_at_the_first_step_that_is_late() -> None:
    def run(streams: int) -> object:
        return step(in_time(streams) if streams < 4 else [Stream([9.0], [9.0])] * streams)

    steps = climb(run)  # type: ignore[arg-type]
    assert [one.streams for one in steps] == [1, 2, 3, 4]
    assert served_at_once(steps) == 3


def test_a_climb_without_a_late_step_takes_them_all() -> None:
    steps = climb(lambda streams: step(in_time(streams)))
    assert served_at_once(steps) == STREAMS[-1] == len(steps[-1:]) * steps[-1].streams


def test_not_even_one_stream_in_time_is_none_served() -> None:
    assert served_at_once(climb(lambda streams: step([Stream([9.0], [9.0])] * streams))) == 0


@pytest.mark.parametrize(
    ("chunks", "waited_s"),
    [
        ([], 0.0),
        ([(0.5, 1.0)], 0.0),
        ([(0.5, 1.0), (1.4, 1.0), (2.5, 1.0)], 0.0),
        ([(0.5, 1.0), (1.75, 1.0)], 0.25),
        ([(0.5, 1.0), (1.75, 1.0), (3.0, 0.5)], 0.5),
    ],
)
def test_a_listener_starves_while_the_next_chunk_comes_after_the_last_was_played(
    chunks: list[tuple[float, float]], waited_s: float
) -> None:
    assert starved(chunks) == pytest.approx(waited_s)
