"""Events that come in any order, and what is missing of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.timeline.events import Event, EventType
from ui.event_log import EventLog, read_snapshot


def event(seq: int) -> Event:
    return Event(seq, 0, EventType.SPEECH_STARTED, 0.0, datetime(2026, 10, 1, tzinfo=UTC))


def test_a_log_knows_what_it_misses_whatever_comes_first() -> None:
    log = EventLog()
    assert (log.complete_to, log.has_gap) == (0, False)
    log.add([event(2), event(4), event(2)])
    assert (log.complete_to, log.has_gap) == (0, True)
    log.add([event(1)])
    assert (log.complete_to, log.has_gap) == (2, True)
    log.add([event(3)])
    assert [one.seq for one in log.arrived] == [2, 4, 1, 3]
    assert not log.has_gap


def test_what_is_no_snapshot_is_refused_and_what_is_no_event_left_out() -> None:
    page = f'{{"events": [{event(1).to_json()}, {{"v": 9}}], "next_seq": 3}}'
    events, following = read_snapshot(page)
    assert ([one.seq for one in events], following) == ([1], 3)
    for broken in ("", "null", "[]", '{"events": []}'):
        with pytest.raises(ValueError, match="not a page of a snapshot"):
            read_snapshot(broken)
