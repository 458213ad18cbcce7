"""Whose call comes when."""

from __future__ import annotations

from collections import Counter

from selfhost.load.latency_bench.schedule import alternate


def test_each_side_takes_each_call_once_a_round() -> None:
    slots = alternate(3, 5, ("ours", "stock"))
    assert set(Counter(slots).values()) == {1}
    assert len(slots) == 3 * 5 * 2


def test_the_sides_take_turns_call_by_call_and_in_being_first() -> None:
    slots = alternate(2, 3, ("ours", "stock"))
    pairs = [slots[index : index + 2] for index in range(0, len(slots), 2)]
    assert all(a.call == b.call and a.contestant != b.contestant for a, b in pairs)
    first = [a.contestant for a, _ in pairs]
    assert first == ["ours", "stock"] * 3
