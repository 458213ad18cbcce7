from __future__ import annotations

import pytest

from selfhost.load.ears import Span
from selfhost.load.measure import Window, measure, reply_onset_s


def test_the_gap_is_from_the_last_sound_to_the_first() -> None:
    # The turn's window goes on for 0.3 s after its last sound: silence is not counted as speech.
    turns = measure([Span(1.0, 2.0)], [Span(0.0, 0.5), Span(3.2, 5.0)], [Window(0.9, 2.3)])
    assert turns[0].gap_ms == pytest.approx(1200)
    assert not turns[0].cut_in


def test_a_pause_inside_a_turn_is_no_gap() -> None:
    caller = [Span(1.0, 2.0), Span(2.7, 3.5)]
    turns = measure(caller, [Span(4.0, 5.0)], [Window(1.0, 3.5)])
    assert turns[0].gap_ms == pytest.approx(500)
    assert turns[0].first_s == 1.0


def test_an_agent_that_speaks_in_the_callers_pause_cut_in() -> None:
    caller = [Span(1.0, 2.0), Span(3.0, 4.0)]
    yielded = measure(caller, [Span(2.4, 3.2), Span(5.0, 6.0)], [Window(1.0, 4.0)])[0]
    assert yielded.cut_in
    assert yielded.gap_ms == pytest.approx(1000)
    talked_on = measure(caller, [Span(2.4, 6.0)], [Window(1.0, 4.0)])[0]
    assert talked_on.cut_in
    assert talked_on.gap_ms == pytest.approx(-1600)


def test_a_turn_over_the_agent_measures_how_soon_it_fell_silent() -> None:
    caller = [Span(10.0, 10.4)]
    agent = [Span(9.0, 10.6), Span(11.5, 13.0)]
    turn = measure(caller, agent, [Window(10.0, 10.4, over_agent=True)])[0]
    assert turn.stop_ms == pytest.approx(600)
    assert turn.silent_ms == pytest.approx(900)
    assert turn.gap_ms == pytest.approx(1100)
    assert turn.pause_ms == pytest.approx(900)
    assert not turn.cut_in


def test_an_agent_that_never_speaks_again_was_not_silent_for_zero() -> None:
    turn = measure([Span(2.0, 2.4)], [Span(1.0, 2.3)], [Window(2.0, 2.4, over_agent=True)])[0]
    assert turn.stop_ms == pytest.approx(300)
    assert turn.silent_ms is None


def test_a_pause_of_the_agents_from_before_the_caller_spoke_is_none() -> None:
    agent = [Span(7.0, 8.0), Span(9.0, 11.0)]
    turn = measure([Span(10.0, 10.4)], agent, [Window(10.0, 10.4, over_agent=True)])[0]
    assert turn.pause_ms is None


def test_the_answer_to_the_next_turn_is_not_this_ones() -> None:
    caller, agent = [Span(1.0, 2.0), Span(9.0, 9.5)], [Span(10.0, 11.0)]
    turns = measure(caller, agent, [Window(1.0, 2.0), Window(9.0, 9.5)])
    assert [turn.gap_ms for turn in turns] == [None, pytest.approx(500)]


def test_what_was_not_heard_is_unknown_and_not_zero() -> None:
    turn = measure([], [Span(3.0, 4.0)], [Window(1.0, 2.0)])[0]
    assert (turn.first_s, turn.last_s, turn.gap_ms, turn.stop_ms) == (None, None, None, None)


def test_a_reply_is_audible_where_a_sound_begins_near_its_word() -> None:
    agent = [Span(3.0, 3.4), Span(4.1, 6.0)]
    assert reply_onset_s(agent, 2.95) == 3.0
    assert reply_onset_s(agent, 4.0) == 4.1
    assert reply_onset_s(agent, 4.15) == 4.1  # the word may come after the sound
    assert reply_onset_s(agent, 5.0) == 5.0  # it went on from what was audible already
