"""The receptionist's ready words: instructions for the model, and sentences that need none.

Every sentence here is spoken as it stands, so each is short, plain, and true whatever happens
afterwards: nothing is ever said to be booked.
"""

from __future__ import annotations

from datetime import date

from agent.booking import spoken
from agent.booking.heard import Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.request import BookingRequest, Field, Value

FILLER = "Let me see."
UNKNOWN = "I don't know that, but the front desk can tell you."
REFERENCE_AGAIN = "Could you give me your reference once more, letter by letter?"
REFERENCE_LEFT = "The front desk will ask you for the reference."
DEAF = "I'm sorry, I can't hear you just now. Please hold the line."

_LONGEST_READ_BACK = 12  # letters and digits; nobody compares more of them by ear
KEPT = "I've kept what you told me so far."
STILL_THERE = "Are you still there?"
NOT_HEARD = "I can't hear you. Please say something if you are there."
SILENT_GOODBYE = "I'll end the call now. Please call again any time. Goodbye."

_ASK = {
    (Field.CHECK_IN, Field.CHECK_OUT): "Which dates would you like to stay?",
    (Field.CHECK_IN,): "What day will you arrive?",
    (Field.CHECK_OUT,): "What day will you leave?",
    (Field.GUESTS, Field.ROOM_TYPE): "For how many guests, and which kind of room?",
    (Field.GUESTS,): "For how many guests?",
    (Field.GUEST_NAME,): "What name is the request for?",
}


def instructions(hotel: Hotel) -> str:
    """The model's standing instructions; the same in every turn, so that they stay cached."""
    facts = "\n".join(f"- {fact}" for fact in hotel.facts)
    rooms = ", ".join(hotel.room_types)
    return (
        f"You are the receptionist of {hotel.name}, on the phone. You take a booking request; the "
        "front desk will confirm it later. Never say that anything is booked, reserved, "
        "confirmed, changed, cancelled or available. Speak plainly: short sentences, no lists, "
        "no symbols. Say no name, date or number that the caller's request or these facts do not "
        f"hold.\nRoom types: {rooms}.\nFacts:\n{facts}"
    )


def brief(task: str, request: BookingRequest, hotel: Hotel) -> str:
    """What the model is to word in this turn, and all that it may know of the request."""
    known = spoken.read_back(request, hotel) if request.history else "nothing yet"
    return f"The request so far: {known}\nYour task now, in one short sentence: {task}"


def question(missing: tuple[Field, ...], hotel: Hotel) -> str:
    """The question for one or two missing parts, in the order of asking."""
    if missing == (Field.ROOM_TYPE,):
        *most, last = hotel.room_types
        return f"Which room would you like: {', '.join(most)} or {last}?"
    return _ASK[missing]


def problem(found: Problem, hotel: Hotel) -> str:
    """The question about something that was heard but cannot be taken as it is."""
    day = spoken.spoken_date(found.value) if isinstance(found.value, date) else ""
    match found.kind:
        case ProblemKind.DATE_DOES_NOT_EXIST:
            return "That date isn't in the calendar. Which day do you mean?"
        case ProblemKind.DATE_IN_PAST:
            return f"{day} is past already. Which day do you mean?"
        case ProblemKind.DATE_INCOMPLETE:
            return "On which day of that month?"
        case ProblemKind.DATE_AMBIGUOUS:
            return f"Is {day} the day you arrive, or the day you leave?"
        case ProblemKind.WEEKDAY_MISMATCH:
            return f"I make that {day}. Is that the day you mean?"
        case ProblemKind.CHECK_OUT_NOT_AFTER_CHECK_IN:
            return f"{day} is not after the day you arrive. What day will you leave?"
        case ProblemKind.STAY_TOO_LONG:
            return f"We take requests for up to {found.limit} nights. What day will you leave?"
        case ProblemKind.TOO_MANY_GUESTS:
            return f"We take requests for up to {found.limit} guests. How many will you be?"
        case ProblemKind.SEVERAL_ROOMS:
            return "I can take one room a request. Which one should I note?"
        case ProblemKind.ROOM_TYPE_UNKNOWN | ProblemKind.ROOM_TYPE_AMBIGUOUS:
            *most, last = found.choices or tuple(hotel.room_types)
            return f"Which room would you like: {', '.join(most)} or {last}?"
        case ProblemKind.REFERENCE_MALFORMED:
            again = "Could you say it once more, letter by letter?"
            heard = str(found.value or "")
            if not 0 < len(heard) <= _LONGEST_READ_BACK:
                return f"I didn't get the reference. {again}"
            return f"I understood {spoken.spoken_reference(heard)}, which can't be right. {again}"


def as_json(value: Value | None) -> str | int | None:
    """A request's value as a JSON type: dates as ISO 8601."""
    return value.isoformat() if isinstance(value, date) else value
