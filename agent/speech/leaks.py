"""Sentences that give away the prompt, the model's thoughts, or what it is; and loops."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from agent.speech.phrases import any_phrase, plain
from agent.speech.speakable import speakable
from agent.speech.words import DIGITS

_LEAK = any_phrase(
    r"""
    # what it is
    \bas an? (?:ai|artificial|(?:large )?language|virtual|automated)\b
    \blanguage model\b|\bai (?:model|assistant|language|system)\b
    \b(?:openai|chat ?gpt|qwen|alibaba|anthropic|training data)\b|\bknowledge (?:cutoff|base)\b

    # what it was told
    \b(?:my|the|these|following|above|given) (?:system )?(?:instructions?|prompt|guidelines)\b
    \b(?:my|these|following|above|given) (?:rules|programming)\b
    \banswer that\b|\bsystem (?:prompt|message)\b|\b(?:json|markdown|tool call|function call)\b
    \bi(?: was| am| have been|'m) (?:told|instructed|programmed|trained|designed|prompted)\b
    \b(?:ignore|disregard) (?:all|any|the|my|your|previous)\b
    \b(?:at most|no more than|maximum of) (?:three )?(?:short )?sentences\b
    \b(?:known so far|still missing|request so far|your task)\b

    # its thoughts
    \b(?:the|this) (?:user|caller|customer)(?:'s)?\b
    \buser (?:says|said|wants|asks|asked|input)\b
    {must} (?:ask|respond|reply|say|answer|output|keep|make sure|check if|figure)\b
    \blet me think\b|\b(?:wait|hmm),? (?:the|let me|i should|but the)\b

    # another's part: the caller's, or someone's who talks about the caller
    \bi(?:'d| would) like (?:to (?:book|reserve|check in|stay)|an? (?:\w+ )?(?:room|suite))\b
    (?:^|, )please (?:book|reserve|cancel)\b|\bmy (?:booking|reservation|stay)\b
    \bthe guest(?:'s)?\b(?! (?:name|is named))

    # a draft in place of speech
    {here_is} (?:\w+ )?(?:response|reply|example|sample|version|draft|answer)\b
    \bexample (?:response|dialog\w*|conversation|reply)\b|\b(?:pretend|hypothetical\w*)\b
    """,
    {
        "here_is": r"\bhere(?:'s| is| are) (?:a|an|the|my|some|one)",
        "must": r"\b(?:i|we)(?: should| need to| must| have to|'ll need to)",
    },
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SHARED_WORDS = 8  # in a row with the prompt; shorter runs are ordinary speech


def leaked(spoken: str, instructions: str, facts: tuple[str, ...] = ()) -> str | None:
    """The part of a sentence that is not meant for the caller, or None.

    Args:
        spoken: the sentence as it will be spoken.
        instructions: the prompt.
        facts: what may be said word for word, though the prompt holds it.
    """
    lowered = plain(spoken)
    if match := _LEAK.search(lowered):
        return match.group()
    words = _WORD.findall(lowered)
    secret = _secret_runs(instructions, facts)
    return next((run for run in _runs(words) if run in secret), None)


@lru_cache(maxsize=16)
def _secret_runs(instructions: str, facts: tuple[str, ...]) -> frozenset[str]:
    secret = set(_runs(_WORD.findall(plain(speakable(instructions)))))
    for fact in facts:
        secret.difference_update(_runs(_WORD.findall(plain(speakable(fact)))))
    return frozenset(secret)


def _runs(words: list[str]) -> list[str]:
    starts = range(len(words) - _SHARED_WORDS + 1)
    return [" ".join(words[start : start + _SHARED_WORDS]) for start in starts]


# A word or a phrase three times in a row is a loop of the model's.
_LOOP = re.compile(r"\b(\w+(?:\W+\w+){0,5}?)(?:\W+\1\b){2,}", re.IGNORECASE)


def repeated(spoken: str, said: Iterable[str]) -> str | None:
    """What was said before in this reply, or is said over and over in this sentence.

    Args:
        spoken: the sentence as it will be spoken.
        said: the sentences before it.
    """
    words = _WORD.findall(plain(spoken))
    if any(words == _WORD.findall(plain(other)) for other in said):
        return spoken
    for match in _LOOP.finditer(spoken):
        unit = match[1].lower()
        if len(unit) > 1 and unit not in DIGITS:  # a number may well have one digit three times
            return match.group()
    return None
