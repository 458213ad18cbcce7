"""Yes or no to a read-back."""

from __future__ import annotations

from agent.booking.heard import Answer
from agent.booking.intents import asks_whether_booked
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_YES = (
    *("yes", "yeah", "yep", "yup", "mhm", "mm hmm", "mm - hmm", "uh huh", "uh - huh"),
    *("that's right", "that is right", "that's correct", "that is correct", "that's all correct"),
    *("that's all right", "that's it", "that's fine", "that's good", "that's great"),
    *("that's perfect", "sounds good", "sounds great", "sounds right", "looks good"),
    *("looks right", "all good", "all right", "alright", "all correct", "everything is correct"),
    *("everything's correct", "everything is right", "everything's right", "you're right"),
    *("you got it", "you've got it", "spot on", "exactly", "absolutely", "of course"),
    *("definitely", "indeed", "affirmative", "go ahead", "please do", "book it", "i confirm"),
    *("confirm it", "please confirm", "to confirm", "i guess so", "i suppose so", "i think so"),
    *("it's right", "it's correct", "it's fine"),
)
# These say yes where they begin a clause: "right, thank you", and not "the right one".
_YES_AT_START = word_set(
    "right good great fine sure ok okay correct perfect wonderful lovely excellent confirmed"
)
_CLAUSE_STARTS = word_set(". , ! yes yeah okay ok that's it's is all very")
_NOT_AFTER_YES = word_set("morning afternoon evening night day me")
_NO = (
    *("no", "nope", "nah", "not quite", "not right", "not correct", "not really", "not exactly"),
    *("isn't right", "isn't correct", "is not right", "is not correct", "that's wrong"),
    *("that is wrong", "it's wrong", "wrong", "incorrect", "almost", "not yet", "don't"),
    *("i don't think so", "never mind", "hold on", "hang on", "wait", "there's a mistake"),
    *("not good", "not ok", "not okay", "negative"),
)
# Neither yes nor no.
_UNSURE = ("not sure", "not certain", "don't know", "don't mind", "don't care", "no idea")
# A "no" that says that there is nothing to object to.
_CONTENT_NO = (
    *("no that's right", "no that's correct", "no that's fine", "no that's perfect"),
    *("no that's good", "no that's great", "no it's fine", "no it's right", "no it's correct"),
    *("no problem", "no changes", "no corrections", "no all good", "nothing wrong"),
    *("nothing to change", "nothing to correct", "no everything's right"),
    *("no everything is right", "no everything is correct", "no everything's fine"),
)
_BUT = ("but", "except", "only", "although")


def hear_answer(utterance: Utterance, *, changed: bool) -> Answer:
    """Yes or no to a read-back.

    Args:
        utterance: the turn.
        changed: whether the turn changes the request or raises a problem. Such a turn is never a
            yes: "yes, but make it a double" asks for another read-back.
    """
    if asks_whether_booked(utterance) or utterance.find(_UNSURE):
        return Answer.NONE
    content = _has(utterance.plain, _CONTENT_NO)
    if utterance.find(_NO) and not content:
        return Answer.NO
    if changed or utterance.find(_BUT) or not (content or _says_yes(utterance)):
        return Answer.NONE
    # "Right?" asks; "yes, and is breakfast included?" answers and asks.
    asks = utterance.text.rstrip().endswith("?")
    return Answer.NONE if asks and not utterance.plain.startswith(("yes", "yea")) else Answer.YES


def _says_yes(utterance: Utterance) -> bool:
    if utterance.find(_YES) or utterance.plain in ("it is", "do it"):
        return True
    return any(
        word in _YES_AT_START
        and (index == 0 or utterance.words[index - 1] in _CLAUSE_STARTS)
        and utterance.word(index + 1) not in _NOT_AFTER_YES
        for index, word in enumerate(utterance.words)
    )


def _has(plain: str, phrases: tuple[str, ...]) -> bool:
    """Whether one of the phrases is in the words, punctuation aside."""
    return any(f" {phrase} " in f" {plain} " for phrase in phrases)
