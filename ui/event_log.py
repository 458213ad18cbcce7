"""The events of one call as they come: each once, and whether some are missing. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from agent.timeline.events import Event


class EventLog:
    """The events of one agent. What comes twice is kept once, whatever the order it comes in."""

    def __init__(self) -> None:
        self._by_seq: dict[int, Event] = {}

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.seq > 0:
                self._by_seq.setdefault(event.seq, event)

    @property
    def arrived(self) -> tuple[Event, ...]:
        """In the order in which they came, so that who has seen some has only the later to see."""
        return tuple(self._by_seq.values())

    @property
    def complete_to(self) -> int:
        """The sequence number up to which all events are there; 0 where the first is missing."""
        seq = 0
        while seq + 1 in self._by_seq:
            seq += 1
        return seq

    @property
    def has_gap(self) -> bool:
        return self.complete_to < len(self._by_seq)


def read_snapshot(page: str) -> tuple[list[Event], int | None]:
    """The events of one page of a snapshot, and the sequence number to go on from, None at the end.

    An event that is none of this version is left out.

    Raises:
        ValueError: the page is no snapshot.
    """
    try:
        told = json.loads(page)
        lines, following = told["events"], told["next_seq"]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"not a page of a snapshot: {error!r}") from error
    events = []
    for line in lines:
        try:
            events.append(Event.from_json(json.dumps(line)))
        except ValueError:
            continue
    return events, following if isinstance(following, int) else None
