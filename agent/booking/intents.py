"""What the caller wants of a turn, apart from the values in it."""

from __future__ import annotations

from agent.booking.heard import Intent
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_BOOKED = word_set("booked confirmed reserved done set final secured guaranteed")
_PERSON = (
    "speak to a person",
    "talk to a person",
    "speak to someone",
    "talk to someone",
    "speak with someone",
    "talk with someone",
    "speak to somebody",
    "talk to somebody",
    "speak to the front desk",
    "talk to the front desk",
    "speak to reception",
    "talk to reception",
    "speak to the manager",
    "talk to the manager",
    "speak to a manager",
    "talk to a manager",
    "real person",
    "actual person",
    "human",
    "human being",
    "live person",
    "an agent",
    "live agent",
    "representative",
    "operator",
    "put me through",
    "transfer me",
    "connect me",
    "someone real",
    "a person please",
    "person please",
)
_GOODBYE = (
    "bye",
    "goodbye",
    "good bye",
    "bye bye",
    "that's all",
    "that is all",
    "that'll be all",
    "that will be all",
    "that's everything",
    "nothing else",
    "have a nice day",
    "have a good day",
    "have a good one",
    "talk to you later",
    "see you",
    "see you then",
    "cheerio",
    "i have to go",
    "i'll hang up",
)
_REPEAT = (
    "say that again",
    "say it again",
    "repeat",
    "repeat that",
    "come again",
    "pardon",
    "pardon me",
    "beg your pardon",
    "i beg your pardon",
    "what was that",
    "what did you say",
    "didn't catch",
    "didn't hear",
    "didn't get that",
    "couldn't hear",
    "can't hear",
    "didn't understand",
    "don't understand",
    "one more time",
    "once more",
    "sorry what",
    "once again please",
)
_REPEAT_ALONE = frozenset({"sorry", "what", "huh", "excuse me", "hm", "sorry sorry", "again"})
_QUESTION_STARTS = (
    "what",
    "what's",
    "when",
    "when's",
    "where",
    "where's",
    "how",
    "how's",
    "which",
    "who",
    "why",
    "is there",
    "are there",
    "is it",
    "is the",
    "is your",
    "is breakfast",
    "is parking",
    "are you",
    "are pets",
    "are dogs",
    "are the",
    "do you",
    "do the",
    "do i",
    "does it",
    "does the",
    "can i bring",
    "can i park",
    "can we bring",
    "can we park",
    "can my",
    "could i bring",
    "may i bring",
    "tell me about",
    "i wonder",
    "i was wondering",
    "just wondering",
)
_TOPICS = word_set(
    "breakfast parking park wifi wi internet pool gym spa sauna pets pet dog dogs cat cats "
    "lift wheelchair accessible airport station address shuttle restaurant bar dinner lunch "
    "price prices cost costs rate rates deposit smoking balcony view towels luggage cancellation "
    "refund discount difference"
)
_BOOKING = (
    "book",
    "booking",
    "reserve",
    "reservation",
    "a room",
    "room for",
    "rooms",
    "i'd like to stay",
    "like to stay",
    "want to stay",
    "need a room",
    "stay with you",
    "stay at",
    "make a reservation",
    "accommodation",
)
_ASKS_FOR_ROOM = word_set("room rooms single double twin suite book reserve")


def hear_intent(utterance: Utterance, *, changed: bool) -> Intent:
    """What the caller wants of this turn, the most pressing first.

    Args:
        utterance: the turn.
        changed: whether the turn gives a value of the booking.
    """
    plain = utterance.plain
    if asks_whether_booked(utterance):
        return Intent.CONFIRMED_QUESTION
    if utterance.find(_PERSON):
        return Intent.PERSON
    if utterance.find(_REPEAT) or plain in _REPEAT_ALONE:
        return Intent.REPEAT
    if _is_question(utterance):
        return Intent.QUESTION
    if changed:
        return Intent.BOOK
    if utterance.find(_GOODBYE):
        return Intent.GOODBYE
    return Intent.BOOK if utterance.find(_BOOKING) else Intent.NONE


def asks_whether_booked(utterance: Utterance) -> bool:
    """ "Is my booking confirmed?", "so it's booked?", "am I all set?", "did you book it?"."""
    words = utterance.plain.split()
    if not words:
        return False
    asks = utterance.text.rstrip().endswith("?")
    done = [index for index, word in enumerate(words) if word in _BOOKED]
    starts = words[0] in ("so", "is", "am", "are", "then", "have", "has", "and")
    if done and (asks or words[0] in ("is", "am", "are", "have", "has", "so")):
        subject = {"it", "it's", "booking", "reservation", "room", "i", "i'm", "that", "that's"}
        subject |= {"everything", "we", "we're", "you", "is"}
        return starts or bool(subject & set(words[: done[-1]]))
    return bool(utterance.find(("did you book", "have you booked", "did you reserve")))


def _is_question(utterance: Utterance) -> bool:
    words = utterance.plain.split()
    topical = bool(_TOPICS & set(words))
    asks = "?" in utterance.words
    starts = [first for first, _ in utterance.find(_QUESTION_STARTS)]
    leading = any(_begins_clause(utterance, first) for first in starts)
    if not leading and not (topical and asks):
        return False
    if topical or utterance.find(("what time", "how much", "how far", "how do", "how long")):
        return True
    # "Do you have a double for Friday?" wants a room.
    return not (_ASKS_FOR_ROOM & set(words)) and (asks or len(words) > 2)


def _begins_clause(utterance: Utterance, index: int) -> bool:
    before = utterance.words[index - 1] if index else ""
    return before in ("", ".", ",", "?", "!", "and", "but", "also", "so", "yes", "please", "um")
