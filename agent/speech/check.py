"""Whether a sentence may be spoken: pure, without a model, in well under a millisecond.

It errs to the safe side: a false alarm costs a replacement by a sentence that the code made, a
missed one tells a caller something untrue.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.speech.claims import false_claim
from agent.speech.facts import fact_words
from agent.speech.finding import Finding, Reason
from agent.speech.form import not_speakable
from agent.speech.grounds import Grounds
from agent.speech.leaks import leaked, repeated
from agent.speech.names import name_words, unknown_name
from agent.speech.questions import asked
from agent.speech.rooms import wrong_room
from agent.speech.speakable import speakable
from agent.speech.statements import unknown_fact
from agent.speech.values import wrong_value

__all__ = ["Finding", "Grounds", "Reason", "check"]


def check(sentence: str, grounds: Grounds) -> Finding | None:
    """Find the first reason not to speak a sentence.

    Args:
        sentence: one sentence of the model's, cleaned of markup, as it was written.
        grounds: what may be said.

    Returns:
        None when the sentence may be spoken.
    """
    spoken = speakable(sentence, day_first=grounds.day_first)
    for look in _CHECKS:
        if fault := look(sentence, spoken, grounds):
            reason, words = fault
            return Finding(reason, words, sentence)
    return None


Fault = tuple[Reason, str] | None


def _form(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    facts = " ".join((*grounds.facts, *grounds.hotel_names))
    words = not_speakable(sentence, spoken, facts)
    return (Reason.NOT_SPEAKABLE, words) if words else None


def _leak(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    words = leaked(spoken, grounds.instructions, grounds.facts)
    return (Reason.LEAKED_INSTRUCTIONS, words) if words else None


def _repeat(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    words = repeated(spoken, grounds.said)
    return (Reason.REPEATS, words) if words else None


def _claim(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    words = false_claim(
        spoken,
        hotel_has=fact_words(grounds.facts),
        existing=grounds.request.reference is not None,
    )
    return (Reason.FALSE_CLAIM, words) if words else None


def _value(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    return wrong_value(spoken, grounds)


def _name(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    names = (grounds.request.guest_name or "", *grounds.hotel_names)
    known = fact_words(grounds.facts) | _own_words(grounds) | name_words(names)
    words = unknown_name(spoken, known)
    return (Reason.WRONG_NAME, words) if words else None


def _statement(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    words = unknown_fact(
        spoken,
        grounds.facts,
        _own_words(grounds),
        room_words=_room_words(grounds),
        names=name_words((grounds.request.guest_name or "",)),
    )
    return (Reason.UNKNOWN_FACT, words) if words else None


def _own_words(grounds: Grounds) -> frozenset[str]:
    """The words of the hotel's names and room types."""
    return fact_words((*grounds.hotel_names, *_room_words(grounds)))


def _room_words(grounds: Grounds) -> frozenset[str]:
    words = (word for words in grounds.room_types.values() for word in words)
    return frozenset((*grounds.room_types, *words))


def _room(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    words = wrong_room(spoken, grounds)
    return (Reason.WRONG_ROOM, words) if words else None


def _question(sentence: str, spoken: str, grounds: Grounds) -> Fault:
    if not grounds.known:
        return None
    again = asked(spoken) & grounds.known
    if not again:
        return None
    return Reason.ALREADY_KNOWN, min(again).replace("_", " ")


_CHECKS: tuple[Callable[[str, str, Grounds], Fault], ...] = (
    _form,
    _leak,
    _repeat,
    _claim,
    _value,
    _name,
    _room,
    _statement,
    _question,
)
