"""When a part that ended is started again."""

from __future__ import annotations

from selfhost.restarts import RestartPolicy

POLICY = RestartPolicy(first_delay_s=0.5, max_delay_s=4.0, window_s=60.0, max_failures=6)


def test_each_failure_doubles_the_wait_up_to_a_limit() -> None:
    failed_at_s: list[float] = []
    delays = []
    for second in range(5):
        failed_at_s.append(float(second))
        delays.append(POLICY.delay_s(failed_at_s, float(second)))
    assert delays == [0.5, 1.0, 2.0, 4.0, 4.0]


def test_too_many_failures_within_the_window_end_it() -> None:
    assert POLICY.delay_s([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 5.0) is None


def test_failures_before_the_window_are_forgiven() -> None:
    old = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert POLICY.delay_s([*old, 100.0], 100.0) == 0.5
