"""The hotel's facts, read once: which values they hold, and what each is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.speech.mentions import Mention, mentions
from agent.speech.speakable import speakable
from agent.speech.words import NUMBER_WORDS, ORDINALS, vocabulary

_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE_END = re.compile(r"[,;:.!?]\s+|\s+(?:and|but|while|so)\s+", re.IGNORECASE)

# Words that say nothing about what a sentence is about.
_EMPTY = vocabulary(
    "a about after all also am an and any are as at available be been before both but by can charge "
    "come cost costs could daily day days did do does each every first for free from get give go "
    "good guest guests had has have he her here hotel hour hours how i if in included includes into "
    "is it its just let like may me more my need nights night no not of off offer offers okay on one "
    "only open opens or our out per please price room rooms s served serves should so some start "
    "starts stay staying than thank thanks that the their them then there these they this those time "
    "times to today too until up us very want was we well what when where which who will with would "
    "yes you your o clock noon midnight dollar dollars euro euros pound pounds cents percent m p "
    "sure great perfect indeed certainly morning afternoon evening"
) | frozenset(part for word in (*NUMBER_WORDS, *ORDINALS) for part in word.split("-"))


def topics(text: str) -> frozenset[str]:
    """The stems of the words that say what `text` is about."""
    text = re.sub(r"\bcheck(?:ing|s|ed)?[\s-]?(in|out)\b", r"check\1", text.lower())
    return frozenset(_stem(word) for word in _WORD.findall(text) if word not in _EMPTY)


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


@dataclass(frozen=True)
class FactClause:
    """A clause of a fact: what it is about, and its values."""

    topics: frozenset[str]
    mentions: tuple[Mention, ...]


@lru_cache(maxsize=64)
def read_facts(facts: tuple[str, ...], day_first: bool) -> tuple[FactClause, ...]:
    """Every clause of the facts that holds a value."""
    clauses: list[FactClause] = []
    for fact in facts:
        spoken = speakable(fact, day_first=day_first)
        for mention in mentions(spoken):
            about = topics(clause_at(spoken, mention.start)) or topics(spoken)
            clauses.append(FactClause(about, (mention,)))
    return tuple(clauses)


@lru_cache(maxsize=64)
def fact_words(facts: tuple[str, ...]) -> frozenset[str]:
    """Every word of the facts, in lower case."""
    return frozenset(word.lower() for fact in facts for word in _WORD.findall(fact))


def clause_at(text: str, position: int) -> str:
    """The clause of `text` that holds this character offset."""
    start, end = 0, len(text)
    for match in _CLAUSE_END.finditer(text):
        if match.end() <= position:
            start = match.end()
        elif match.start() >= position:
            end = match.start()
            break
    return text[start:end]
