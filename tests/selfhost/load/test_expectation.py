from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from selfhost.load.expectation import (
    DateRule,
    check_booking,
    check_includes,
    check_never,
    next_occurrence,
    resolve,
)

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("month_and_day", "today", "expected"),
    [
        ("10-18", TODAY, date(2027, 10, 18)),
        ("12-01", TODAY, date(2026, 12, 1)),
        ("11-30", TODAY, TODAY),  # today counts
        ("11-29", TODAY, date(2027, 11, 29)),
        ("02-29", TODAY, date(2028, 2, 29)),
        ("02-29", date(2096, 3, 1), date(2104, 2, 29)),  # 2100 is no leap year
    ],
)
def test_a_day_without_a_year_is_the_next_one(
    month_and_day: str, today: date, expected: date
) -> None:
    assert next_occurrence(month_and_day, today) == expected


def test_a_date_after_another_is_strictly_after_it_even_over_new_year() -> None:
    booking = {
        "check_in": DateRule(next="12-30"),
        "check_out": DateRule(after="check_in", next="01-02"),
    }
    assert resolve(booking, TODAY) == {"check_in": "2026-12-30", "check_out": "2027-01-02"}
    same_day = {**booking, "check_out": DateRule(after="check_in", next="12-30")}
    assert resolve(same_day, TODAY)["check_out"] == "2027-12-30"


def test_days_count_from_today_or_from_the_date_named() -> None:
    booking = {
        "check_in": DateRule(days=1),
        "check_out": DateRule(after="check_in", days=3),
        "guests": 2,
        "reference": None,
    }
    assert resolve(booking, TODAY) == {
        "check_in": "2026-12-01",
        "check_out": "2026-12-04",
        "guests": 2,
        "reference": None,
    }


def test_a_fixed_date_can_be_referred_to() -> None:
    booking = {"check_in": date(2027, 10, 18), "check_out": DateRule(after="check_in", days=2)}
    assert resolve(booking, TODAY) == {"check_in": "2027-10-18", "check_out": "2027-10-20"}


def test_a_circle_of_dates_is_refused() -> None:
    circle = {"a": DateRule(after="b", days=1), "b": DateRule(after="a", days=1)}
    with pytest.raises(ValueError, match="circle"):
        resolve(circle, TODAY)


def test_after_must_name_an_expected_date() -> None:
    with pytest.raises(ValueError, match="check_in"):
        resolve({"check_out": DateRule(after="check_in", days=1)}, TODAY)


@pytest.mark.parametrize("rule", [{}, {"next": "10-18", "days": 1}, {"next": "13-01"}])
def test_an_unclear_date_rule_is_refused(rule: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        DateRule.model_validate(rule)


def test_only_listed_fields_are_compared_and_capitals_are_not_heard() -> None:
    booking = {"guest_name": "priya  raman", "guests": 2, "room_type": "double"}
    assert check_booking({"guest_name": "Priya Raman", "guests": 2}, booking) == []


def test_each_wrong_field_is_named_with_both_values() -> None:
    expected = {"guests": 2, "reference": None, "room_type": "twin"}
    booking = {"guests": 3, "reference": "K74Q29"}
    failures = check_booking(expected, booking)
    assert [str(failure) for failure in failures] == [
        "booking.guests: expected 2, got 3",
        "booking.reference: expected None, got 'K74Q29'",
        "booking.room_type: expected 'twin', got None",
    ]


def test_no_booking_at_all_is_a_failure_unless_none_is_expected() -> None:
    assert len(check_booking({"guests": 2}, None)) == 1
    assert check_booking({}, None) == []


def test_words_are_regular_expressions_without_regard_to_capitals() -> None:
    answer = "October Eighteenth, then."
    assert check_includes("answers", ["october (18th|eighteenth)"], answer) == []
    assert check_includes("answers", ["sixteenth"], answer)[0].where == "answers"
    assert check_never("answers", ["sixteenth"], answer) == []
    assert check_never("answers", [r"\bthen\b"], answer)[0].got == "'then'"
