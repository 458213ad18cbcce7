from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.timeline.events import Event, EventType
from selfhost.load.measure import Window
from selfhost.load.observed import Observed, Segment
from selfhost.load.words import GREETING, last_booking, words_by_turn

WINDOWS = [Window(2.0, 3.0), Window(6.0, 7.0, over_agent=True)]


def event(seq: int, kind: EventType, **fields: Any) -> Event:
    return Event(seq, 0, kind, 0.0, datetime(2026, 11, 30, tzinfo=UTC), fields)


def observe(*received: tuple[float, Event]) -> Observed:
    observed = Observed()
    for at_s, one in received:
        observed.add_packet(one.to_json().encode(), at_s)
    return observed


def test_words_belong_to_the_turn_that_was_going_on() -> None:
    words = words_by_turn(
        observe(
            (0.5, event(1, EventType.AGENT_SPEAKING)),
            (1.5, event(2, EventType.AGENT_STOPPED, text="Good evening.", interrupted=False)),
            (2.4, event(3, EventType.PARTIAL_TRANSCRIPT, text="two")),
            (3.4, event(4, EventType.FINAL_TRANSCRIPT, text="Two guests.")),
            (4.0, event(5, EventType.AGENT_SPEAKING)),
            (6.5, event(6, EventType.INTERRUPTED)),
            # The words of the reply that was cut short come in the turn that cut it short.
            (6.6, event(7, EventType.AGENT_STOPPED, text="Two guests; and", interrupted=True)),
            (7.4, event(8, EventType.FINAL_TRANSCRIPT, text="Stop.")),
            (8.0, event(9, EventType.AGENT_SPEAKING)),
            (9.0, event(10, EventType.AGENT_STOPPED, text="Yes?", interrupted=False)),
        ),
        WINDOWS,
    )
    assert words[GREETING].answered == ["Good evening."]
    assert (words[0].heard, words[0].answered) == (["Two guests."], ["Two guests; and"])
    assert (words[0].partials_s, words[0].finals_s) == ([2.4], [3.4])
    assert (words[1].heard, words[1].answered) == (["Stop."], ["Yes?"])
    assert (words[0].interrupted, words[1].interrupted) == (False, True)
    assert (words[0].replies_s, words[1].replies_s) == ([4.0], [8.0])


def test_an_event_that_was_asked_for_has_words_but_no_time() -> None:
    observed = observe((4.0, event(3, EventType.AGENT_SPEAKING)))
    page = [event(1, EventType.CALL_STARTED), event(2, EventType.FINAL_TRANSCRIPT, text="Hello.")]
    assert observed.first_missing_seq() == 1
    lines = [json.loads(one.to_json()) for one in page]
    assert observed.add_snapshot(json.dumps({"events": lines, "next_seq": None})) is None
    assert observed.first_missing_seq() is None
    words = words_by_turn(observed, WINDOWS)
    assert words[GREETING].heard == ["Hello."]
    assert words[GREETING].finals_s == []


def test_without_a_timeline_livekits_transcriptions_are_used() -> None:
    observed = Observed(
        segments=[
            Segment(False, "a", "Good evening.", False, 0.5),
            Segment(True, "b", "two", False, 2.4),
            Segment(True, "b", "Two guests.", True, 3.4),
            Segment(False, "c", "For which", False, 4.0),
            Segment(False, "c", "For which dates?", True, 4.0),
        ]
    )
    words = words_by_turn(observed, WINDOWS)
    assert words[GREETING].answered == ["Good evening."]
    assert (words[0].heard, words[0].answered) == (["Two guests."], ["For which dates?"])
    assert words[0].interrupted is None  # these streams do not tell


@pytest.mark.parametrize(
    ("kinds", "pending"),
    [
        ([], False),
        ([EventType.FINAL_TRANSCRIPT], True),
        ([EventType.FINAL_TRANSCRIPT, EventType.REPLY_STARTED], True),
        ([EventType.REPLY_STARTED, EventType.AGENT_SPEAKING], False),
        ([EventType.AGENT_SPEAKING, EventType.AGENT_STOPPED, EventType.FINAL_TRANSCRIPT], True),
    ],
)
def test_a_reply_is_pending_until_it_is_spoken(kinds: list[EventType], pending: bool) -> None:
    received = [(float(seq), event(seq, kind)) for seq, kind in enumerate(kinds, start=1)]
    assert observe(*received).reply_pending is pending


def test_the_booking_is_the_last_one_published_whatever_came_last() -> None:
    observed = observe(
        (3.0, event(2, EventType.BOOKING_UPDATED, booking={"guests": 3})),
        (3.1, event(1, EventType.BOOKING_UPDATED, booking={"guests": 2})),
    )
    assert last_booking(observed) == {"guests": 3}
    assert last_booking(Observed()) is None


def test_packets_that_are_no_events_are_counted_and_do_no_harm() -> None:
    observed = Observed()
    observed.add_packet(b"\xff", 0.0)
    observed.add_packet(b'{"v": 99}', 0.0)
    assert (observed.unreadable, observed.timeline) == (2, [])


@pytest.mark.parametrize("page", ["no JSON", "[]", '{"events": [{}], "next_seq": null}'])
def test_a_page_that_is_no_timeline_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting value|not a"):
        Observed().add_snapshot(page)


def test_a_turn_that_a_pause_cut_in_pieces_is_heard_once() -> None:
    def final(seq: int, turn: int, text: str) -> Event:
        fields = {"text": text}
        wall = datetime(2026, 11, 30, tzinfo=UTC)
        return Event(seq, turn, EventType.FINAL_TRANSCRIPT, 0.0, wall, fields)

    words = words_by_turn(
        observe(
            (2.2, final(1, 1, "My name is.")),
            (3.4, final(2, 1, "My name is. Emma Wilson.")),
            (3.9, final(3, 2, "Please.")),  # the agent took the pause before it for an end
        ),
        WINDOWS,
    )
    assert words[0].heard == ["My name is. Emma Wilson.", "Please."]
    assert words[0].finals_s == [2.2, 3.4, 3.9]


def test_an_agent_without_a_timeline_is_timed_by_its_state() -> None:
    observed = Observed()
    for at_s, state in (
        (1.0, "speaking"),
        (1.5, "speaking"),
        (1.8, "listening"),
        (4.0, "speaking"),
    ):
        observed.add_state(state, at_s)
    words = words_by_turn(observed, WINDOWS)
    assert words[GREETING].replies_s == [1.0]
    assert (words[0].replies_s, words[1].replies_s) == ([4.0], [])
    assert words_by_turn(Observed(), WINDOWS)[0].replies_s is None
