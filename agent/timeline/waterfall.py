"""Where a turn's gap went: its parts on the critical path, which add up to it.

Much of a reply is made before the turn is known to be over: its words and their sound may be ready
when the decision falls. So a part is not how long that work took, but what it added: the time from
the latest moment before it to its own. Work that was done early adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

PARTS = (
    "end_of_speech",
    "final_transcript",
    "end_of_turn",
    "first_token",
    "first_sentence",
    "check",
    "first_audio",
    "playout",
    "network",
    "unexplained",
)
"""The parts of a gap in the order in which they happen; what is left comes last."""

ADDS_UP_MS = 20.0
"""How far the sum of the parts may be from the gap."""


@dataclass(frozen=True)
class Moments:
    """When a reply got how far, each in milliseconds of one monotonic clock; None if unknown.

    Args:
        last_sound: the caller's last audible sound came in.
        end_of_speech: the detector said that the caller fell silent.
        final_transcript: the last final of the turn came.
        end_of_turn: the turn was decided to be over.
        first_token: the first text of the reply, from the code or the model.
        first_sentence: the first sentence of it was whole.
        check: that sentence was allowed to be spoken.
        first_audio: the first frame of its speech came from the synthesiser.
        first_sound: the first audible sample left for the room.
    """

    last_sound: float | None = None
    end_of_speech: float | None = None
    final_transcript: float | None = None
    end_of_turn: float | None = None
    first_token: float | None = None
    first_sentence: float | None = None
    check: float | None = None
    first_audio: float | None = None
    first_sound: float | None = None


@dataclass(frozen=True)
class Gap:
    """A turn's silence, as the caller hears it.

    Args:
        ms: from the caller's last audible sound to the agent's first, the network's share included
            as far as it is known.
        parts: milliseconds of it by the names in `PARTS`; None where a part is unknown.
    """

    ms: float
    parts: dict[str, float | None]


def split_gap(moments: Moments, network_ms: float | None) -> Gap | None:
    """Divide the gap among what it was spent on.

    Time that ends at a known moment, but begins before an unknown one, belongs to either; it is
    counted as unexplained. A moment behind the first sound delayed nothing.

    Args:
        moments: of one turn and the reply to it.
        network_ms: what the network adds, both ways; None if unknown, and then the gap lacks it.

    Returns:
        The gap and its parts; None where its beginning or its end is unknown, or where the agent
        sounded before the caller's last sound.
    """
    first, *rest = (None if at is None else round(at, 1) for at in astuple(moments))
    last = rest[-1]
    if first is None or last is None or last < first:
        return None
    parts: dict[str, float | None] = {}
    latest, unexplained, certain = first, 0.0, True
    for name, at in zip(PARTS, rest, strict=False):
        if at is None:
            parts[name], certain = None, False
            continue
        added = max(0.0, at - latest) if at <= last else 0.0
        latest += added
        if certain or added == 0:
            parts[name] = round(added, 1)
        else:
            parts[name] = None
            unexplained += added
        certain = certain or added > 0
    parts["network"] = None if network_ms is None else round(network_ms, 1)
    parts["unexplained"] = round(unexplained, 1)
    return Gap(round(last - first + (network_ms or 0.0), 1), parts)


def contradiction(gap_ms: float | None, parts: Any) -> str | None:
    """Why these cannot be the parts of this gap, for people; None if they can, or are unknown."""
    if parts is None:
        return None
    if not isinstance(parts, Mapping):
        return f"waterfall is {type(parts).__name__}, expected an object of milliseconds"
    if unknown := sorted(set(parts) - set(PARTS)):
        return f"waterfall has parts that nobody knows: {', '.join(map(str, unknown))}"
    known = {name: ms for name, ms in parts.items() if ms is not None}
    for name, ms in known.items():
        if not isinstance(ms, int | float) or isinstance(ms, bool):
            return f"waterfall's {name} is {type(ms).__name__}, expected milliseconds"
        if not 0 <= ms < float("inf"):
            return f"waterfall's {name} is {ms}, an end before its beginning"
    if gap_ms is None:
        return "waterfall divides a gap that is not known"
    total = sum(known.values())
    if abs(total - gap_ms) > ADDS_UP_MS:
        return f"waterfall's parts add up to {total:.1f} ms, its gap is {gap_ms:.1f}"
    return None
