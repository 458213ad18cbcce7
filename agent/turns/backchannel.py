"""Whether words over the agent's speech take the floor, or only say "go on".

"Mhmm", "yeah" and "okay" mean that the caller listens; everything else is an answer, a question or
a "wait". A "yes" over the last words of a question that it answers is the answer.
"""

from __future__ import annotations

import re
from enum import StrEnum

# How long before the end of a reply its question is plain enough to be answered, in seconds:
# "Is that right?" takes 0.8.
ANSWER_REACH_S = 1.3

# What a listener says. Recognisers write a hum in many ways, a cough as "you" or "oh", and either
# as "thank you".
_MURMUR = (
    r"m+[\s-]*h+m+|m+h+|m{2,}|h+m+|me[hm]|[ehu]+[hm]+|a?hem|u+h+[\s-]*h+u+h+|a+h+a*|o+h+|uh+|huh|"
    r"um+|er+m*|you|bye"
)
_ASSENT = (
    r"y[ae]+h?|yara|yep|yup|yes|ok|okay|right|sure|alright|all right|of course|exactly|correct|"
    r"good|great|fine|nice|cool|perfect|lovely|wonderful|excellent|i see|i know|got it|gotcha|"
    r"go on|please|thanks|thank you|thank you very much|true|indeed"
)
_LISTENING = re.compile(rf"(?:{_MURMUR}|{_ASSENT})(?: (?:{_MURMUR}|{_ASSENT}))*")
_ASSENTS = re.compile(rf"(?:.* )?(?:{_ASSENT}|m+[\s-]*h+m+|u+h+[\s-]*h+u+h+)(?: .*)?")
_IN_BRACKETS = re.compile(r"[\[(*][^\])*]*[\])*]")
_NOT_IN_WORDS = re.compile(r"[^a-z' -]+")
_ASKS = "is|are|was|do|does|did|can|could|may|shall|should|will|would|have|has"
_YES_OR_NO = re.compile(rf"(?:^|[.!?] )(?:{_ASKS})\b[^.!?]*\?$", re.IGNORECASE)


class Verdict(StrEnum):
    """What the agent does about words over its speech."""

    GO_ON = "go_on"
    GIVE_WAY = "give_way"


def over_agent(text: str, *, asks_yes_or_no: bool, remaining_s: float | None) -> Verdict:
    """Decide about words that were begun while the agent spoke.

    Args:
        text: what was heard of them so far.
        asks_yes_or_no: whether the reply ends in a question that "yes" answers.
        remaining_s: how much of the reply the caller had not heard yet when they began, in seconds;
            None if that was not known, because the rest was still being made.
    """
    words = plain(text)
    if not words:
        return Verdict.GO_ON  # a noise
    if not _LISTENING.fullmatch(words):
        return Verdict.GIVE_WAY
    at_the_question = remaining_s is not None and remaining_s <= ANSWER_REACH_S
    answers = asks_yes_or_no and at_the_question and _ASSENTS.fullmatch(words) is not None
    return Verdict.GIVE_WAY if answers else Verdict.GO_ON


def asks_yes_or_no(question: str) -> bool:
    """Whether the last sentence is a question that "yes" answers: "Is that right?"."""
    return _YES_OR_NO.search(question.strip()) is not None


def plain(text: str) -> str:
    """The words in lower case, without punctuation and without what stands for a sound."""
    said = _IN_BRACKETS.sub(" ", text.lower().replace("’", "'"))
    return " ".join(_NOT_IN_WORDS.sub(" ", said).replace(" - ", " ").split()).strip("-' ")
