from __future__ import annotations

import pytest

from selfhost.server.health.schedule import Schedule


@pytest.mark.parametrize(
    ("since_test_s", "is_idle", "is_suspect", "is_due"),
    [
        (29.0, True, False, False),
        (30.0, True, False, True),
        (44.0, False, False, False),  # callers first
        (45.0, False, False, True),  # but early enough to end within the interval
        (0.0, False, True, True),
    ],
)
def test_a_test_waits_for_an_idle_moment_but_never_beyond_the_interval(
    since_test_s: float, is_idle: bool, is_suspect: bool, is_due: bool
) -> None:
    schedule = Schedule(every_s=60.0)
    assert (
        schedule.is_due(since_test_s=since_test_s, is_idle=is_idle, is_suspect=is_suspect) is is_due
    )


def test_it_looks_often_enough_for_short_intervals_too() -> None:
    assert Schedule(every_s=2.0).look_every_s <= 0.1
    assert Schedule(every_s=600.0).look_every_s <= 1.0
