"""Whose call comes when. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """One call to be made: the round, from 0, the call's number, and who takes it."""

    round: int
    call: int
    contestant: str


def alternate(rounds: int, calls: int, contestants: Sequence[str]) -> list[Slot]:
    """Every contestant takes every call in every round, one after another.

    Who is first changes from call to call, so that a busy moment of the machine, or its warmth,
    meets all of them.
    """
    slots = []
    for number in range(rounds * calls):
        first = number % len(contestants)
        order = [*contestants[first:], *contestants[:first]]
        slots += [Slot(number // calls, number % calls, name) for name in order]
    return slots
