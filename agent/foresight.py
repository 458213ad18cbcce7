"""What the receptionist is likely to say next, worked out before it is known: pure.

Nothing here decides a reply. Whatever is foreseen wrongly is made for nothing and never spoken.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from agent import wording
from agent.booking.heard import Answer, Asked, Hearing, Intent
from agent.booking.hotel import Hotel
from agent.booking.request import REQUIRED, BookingRequest, Change, Field, Value
from agent.reply import ASK_GROUPS, Plan, Standing, decide, greet, not_recorded, recorded
from agent.speech.sentences import split
from agent.speech.speakable import speakable

# Stands for a name or number that is not known yet; a sentence that holds it is not foreseen.
_UNKNOWN = "Unknownname"


def greeting(hotel: Hotel) -> str:
    """The first words of a call, as they are spoken."""
    plan = greet(hotel)
    return f"{plan.opening} {plan.question}"


def settled_sentences(plan: Plan) -> list[str]:
    """The sentences with which a reply begins whatever the model says, as they are spoken.

    What is made ready and what is said both come from here: sound is found by its exact text.
    """
    settled = f"{plan.opening} {plan.question}" if plan.brief is None else plan.opening
    return split(speakable(settled.strip()))


def sentences_of(plan: Plan) -> list[str]:
    """The sentences of a reply whose words are the code's, each as it would be synthesised."""
    # What the model words is spoken in the code's words where the model's do not come in time.
    waiting = split(plan.question) if plan.brief is not None else []
    return [*settled_sentences(plan), *waiting, *split(plan.closing)]


def after(standing: Standing, hotel: Hotel) -> list[str]:
    """Sentences of the reply to the caller's next turn that do not hang on what it says.

    Args:
        standing: the conversation, its plan the reply that is being spoken.
        hotel: whose names and rules hold.
    """
    plan, request = standing.plan, standing.request
    if plan is None:
        return []
    if plan.asked.read_back and request.guest_name:
        return sentences_of(recorded(request, _UNKNOWN))[:1]
    if plan.asked.fields == {Field.GUEST_NAME}:
        # The name ends the read-back, which begins with all the rest.
        change = Change(Field.GUEST_NAME, _UNKNOWN, words=_UNKNOWN, turn=0)
        heard = Hearing((change,))
        told = request.with_changes(heard.changes)
        following = sentences_of(decide(standing, heard, told, hotel))
        return [sentence for sentence in following if _UNKNOWN not in sentence]
    return []


def of_every_call(hotel: Hotel) -> list[str]:
    """Sentences that calls have in common, the most frequent first.

    Found by deciding replies, so that they are the words that will be spoken.
    """
    begun = Standing(BookingRequest(), plan=greet(hotel))
    read_back = replace(greet(hotel), asked=Asked(frozenset(Field), read_back=True))
    noted = replace(begun, plan=read_back, request_number=_UNKNOWN)
    questions = [(part,) for part in REQUIRED] + list(ASK_GROUPS)

    def reply(before: Standing, heard: Hearing) -> list[str]:
        request = before.request.with_changes(heard.changes)
        return sentences_of(decide(before, heard, request, hotel))

    found = [
        *split(greeting(hotel)),
        *(wording.question(missing, hotel) for missing in questions),
        *reply(begun, Hearing(_everything(hotel)))[-1:],
        *reply(begun, Hearing()),
        *reply(begun, Hearing(intent=Intent.BOOK)),
        *reply(begun, Hearing(answer=Answer.YES)),
        *(sentence for told in _lone_values(hotel) for sentence in reply(begun, Hearing((told,)))),
        *sentences_of(recorded(BookingRequest(), _UNKNOWN))[-1:],
        *reply(replace(begun, plan=read_back), Hearing(answer=Answer.NO)),
        *reply(begun, Hearing(intent=Intent.CONFIRMED_QUESTION)),
        *reply(noted, Hearing(intent=Intent.CONFIRMED_QUESTION)),
        *reply(noted, Hearing(answer=Answer.NO)),
        *reply(noted, Hearing()),
        *reply(begun, Hearing(intent=Intent.PERSON)),
        wording.FILLER,
        *split(wording.UNKNOWN),
        *split(wording.DEAF),
        *sentences_of(not_recorded()),
        *(sentence for fact in hotel.facts for sentence in split(speakable(fact))),
    ]
    return list(dict.fromkeys(found))


def _lone_values(hotel: Hotel) -> list[Change]:
    """Each short answer to the question for guests and room: "two guests", "a double"."""
    guests = [Change(Field.GUESTS, count, "", 1) for count in range(1, hotel.max_guests + 1)]
    rooms = [Change(Field.ROOM_TYPE, room, "", 1) for room in hotel.room_types]
    return guests + rooms


def _everything(hotel: Hotel) -> tuple[Change, ...]:
    """Some value for each part of a request."""
    room = next(iter(hotel.room_types))
    values: tuple[Value, ...] = (date(2001, 1, 1), date(2001, 1, 2), 1, room, _UNKNOWN)
    return tuple(Change(part, value, "", 1) for part, value in zip(REQUIRED, values, strict=True))
