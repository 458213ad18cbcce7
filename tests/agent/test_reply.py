"""What the receptionist decides to say: only what is missing, exactly, and never a false claim."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest

from agent.booking.heard import Answer, Asked, Hearing, Intent, Problem, ProblemKind
from agent.booking.hotel import load_hotel
from agent.booking.request import BookingRequest, Change, Field
from agent.reply import MAX_SENTENCES, Move, Plan, Standing, decide, greet, recorded
from agent.wording import problem

HOTEL = load_hotel()
FULL = BookingRequest(
    check_in=date(2027, 10, 16),
    check_out=date(2027, 10, 20),
    guests=2,
    room_type="double",
    guest_name="Priya Raman",
)
READ_BACK = Plan(Move.READ_BACK, "…", "Is that right?", asked=Asked(frozenset(Field), True))
CLAIM = re.compile(
    r"\b(is|are|have|has been|I've|you're|all) (booked|reserved|confirmed|set|available)\b", re.I
)


def reply(
    request: BookingRequest = BookingRequest(),  # noqa: B008 - frozen
    *,
    plan: Plan | None = None,
    number: str | None = None,
    heard: Hearing = Hearing(),  # noqa: B008 - frozen
) -> Plan:
    before = Standing(request, plan or greet(HOTEL), number, acknowledged=request)
    return decide(before, heard, request.with_changes(heard.changes), HOTEL)


def told(**values: str | int | date) -> Hearing:
    return Hearing(
        changes=tuple(
            Change(field=Field(name), new=value, words="", turn=1) for name, value in values.items()
        )
    )


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        ({}, {Field.CHECK_IN, Field.CHECK_OUT}),
        ({"check_in": date(2027, 10, 16)}, {Field.CHECK_OUT}),
        (
            {"check_in": date(2027, 10, 16), "check_out": date(2027, 10, 20)},
            {Field.GUESTS, Field.ROOM_TYPE},
        ),
        ({"guests": 2, "room_type": "double"}, {Field.CHECK_IN, Field.CHECK_OUT}),
    ],
)
def test_it_asks_only_for_what_is_missing(known: dict[str, date | int], asked: set[Field]) -> None:
    plan = reply(replace(BookingRequest(), **known), heard=Hearing(intent=Intent.BOOK))
    assert plan.asked.fields == asked
    assert plan.question.endswith("?")


def test_what_was_just_said_is_said_back_before_the_next_question() -> None:
    plan = reply(heard=told(check_in=date(2027, 10, 16), check_out=date(2027, 10, 20)))
    assert "October sixteenth" in plan.opening
    assert "October twentieth" in plan.opening
    assert plan.asked.fields == {Field.GUESTS, Field.ROOM_TYPE}


def test_a_corrected_date_is_said_back_and_the_old_one_is_not() -> None:
    plan = reply(replace(FULL, guest_name=None), heard=told(check_in=date(2027, 10, 18)))
    assert "October eighteenth" in plan.opening
    assert "sixteenth" not in plan.opening + plan.question
    assert plan.asked.fields == {Field.GUEST_NAME}


def test_a_turn_that_a_pause_cut_in_two_is_said_back_whole() -> None:
    halfway = BookingRequest(check_in=date(2027, 10, 16))
    heard = told(check_out=date(2027, 10, 20))
    before = Standing(halfway, greet(HOTEL))  # nothing was spoken since the first half
    plan = decide(before, heard, halfway.with_changes(heard.changes), HOTEL)
    assert "October sixteenth" in plan.opening
    assert "October twentieth" in plan.opening


def test_a_full_request_is_read_back_whole_before_it_is_recorded() -> None:
    plan = reply(replace(FULL, guest_name=None), heard=told(guest_name="Priya Raman"))
    assert plan.move is Move.READ_BACK
    assert plan.asked.read_back
    for words in ("October sixteenth", "October twentieth", "two", "double", "Priya Raman"):
        assert words in plan.opening


def test_yes_to_the_read_back_records_it() -> None:
    plan = reply(FULL, plan=READ_BACK, heard=Hearing(answer=Answer.YES))
    assert plan.move is Move.RECORD
    said = recorded(FULL, "1042")
    assert "front desk will confirm" in said.question


def test_yes_to_anything_else_records_nothing() -> None:
    assert reply(FULL, heard=Hearing(answer=Answer.YES)).move is Move.READ_BACK


def test_no_to_the_read_back_asks_what_to_change() -> None:
    plan = reply(FULL, plan=READ_BACK, heard=Hearing(answer=Answer.NO))
    assert plan.move is Move.CORRECT
    assert plan.asked.fields == set(Field)


def test_a_change_in_answer_to_the_read_back_is_read_back_anew() -> None:
    plan = reply(FULL, plan=READ_BACK, heard=replace(told(guests=3), answer=Answer.YES))
    assert plan.move is Move.READ_BACK
    assert "three" in plan.opening


def test_asked_whether_it_is_confirmed_it_says_not_yet() -> None:
    heard = Hearing(intent=Intent.CONFIRMED_QUESTION)
    for plan in (reply(heard=heard), reply(FULL, number="1042", heard=heard)):
        assert plan.opening.startswith("Not yet")
        assert not CLAIM.search(plan.opening + plan.question)


def test_a_recorded_request_is_changed_only_after_another_read_back() -> None:
    plan = reply(FULL, number="1042", heard=told(guests=3))
    assert plan.move is Move.READ_BACK


def test_a_recorded_request_is_not_asked_about_again() -> None:
    plan = reply(FULL, number="1042", heard=Hearing(answer=Answer.YES))
    assert not plan.asked.fields


def test_goodbye_keeps_what_was_told() -> None:
    half = BookingRequest().with_changes(told(guests=2).changes)
    plan = reply(half, heard=Hearing(intent=Intent.GOODBYE))
    assert plan.move is Move.GOODBYE
    assert "kept" in plan.opening


def test_asked_to_repeat_it_says_the_same_again() -> None:
    plan = reply(FULL, plan=READ_BACK, heard=Hearing(intent=Intent.REPEAT))
    assert (plan.opening, plan.question, plan.asked) == (
        READ_BACK.opening,
        READ_BACK.question,
        READ_BACK.asked,
    )


def test_words_without_a_value_are_answered_with_the_question_again() -> None:
    plan = reply()
    assert plan.opening == "Sorry, I didn't get that."
    assert plan.asked.fields == {Field.CHECK_IN, Field.CHECK_OUT}


@pytest.mark.parametrize("kind", list(ProblemKind))
def test_every_problem_is_asked_about_in_at_most_two_sentences(kind: ProblemKind) -> None:
    found = Problem(kind, Field.CHECK_OUT, "the words", value=date(2027, 10, 16), limit=30)
    words = problem(found, HOTEL)
    assert words.endswith("?")
    assert len(re.findall(r"[.?!]", words)) <= 2
    plan = reply(heard=Hearing(problems=(found,)))
    assert plan.move is Move.PROBLEM
    assert plan.asked.problems == (found,)


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("intent", list(Intent))
@pytest.mark.parametrize("request_", [BookingRequest(), replace(FULL, guests=None), FULL])
@pytest.mark.parametrize("number", [None, "1042"])
@pytest.mark.parametrize("plan", [None, READ_BACK])
def test_no_reply_is_silent_claims_anything_or_is_over_three_sentences(
    answer: Answer, intent: Intent, request_: BookingRequest, number: str | None, plan: Plan | None
) -> None:
    said = reply(request_, plan=plan, number=number, heard=Hearing(answer=answer, intent=intent))
    if said.move is Move.RECORD:
        said = recorded(request_, "1042")
    if said.move is Move.REPEAT:
        return
    words = f"{said.opening} {said.question} {said.closing}"
    assert words.strip()
    assert not CLAIM.search(words)
    assert len(re.findall(r"[.?!](?=\s|$)", words)) <= MAX_SENTENCES
