"""Yes or no to a read-back."""

from __future__ import annotations

from agent.booking.heard import Answer
from agent.booking.intents import asks_whether_booked
from agent.booking.tokens import Utterance

_YES = (
    "yes",
    "yeah",
    "yep",
    "yup",
    "yes please",
    "that's right",
    "that is right",
    "that's correct",
    "that is correct",
    "correct",
    "right",
    "exactly",
    "perfect",
    "absolutely",
    "sure",
    "of course",
    "sounds good",
    "sounds great",
    "sounds right",
    "looks good",
    "that's it",
    "that's fine",
    "that's good",
    "that's great",
    "that's perfect",
    "go ahead",
    "please do",
    "you got it",
    "ok",
    "okay",
    "fine",
    "great",
    "good",
    "wonderful",
    "lovely",
    "confirm",
    "confirmed",
    "i confirm",
    "all good",
    "all right",
    "alright",
    "mm hmm",
    "uh huh",
    "spot on",
    "definitely",
    "indeed",
    "affirmative",
    "it is",
    "it's right",
    "everything's right",
)
_NO = (
    "no",
    "nope",
    "nah",
    "not quite",
    "not right",
    "not correct",
    "not really",
    "not exactly",
    "isn't right",
    "isn't correct",
    "is not right",
    "is not correct",
    "that's wrong",
    "that is wrong",
    "it's wrong",
    "wrong",
    "incorrect",
    "almost",
    "not yet",
    "i don't think so",
    "don't",
    "never mind",
    "hold on",
    "hang on",
    "wait",
    "there's a mistake",
    "you got it wrong",
    "you've got it wrong",
    "not good",
    "not ok",
    "not okay",
    "negative",
)
# A "no" that says that there is nothing to object to.
_CONTENT_NO = (
    "no that's right",
    "no that's correct",
    "no that's fine",
    "no that's perfect",
    "no that's good",
    "no that's great",
    "no it's fine",
    "no it's right",
    "no it's correct",
    "no problem",
    "no changes",
    "no corrections",
    "no all good",
    "nothing wrong",
    "can't go wrong",
    "no everything's right",
    "no everything is right",
)
# Neither yes nor no.
_UNSURE = (
    "not sure",
    "not certain",
    "don't know",
    "don't mind",
    "don't care",
    "no idea",
)
_BUT = ("but", "except", "only", "although")


def hear_answer(utterance: Utterance, *, changed: bool) -> Answer:
    """Yes or no to a read-back.

    Args:
        utterance: the turn.
        changed: whether the turn changes the request or raises a problem. Such a turn is never a
            yes: "yes, but make it a double" asks for another read-back.
    """
    plain = utterance.plain
    if not plain or asks_whether_booked(utterance) or utterance.find(_UNSURE):
        return Answer.NONE
    said_no = bool(utterance.find(_NO)) and not _has(plain, _CONTENT_NO)
    if said_no:
        return Answer.NO
    if changed:
        return Answer.NONE
    said_yes = bool(utterance.find(_YES)) or _has(plain, _CONTENT_NO)
    if not said_yes or utterance.find(_BUT):
        return Answer.NONE
    # "Right?" asks; "yes, and is breakfast included?" answers and asks.
    if utterance.text.rstrip().endswith("?") and not plain.startswith(("yes", "yeah", "yep")):
        return Answer.NONE
    return Answer.YES


def _has(plain: str, phrases: tuple[str, ...]) -> bool:
    padded = f" {plain} "
    return any(f" {phrase} " in padded for phrase in phrases)
