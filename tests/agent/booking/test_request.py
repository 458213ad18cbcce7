from __future__ import annotations

from datetime import date

from agent.booking.request import BookingRequest, Change, Field

SIXTEENTH, EIGHTEENTH = date(2027, 10, 16), date(2027, 10, 18)


def test_a_corrected_value_replaces_the_old_one_which_stays_in_the_history() -> None:
    request = BookingRequest(guests=2).with_changes(
        (Change(Field.CHECK_IN, SIXTEENTH, "October 16th", turn=1),)
    )
    corrected = request.with_changes((Change(Field.CHECK_IN, EIGHTEENTH, "the 18th", turn=2),))
    assert corrected.check_in == EIGHTEENTH
    assert corrected.guests == 2
    assert [(one.old, one.new, one.words) for one in corrected.history] == [
        (None, SIXTEENTH, "October 16th"),
        (SIXTEENTH, EIGHTEENTH, "the 18th"),
    ]


def test_a_value_that_already_stands_changes_nothing() -> None:
    request = BookingRequest(check_in=SIXTEENTH, confirmed=True)
    assert request.with_changes((Change(Field.CHECK_IN, SIXTEENTH, "the 16th", turn=2),)) == request


def test_any_change_takes_the_confirmation_back() -> None:
    request = BookingRequest(guests=2, confirmed=True)
    assert not request.with_changes((Change(Field.GUESTS, 3, "three", turn=2),)).confirmed


def test_a_length_of_stay_is_kept_until_the_check_in_is_known() -> None:
    request = BookingRequest().with_changes(
        (Change(Field.CHECK_OUT, None, "three nights", turn=1, nights=3),)
    )
    assert request.nights == 3
    assert Field.CHECK_OUT not in request.missing()
    assert [one.words for one in request.history] == ["three nights"]


def test_an_explicit_check_out_takes_the_place_of_a_length_of_stay() -> None:
    request = BookingRequest(check_in=SIXTEENTH, nights=3)
    changed = request.with_changes((Change(Field.CHECK_OUT, EIGHTEENTH, "the 18th", turn=2),))
    assert changed.nights is None


def test_a_dropped_check_out_is_missing_again() -> None:
    request = BookingRequest(check_in=EIGHTEENTH, check_out=SIXTEENTH)
    changed = request.with_changes((Change(Field.CHECK_OUT, None, "the 18th", turn=2),))
    assert changed.check_out is None
    assert changed.history[-1].old == SIXTEENTH
    assert Field.CHECK_OUT in changed.missing()
