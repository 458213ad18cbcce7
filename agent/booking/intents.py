"""What the caller wants of a turn, apart from the values in it."""

from __future__ import annotations

from agent.booking.heard import Intent
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_BOOKED = word_set("booked bucked confirmed reserved done set final secured guaranteed")
_BOOKED_SUBJECTS = word_set(
    "it it's booking reservation room i i'm that that's everything we we're you is"
)
_BOOKED_STARTS = word_set("so is am are then have has and")
_SO_BOOKED = tuple(
    f"so {subject} {done}"
    for subject in ("it's", "it is", "i'm", "i am", "we're", "that's", "everything's")
    for done in ("booked", "confirmed", "reserved", "all set", "done")
)
_SAY_SO = word_set("say tell promise")
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
    "person please",
)
_PERSON_ALONE = ("agent", "person", "reception", "front desk", "manager")
_GOODBYE = (
    "bye",
    "goodbye",
    "good bye",
    "bye bye",
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
_THAT_IS_ALL = ("that's all", "that is all")
_ALL_OF_IT = word_set("correct right good fine perfect great ok okay true")
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
    "are you there",
    "anyone there",
    "are you still there",
)
_REPEAT_ALONE = frozenset({"sorry", "what", "huh", "excuse me", "hm", "sorry sorry", "again"})
_QUESTION_STARTS = (
    *("what", "what's", "when", "when's", "where", "where's", "how", "how's", "which", "who"),
    *("who's", "why", "is there", "are there", "is it", "is the", "is your", "is that", "is my"),
    *(
        "is breakfast",
        "his breakfast",
        "is parking",
        "is late",
        "is early",
        "is wi",
        "is wifi",
        "are you",
    ),
    *("are pets", "are dogs", "are the", "are we", "do you", "do the", "do i", "do we", "does it"),
    *("does the", "can i", "can we", "can my", "can you", "could i", "could we", "could you"),
    *("may i", "may we", "will i", "will there", "will you", "would you", "have you"),
    *("tell me about", "i wonder", "i was wondering", "just wondering"),
)
_TOPICS = word_set(
    "breakfast parking park wifi wi internet pool gym spa sauna pets pet dog dogs cat cats "
    "lift elevator wheelchair accessible airport station address shuttle restaurant bar dinner "
    "lunch price prices cost costs rate rates deposit smoking balcony view towels luggage "
    "cancellation refund discount difference"
)
_PRICES = word_set("price prices cost costs rate rates much discount")
_TOPIC_PHRASES = ("what time", "how much", "how far", "how do", "how long", "what day", "what date")
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
    "place to stay",
    "need a room",
    "stay with you",
    "stay at",
    "accommodation",
)
# A question that begins so and speaks of a room wants one: "do you have a double for Friday?"
_ROOM_REQUESTS = (
    *("do you have", "have you got", "is there", "are there", "can i", "can we", "could i"),
    *("could we", "may i", "could you", "can you", "would you", "i was wondering"),
)
_ROOM_WORDS = word_set("room rooms single double twin suite book reserve stay reservation")
_CLAUSE_STARTS = word_set(". , ? ! and but also so yes yeah please um uh or okay ok then")
_CLAUSE_ENDS = word_set(". ? !")
_JOINS = word_set(", and but also")
_NEW_SUBJECTS = word_set("i i'd i'll i'm we we'd we'll we're my our please and")


def hear_intent(utterance: Utterance, *, changed: bool) -> Intent:
    """What the caller wants of this turn, the most pressing first.

    Args:
        utterance: the turn.
        changed: whether the turn gives a value of the booking.
    """
    plain = utterance.plain
    if asks_whether_booked(utterance):
        return Intent.CONFIRMED_QUESTION
    if utterance.find(_PERSON) or plain.removesuffix(" please") in _PERSON_ALONE:
        return Intent.PERSON
    if utterance.find(_REPEAT) or plain in _REPEAT_ALONE or utterance.words == ("hello", "?"):
        return Intent.REPEAT
    if _is_about_hotel(utterance):
        return Intent.QUESTION
    if changed or _asks_for_room(utterance):
        return Intent.BOOK
    if _is_question(utterance):
        return Intent.QUESTION
    if _is_goodbye(utterance):
        return Intent.GOODBYE
    return Intent.BOOK if utterance.find(_BOOKING) else Intent.NONE


def asks_whether_booked(utterance: Utterance) -> bool:
    """ "Is my booking confirmed?", "so it's booked?", "am I all set?", "just say it's booked"."""
    words = utterance.plain.split()
    if utterance.find(("did you book", "have you booked", "did you reserve", *_SO_BOOKED)):
        return True
    done = [index for index, word in enumerate(words) if word in _BOOKED]
    if not done:
        return False
    before = set(words[: done[-1]])
    if before & _SAY_SO and before & _BOOKED_SUBJECTS:
        return True
    asks = utterance.text.rstrip().endswith("?")
    if not asks and words[0] not in _BOOKED_STARTS - {"and", "then"}:
        return False
    return words[0] in _BOOKED_STARTS or bool(before & _BOOKED_SUBJECTS)


def tokens_beside_the_booking(utterance: Utterance) -> frozenset[int]:
    """The tokens of questions about the hotel and the day, whose numbers and dates ask for nothing.

    "What time is breakfast on Sunday?" is no check-in; "how much is it for two nights?" may well be
    a stay of two nights, so a question for a price is left in.
    """
    tokens: set[int] = set()
    for first, _ in utterance.find((*_QUESTION_STARTS, "see you")):
        if not _begins_clause(utterance, first):
            continue
        last = first
        while last < len(utterance.words) and not _ends_clause(utterance, last):
            last += 1
        clause = Utterance(utterance.text, utterance.tokens[first:last])
        words = set(clause.words)
        about = (words & _TOPICS) or clause.find((*_TOPIC_PHRASES, "see you"))
        if about and not words & _PRICES:
            tokens.update(range(first, last))
    return frozenset(tokens)


def _ends_clause(utterance: Utterance, index: int) -> bool:
    """Whether a question is over at this token: at its mark, or where "and I'd like" begins."""
    goes_on = utterance.words[index] in _JOINS and utterance.word(index + 1) in _NEW_SUBJECTS
    return utterance.words[index] in _CLAUSE_ENDS or goes_on


def _is_about_hotel(utterance: Utterance) -> bool:
    """Whether the turn asks about something that a hotel has facts on."""
    topical = _TOPICS & set(utterance.words) or utterance.find(_TOPIC_PHRASES)
    return bool(topical) and ("?" in utterance.words or bool(_questions(utterance)))


def _questions(utterance: Utterance) -> list[int]:
    """The tokens that questions begin with."""
    return [
        first for first, _ in utterance.find(_QUESTION_STARTS) if _begins_clause(utterance, first)
    ]


def _is_question(utterance: Utterance) -> bool:
    """Whether the turn asks about anything but a room to book."""
    words = utterance.words
    starts = _questions(utterance)
    if not starts or _asks_for_room(utterance):
        return False
    # "Which" and "what" ask without a question mark; "can I" may be the start of anything.
    asking = any(words[first] not in ("can", "could", "may", "would") for first in starts)
    return "?" in words or (asking and len(words) > 2)


def _asks_for_room(utterance: Utterance) -> bool:
    """ "Do you have a double for Friday?", but not "which rooms do you have?"."""
    return bool(_ROOM_WORDS & set(utterance.words)) and any(
        _begins_clause(utterance, first) for first, _ in utterance.find(_ROOM_REQUESTS)
    )


def _begins_clause(utterance: Utterance, index: int) -> bool:
    return index == 0 or utterance.words[index - 1] in _CLAUSE_STARTS


def _is_goodbye(utterance: Utterance) -> bool:
    """Whether the caller ends the call: "that's all" does, "that's all correct" does not."""
    if utterance.find(_GOODBYE):
        return True
    return any(
        utterance.word(last + 1) not in _ALL_OF_IT for _, last in utterance.find(_THAT_IS_ALL)
    )
