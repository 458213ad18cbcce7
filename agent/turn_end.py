"""Whether the caller has finished, from the words and from what was asked.

People stop in the middle of a thought: "I'd like a room from … March third … to March sixth". The
sound of such a pause and of an end is much alike, but the words are not, and the code knows which
answer it waits for. So the pause that ends a turn is short after "two guests", and long after
"my name is".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from livekit.agents import LanguageCode, llm

from agent.booking.heard import Hearing, ProblemKind
from agent.booking.request import BookingRequest, Field

# No sentence to a receptionist ends with one of these.
_HANGING_WORDS = (
    "a an the my your our their this that's it's i i'd i'll i'm we we'd we'll and or but "
    "because so from until till through between by on in at of with for to is are was be "
    "would could can want like need um uh er erm hmm well under name's called wait sorry "
    "actually"
)
_HANGING = frozenset(_HANGING_WORDS.split())
_ENDS_OPEN = re.compile(r"(\.\.+|…|[-–,:])\s*$")
_WORD = re.compile(r"[a-z][a-z'’]*")
_FROM = re.compile(r"\bfrom\b", re.I)
_OPEN_PROBLEMS = frozenset({ProblemKind.DATE_INCOMPLETE, ProblemKind.REFERENCE_MALFORMED})


def is_unfinished(text: str, heard: Hearing, before: BookingRequest) -> bool:
    """Whether more is likely to come.

    Args:
        text: the turn so far.
        heard: what was found in it.
        before: the request as the turn began.
    """
    if _ENDS_OPEN.search(text):
        return True
    words = _WORD.findall(text.lower().replace("’", "'"))
    if words and words[-1] in _HANGING and not _is_the_value(words[-1], heard):
        return True
    if any(problem.kind in _OPEN_PROBLEMS for problem in heard.problems):
        return True
    told = {change.field for change in heard.changes}
    # "From March third" goes on to say until when.
    return (
        _FROM.search(text) is not None
        and Field.CHECK_IN in told
        and Field.CHECK_OUT not in told
        and before.check_out is None
    )


def _is_the_value(word: str, heard: Hearing) -> bool:
    """Whether the last word was heard as a value: "to" for two guests, "for" for four."""
    return any(
        change.field in (Field.GUESTS, Field.REFERENCE) and change.words.lower().endswith(word)
        for change in heard.changes
    )


class TurnEnd:
    """The framework's turn detector: it waits the longer delay where a turn is unfinished.

    Args:
        unfinished: tells whether more is likely to come after these words of the caller's.
    """

    model = "words"
    provider = "local"

    def __init__(self, unfinished: Callable[[str], bool]) -> None:
        self._unfinished = unfinished

    async def unlikely_threshold(self, language: LanguageCode | None) -> float | None:
        """Below this probability of an end, the framework waits the longer delay."""
        return 0.5

    async def supports_language(self, language: LanguageCode | None) -> bool:
        """The hearing is for English; in another language no turn is unfinished."""
        return True

    async def predict_end_of_turn(
        self,
        chat_ctx: llm.ChatContext,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the framework's protocol
    ) -> float:
        """The probability that the last user message is a whole turn: 0 or 1."""
        for item in reversed(chat_ctx.items):
            if isinstance(item, llm.ChatMessage) and item.role == "user":
                return 0.0 if self._unfinished(item.text_content or "") else 1.0
        return 1.0
