"""How long a pause ends the caller's turn, from the words and from what was asked.

People stop in the middle of a thought: "I'd like a room from … March third … to March sixth". The
sound of such a pause and of an end is much alike, but the words are not, and the code knows which
answer it waits for. So the pause that ends a turn is short after "two guests, a double room", and
long after "my name is".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from livekit.agents import LanguageCode, llm

from agent.booking.heard import Answer, Asked, Hearing, Intent, ProblemKind
from agent.booking.numbers import is_number_word
from agent.booking.request import BookingRequest, Field

# Seconds of silence, from the caller's last sound. The final transcript is there about 0.3 s after
# it, so that a shorter pause would end no turn sooner.
WHOLE_S = 0.3  # all that was asked for, or a question: only an afterthought can follow
LIKELY_S = 0.5  # a correction, one date, or half an answer that ends in "please"
# A lone "yes" is mostly followed by nothing, and else by "sure" or "that's right" within half a
# second; the detector of speech needs another tenth to hear it.
LONE_WORD_S = 0.65
PART_S = 0.9  # half of what was asked for, or nothing that was
SPELLING_S = 1.2
# Between "the" and "nineteenth", or two groups of a number, a caller may think this long.
UNFINISHED_S = 1.6

# No sentence to a receptionist ends with one of these.
_HANGING_WORDS = (
    "a an the my your our their this that's it's i i'd i'll i'm we we'd we'll and or but "
    "because so from until till through between by on in at of with for to is are was be "
    "would could can want like need um uh er erm hmm well under name's called wait sorry "
    "actually"
)
_HANGING = frozenset(_HANGING_WORDS.split())
_ENDS_OPEN = re.compile(r"(\.\.+|…|[-–,:])\s*$")
_WORD = re.compile(r"[a-z][a-z'’]*|\d+")
_FROM = re.compile(r"\bfrom\b", re.I)
_POLITE_END = re.compile(r"\b(please|thanks|thank you)\W*$", re.I)
_DAY_ALONE = re.compile(
    r"\b(\d{1,2}(st|nd|rd|th)|first|second|third|\w+(th|ieth)|(twenty|thirty)[- ]\w+)\W*$", re.I
)
_MONTH = re.compile(
    r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|month|week|tomorrow|today)", re.I
)
_LETTERS = re.compile(r"(\b[a-z]\b[\s.,-]*){2,}$", re.I)
_NUMBER_CUE = re.compile(r"\b(number|phone|telephone|mobile|cell|code|reference)\b", re.I)
_E_MAIL_CUE = re.compile(r"\be-?mail\b", re.I)
_ADDRESS_END = re.compile(r"(\.|\bdot )[a-z]{2,4}\W*$", re.I)
_PHONE_DIGITS = 10
_GROUP_DIGITS = 3  # so many digits on end are a part of a number that is read out
_DATES = frozenset({Field.CHECK_IN, Field.CHECK_OUT})
_OPEN_PROBLEMS = frozenset({ProblemKind.DATE_INCOMPLETE, ProblemKind.REFERENCE_MALFORMED})
_ASKS = frozenset(
    {Intent.QUESTION, Intent.CONFIRMED_QUESTION, Intent.PERSON, Intent.GOODBYE, Intent.REPEAT}
)


def pause_s(text: str, heard: Hearing, before: BookingRequest, asked: Asked) -> float:
    """How long the caller must be silent for the turn to be over, in seconds.

    Args:
        text: the turn so far.
        heard: what was found in it.
        before: the request as the turn began.
        asked: what the caller is answering.
    """
    if is_unfinished(text, heard, before, asked):
        return UNFINISHED_S
    told = {change.field for change in heard.changes}
    if _LETTERS.search(text) and Field.REFERENCE not in told:
        return SPELLING_S
    if heard.intent in _ASKS:
        return WHOLE_S
    if heard.answer is not Answer.NONE and not told:
        return WHOLE_S if len(_WORD.findall(text.lower())) > 1 else LONE_WORD_S
    corrected = any(before.get(part) is not None for part in told)
    if told and (asked.at_large or corrected):
        return LIKELY_S
    if told and _is_all(told, heard, before, asked):
        # One date is thought over, "the fourth, no, the fifth", more than two that belong together.
        return LIKELY_S if len(told & _DATES) == 1 else WHOLE_S
    return LIKELY_S if told and _POLITE_END.search(text) else PART_S


def is_unfinished(
    text: str, heard: Hearing, before: BookingRequest, asked: Asked | None = None
) -> bool:
    """Whether more must come; args as for `pause_s`."""
    asked = asked or Asked()
    if _ENDS_OPEN.search(text):
        return True
    words = _WORD.findall(text.lower().replace("’", "'"))
    hangs = bool(words) and words[-1] in _HANGING and not _is_the_value(words[-1], heard)
    # "When can I check in?" is whole.
    if hangs and not text.rstrip().endswith("?"):
        return True
    if any(problem.kind in _OPEN_PROBLEMS for problem in heard.problems):
        return True
    told = {change.field for change in heard.changes}
    if _reads_out_a_number(text, told) or _has_half_an_address(text):
        return True
    if Field.CHECK_OUT in told or before.check_out is not None:
        return False
    # "From March third" goes on to say until when; and "a room from the" is heard as "from there".
    from_when = Field.CHECK_IN in told or before.check_in is None
    if _FROM.search(text) and from_when and heard.intent not in _ASKS:
        return True
    # "The nineteenth" goes on to say of which month, where none is known.
    dates = Field.CHECK_IN in told or asked.about(Field.CHECK_IN, Field.CHECK_OUT)
    return (
        dates
        and before.check_in is None
        and _DAY_ALONE.search(text) is not None
        and _MONTH.search(text) is None
    )


def _is_all(told: set[Field], heard: Hearing, before: BookingRequest, asked: Asked) -> bool:
    """Whether the turn told everything that was asked for, or everything that was missing."""
    request = heard.taken_into(before)
    if Field.GUEST_NAME in told and " " not in (request.guest_name or ""):
        return False  # a first name, and the surname is looked for
    wanted = asked.fields or set(before.missing())
    return bool(told) and not (wanted & set(request.missing()))


def _reads_out_a_number(text: str, told: set[Field]) -> bool:
    """Whether the text ends within a number that is said digit by digit."""
    digits = 0
    for word in reversed(re.findall(r"\d+|[a-z]+", text.lower())):
        if word.isdigit():
            digits += len(word)
        elif word in ("oh", "o", "double") or is_number_word(word):
            digits += 1
        else:
            break
    if not 0 < digits < _PHONE_DIGITS or told:
        return False
    return digits >= _GROUP_DIGITS or _NUMBER_CUE.search(text) is not None


def _has_half_an_address(text: str) -> bool:
    cue = _E_MAIL_CUE.search(text)
    return cue is not None and "?" not in text and not _ADDRESS_END.search(text)


def _is_the_value(word: str, heard: Hearing) -> bool:
    """Whether the last word was heard as a value: "to" for two guests, "for" for four."""
    return any(
        change.field in (Field.GUESTS, Field.REFERENCE) and change.words.lower().endswith(word)
        for change in heard.changes
    )


class TurnEnd:
    """The framework's turn detector, which says for each turn how long a pause ends it.

    The framework knows two delays and takes the longer one where an end is unlikely. So an end is
    always unlikely here, and the longer delay is set each time, just before it is read.

    Args:
        pause_s: how long a pause ends a turn of these words.
        wait: sets the framework's longer delay, in seconds.
    """

    model = "words"
    provider = "local"

    def __init__(self, pause_s: Callable[[str], float], wait: Callable[[float], None]) -> None:
        self._pause_s = pause_s
        self._wait = wait

    async def unlikely_threshold(self, language: LanguageCode | None) -> float | None:
        """Below this probability of an end, the framework waits the longer delay."""
        return 0.5

    async def supports_language(self, language: LanguageCode | None) -> bool:
        """The hearing is for English; in another language, every turn is one not understood."""
        return True

    async def predict_end_of_turn(
        self,
        chat_ctx: llm.ChatContext,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the framework's protocol
    ) -> float:
        """Set the delay for the last user message; the probability of an end is always 0."""
        self._wait(self._pause_s(last_words(chat_ctx)))
        return 0.0


def last_words(chat_ctx: llm.ChatContext) -> str:
    """What the caller said last; empty if nothing."""
    for item in reversed(chat_ctx.items):
        if isinstance(item, llm.ChatMessage) and item.role == "user":
            return item.text_content or ""
    return ""
