"""What the receptionist says next: a pure decision from the request and what was just heard.

The code says every value, claim and problem itself, exactly and at once. The language model words
the question that follows, or answers a question about the hotel, under a brief; what it says is
checked before it is spoken, and a ready sentence stands in where it fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from agent import wording
from agent.booking import spoken
from agent.booking.heard import Answer, Asked, Hearing, Intent, Problem
from agent.booking.hotel import Hotel
from agent.booking.request import BookingRequest, Field
from agent.speech.facts import fact_for
from agent.speech.speakable import speakable

MAX_SENTENCES = 3
MAX_REFERENCE_ASKS = 2  # for one that was not understood; then the front desk asks

# What is asked for together: two things at most, in the order of asking.
ASK_GROUPS = (
    (Field.CHECK_IN, Field.CHECK_OUT),
    (Field.GUESTS, Field.ROOM_TYPE),
    (Field.GUEST_NAME,),
)


class Move(StrEnum):
    """What a reply does."""

    ASK = "ask"
    READ_BACK = "read_back"
    RECORD = "record"
    ANSWER = "answer"
    NOT_CONFIRMED = "not_confirmed"
    PROBLEM = "problem"
    CORRECT = "correct"
    REPEAT = "repeat"
    HAND_OVER = "hand_over"
    GOODBYE = "goodbye"


@dataclass(frozen=True)
class Plan:
    """One reply, decided before a word of it is generated.

    Attributes:
        move: what it does.
        opening: sentences spoken exactly as they are, before anything else; may be empty.
        question: what follows it, ready to be spoken: mostly a question; may be empty.
        brief: what the model is asked to word in place of `question`, or None if the words are
            settled.
        closing: spoken exactly as it is, behind the model's words; may be empty.
        asked: what the caller will be answering; it decides how the next turn is heard.
        reference_asks: how often the caller was asked, up to here, for a reference that had not
            been understood.
    """

    move: Move
    opening: str
    question: str
    brief: str | None = None
    closing: str = ""
    asked: Asked = field(default_factory=Asked)
    reference_asks: int = 0


@dataclass(frozen=True)
class Standing:
    """Where the conversation stands before the caller's turn."""

    request: BookingRequest
    plan: Plan | None = None  # the reply that the caller is answering
    request_number: str | None = None  # given once the caller confirmed the read-back
    # The request as it was when the caller last heard a reply: a turn that was cut in two by a
    # pause has its first half said back together with its second.
    acknowledged: BookingRequest = field(default_factory=BookingRequest)

    @property
    def reference_asks(self) -> int:
        return self.plan.reference_asks if self.plan else 0

    @property
    def asked_for_reference(self) -> bool:
        """Whether the caller is answering the question for a reference."""
        return self.plan is not None and self.plan.asked.fields == {Field.REFERENCE}


def greet(hotel: Hotel) -> Plan:
    """The first words of a call."""
    return Plan(
        move=Move.ASK,
        opening=f"{hotel.name}, good day.",
        question=wording.question(ASK_GROUPS[0], hotel),
        asked=Asked(frozenset(ASK_GROUPS[0])),
    )


def decide(
    before: Standing, heard: Hearing, request: BookingRequest, hotel: Hotel, words: str = ""
) -> Plan:
    """The reply to one turn of the caller's.

    Args:
        before: the request and the agent's last reply as the turn began.
        heard: what was found in the caller's words.
        request: the request with the turn's changes in it.
        hotel: whose names and rules hold.
        words: what the caller said, to look for the fact that answers a question.
    """
    plan = _decide(before, heard, request, hotel, words)
    return replace(plan, reference_asks=max(plan.reference_asks, before.reference_asks))


def _decide(
    before: Standing, heard: Hearing, request: BookingRequest, hotel: Hotel, words: str
) -> Plan:
    if heard.intent is Intent.GOODBYE and not heard.changes:
        return _goodbye(before, hotel)
    if heard.intent is Intent.PERSON:
        return _ask_on(
            Move.HAND_OVER, "I'll ask the front desk to call you back.", before, request, hotel
        )
    if heard.intent is Intent.CONFIRMED_QUESTION:
        return _ask_on(
            Move.NOT_CONFIRMED,
            "Not yet; the front desk will confirm your request with you.",
            before,
            request,
            hotel,
        )
    if heard.problems:
        return _ask_about(heard.problems[0], before, heard, request, hotel)
    if heard.intent is Intent.REPEAT and before.plan is not None and not heard.changes:
        return Plan(
            move=Move.REPEAT,
            opening=before.plan.opening,
            question=before.plan.closing or before.plan.question,
            asked=before.plan.asked,
        )
    if heard.intent is Intent.QUESTION and not heard.changes:
        return _answer(before, request, hotel, words)
    if before.request_number is not None and not heard.changes:
        return _after_recording(heard, hotel)
    if before.plan is not None and before.plan.asked.read_back and not heard.changes:
        if heard.answer is Answer.YES:
            return Plan(move=Move.RECORD, opening="", question="")
        if heard.answer is Answer.NO:
            return Plan(
                move=Move.CORRECT,
                opening="",
                question="What should I change?",
                asked=Asked(frozenset(Field)),
            )
    if before.asked_for_reference and request.unclear_reference and not heard.changes:
        return _without_reference(before, heard, request, hotel)
    return _ask_on(
        Move.ASK, acknowledge(before.acknowledged, request, heard, hotel), before, request, hotel
    )


def recorded(request: BookingRequest, number: str) -> Plan:
    """The reply once the request is in the book: its number, and who confirms it."""
    thanks = f"Thank you, {request.guest_name}." if request.guest_name else "Thank you."
    return Plan(
        move=Move.RECORD,
        opening=f"{thanks} Your request number is {spoken.digits(number)}.",
        question="The front desk will confirm it with you.",
    )


def not_recorded() -> Plan:
    """The reply when the request could not be written down; the caller's yes tries again."""
    return Plan(
        move=Move.READ_BACK,
        opening="I'm sorry, I can't note your request down just now.",
        question="Shall I try again?",
        asked=Asked(frozenset(Field), read_back=True),
    )


def acknowledge(
    before: BookingRequest, request: BookingRequest, heard: Hearing, hotel: Hotel
) -> str:
    """A short sentence that says back exactly what was just heard; empty if nothing was."""
    fresh = _fresh(before, request)
    if not fresh:
        if heard.answer is Answer.YES:
            return "Good."
        return "Of course." if heard.intent is Intent.BOOK else "Sorry, I didn't get that."
    corrected = any(before.get(part) is not None for part in fresh)
    said = spoken.acknowledgement(request, tuple(fresh), hotel)
    return f"So, {said}." if corrected else f"{said[0].upper()}{said[1:]}."


def _fresh(before: BookingRequest, request: BookingRequest) -> list[Field]:
    """What the caller has not heard said back yet."""
    return [part for part in Field if request.get(part) != before.get(part)]


def _ask_about(
    problem: Problem, before: Standing, heard: Hearing, request: BookingRequest, hotel: Hotel
) -> Plan:
    """The question about something that cannot be taken as it was heard."""
    fresh = bool(_fresh(before.acknowledged, request))
    opening = acknowledge(before.acknowledged, request, heard, hotel) if fresh else ""
    asks = before.reference_asks
    if problem.field is Field.REFERENCE:
        if asks >= MAX_REFERENCE_ASKS:
            opening = f"{opening} {wording.REFERENCE_LEFT}".strip()
            return _ask_on(Move.ASK, opening, before, request, hotel)
        asks += 1
    return Plan(
        move=Move.PROBLEM,
        opening=opening,
        question=wording.problem(problem, hotel),
        asked=Asked(frozenset({problem.field}), problems=(problem,)),
        reference_asks=asks,
    )


def _without_reference(
    before: Standing, heard: Hearing, request: BookingRequest, hotel: Hotel
) -> Plan:
    """The reply where a reference was asked for again and the answer holds none."""
    if before.reference_asks < MAX_REFERENCE_ASKS and heard.answer is not Answer.NO:
        return _reference_again("Sorry, I didn't get that.", before)
    left = _ask_on(Move.ASK, wording.REFERENCE_LEFT, before, request, hotel, ask_reference=False)
    return replace(left, reference_asks=MAX_REFERENCE_ASKS)


def _reference_again(opening: str, before: Standing) -> Plan:
    return Plan(
        move=Move.PROBLEM,
        opening=opening,
        question=wording.REFERENCE_AGAIN,
        asked=Asked(frozenset({Field.REFERENCE})),
        reference_asks=before.reference_asks + 1,
    )


def _ask_on(
    move: Move,
    opening: str,
    before: Standing,
    request: BookingRequest,
    hotel: Hotel,
    *,
    ask_reference: bool = True,
) -> Plan:
    """`opening`, then the question for what is missing, or the whole request read back.

    A caller who went on to something else is asked for the reference again when all else is known.
    """
    if before.request_number is not None:
        if request == before.request:
            return Plan(move=move, opening=opening, question="Is there anything else?")
        return _read_back(request, hotel)
    for group in ASK_GROUPS:
        missing = tuple(part for part in group if part in request.missing())
        if missing:
            question = wording.question(missing, hotel)
            return Plan(
                move=move,
                opening=opening,
                question=question,
                brief=f"Ask the caller: {question}",
                asked=Asked(frozenset(missing)),
            )
    if move is Move.ASK:
        unclear = request.unclear_reference is not None
        if ask_reference and unclear and before.reference_asks < MAX_REFERENCE_ASKS:
            return _reference_again(opening, before)
        return _read_back(request, hotel)
    if before.plan is not None and before.plan.asked.read_back:
        return Plan(
            move=move,
            opening=opening,
            question="Is what I read back right?",
            asked=before.plan.asked,
        )
    return Plan(move=move, opening=opening, question="Shall I read your request back to you?")


def _read_back(request: BookingRequest, hotel: Hotel) -> Plan:
    return Plan(
        move=Move.READ_BACK,
        opening=spoken.read_back(request, hotel),
        question="Is that right?",
        asked=Asked(frozenset(Field), read_back=True),
    )


def _answer(before: Standing, request: BookingRequest, hotel: Hotel, words: str) -> Plan:
    fact = fact_for(words, hotel.facts)
    follow_up = _ask_on(Move.ANSWER, "", before, request, hotel)
    return Plan(
        move=Move.ANSWER,
        opening="",
        question=speakable(fact) if fact else wording.UNKNOWN,
        brief=(
            "Answer the caller's question in one short sentence, only from the facts above. "
            "If they do not say, answer that the front desk can tell them."
        ),
        closing=follow_up.question,
        asked=follow_up.asked,
    )


def _after_recording(heard: Hearing, hotel: Hotel) -> Plan:
    if heard.answer is Answer.NO:
        return _goodbye(None, hotel)
    return Plan(move=Move.ASK, opening="", question="What else can I do for you?")


def _goodbye(before: Standing | None, hotel: Hotel) -> Plan:
    unfinished = (
        before is not None and before.request_number is None and bool(before.request.history)
    )
    kept = wording.KEPT if unfinished else ""
    return Plan(
        move=Move.GOODBYE,
        opening=f"{kept} Thank you for calling {hotel.name}.".strip(),
        question="Goodbye.",
    )
