"""The words with which callers take something back: "no wait", "I meant", "not the sixteenth"."""

from __future__ import annotations

from agent.booking.tokens import Utterance

# After these, a value replaces the one before it.
_REPLACING = (
    "no",
    "no wait",
    "know",  # as a recogniser writes the "no" of "the fourth, no, the fifth"
    "nope",
    "not quite",
    "wait",
    "hang on",
    "hold on",
    "sorry",
    "oops",
    "actually",
    "i mean",
    "i meant",
    "i said",
    "or rather",
    "rather",
    "make that",
    "make it",
    "change that to",
    "change it to",
    "scratch that",
    "strike that",
    "correction",
    "let me correct that",
    "let's say",
    "let's make that",
    "let's make it",
    "better",
    "should be",
    "instead",
)
# Of those, the ones that speak of what was said before; the others may just as well be filler.
_EARLIER = (
    "no wait",
    "i mean",
    "i meant",
    "i said",
    "make that",
    "make it",
    "change that to",
    "change it to",
    "scratch that",
    "strike that",
    "correction",
    "let me correct that",
    "let's make that",
    "let's make it",
    "should be",
    "instead",
)
# Before a value, these name what it is not.
_NEGATING = ("not", "instead of", "rather than", "isn't", "is not", "not for", "not on", "not from")
_BETWEEN = frozenset({"the", "a", "an", "on", "for", "from", "of", ",", "my", "it", "it's"})


def replacing(utterance: Utterance, first: int, last: int) -> bool:
    """Whether the words from token `first` to before `last` take back what stands before them."""
    return any(first <= start and end < last for start, end in utterance.find(_REPLACING))


def takes_back(utterance: Utterance) -> bool:
    """Whether the turn speaks of an earlier value, wherever in it."""
    return bool(utterance.find(_EARLIER)) or utterance.plain.startswith(("no ", "wait "))


def negated(utterance: Utterance, first: int) -> bool:
    """Whether the value at token `first` is named as what it is not."""
    index = first - 1
    while index >= 0 and utterance.words[index] in _BETWEEN:
        index -= 1
    return any(
        end == index or (end > index and start <= index) for start, end in utterance.find(_NEGATING)
    )
