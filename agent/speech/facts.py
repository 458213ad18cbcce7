"""The hotel's facts, read once: which values they hold, and what each is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.speech.mentions import Mention
from agent.speech.reading import mentions
from agent.speech.speakable import speakable
from agent.speech.words import NUMBER_WORDS, ORDINALS, vocabulary

_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE_END = re.compile(r"[,;:.!?]\s+|\s+(?:and|but|while|so)\s+", re.IGNORECASE)
_CHECK_IN_OUT = re.compile(r"\bcheck(?:ing|s|ed)?[\s-]?(in|out)\b")

# Words that say nothing about what a sentence is about.
_EMPTY = vocabulary(
    "a about after all also am an and any are as at be been before both but by can charge come "
    "cost costs could daily day days did do does don doesn didn each every first for from get "
    "give go good guest guests had has have he her here hotel hour hours how i if in into is "
    "isn it its just let ll like may me more my need needs night nights no not of off offer "
    "offers offering okay on one only or our out per please price re room rooms s served serves "
    "should so some start starts stay staying t than thank thanks that the their them then "
    "there these they this those time times to today too until up us ve very want was we well "
    "what when where which who will with would yes you your o clock noon midnight dollar "
    "dollars euro euros pound pounds cent cents percent m p sure great perfect indeed certainly "
    "morning afternoon evening afraid sorry unfortunately available located provide provided "
    "provides during right yet now always right other run runs begin begins last lasts"
) | frozenset(part for word in (*NUMBER_WORDS, *ORDINALS) for part in word.split("-"))

# Different words for one thing, by their stems.
_SAME = {
    **dict.fromkeys(("complimentary", "complimentari", "includ", "inclusiv"), "fre"),
    **dict.fromkeys(("allow", "permit", "permitt", "accept"), "welcom"),
    **dict.fromkeys(("internet", "wireless"), "wifi"),
    **dict.fromkeys(("reception",), "desk"),
}


_PREDICATES = vocabulary("fre welcom open clos")  # stems that tell of a thing but name none


def topics(text: str) -> tuple[str, ...]:
    """The stems of the words that say what `text` is about, in their order."""
    text = _CHECK_IN_OUT.sub(r"check\1", text.lower()).replace("wi-fi", "wifi")
    stems = (_stem(word) for word in _WORD.findall(text) if word not in _EMPTY)
    return tuple(dict.fromkeys(_SAME.get(stem, stem) for stem in stems))


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 3 else word


@dataclass(frozen=True)
class FactValue:
    """A value of a fact and what its clause is about."""

    topics: frozenset[str]
    mention: Mention


@lru_cache(maxsize=64)
def fact_values(facts: tuple[str, ...], day_first: bool) -> tuple[FactValue, ...]:
    """Every value that the facts hold."""
    values: list[FactValue] = []
    for fact in facts:
        spoken = speakable(fact, day_first=day_first)
        for mention in mentions(spoken):
            about = topics(clause_at(spoken, mention.start)) or topics(spoken)
            values.append(FactValue(frozenset(about), mention))
    return tuple(values)


@lru_cache(maxsize=64)
def fact_words(facts: tuple[str, ...]) -> frozenset[str]:
    """Every word of the facts, in lower case."""
    return frozenset(word.lower() for fact in facts for word in _WORD.findall(fact))


def fact_for(question: str, facts: tuple[str, ...]) -> str | None:
    """The fact that speaks of most of what `question` is about; None when none speaks of any.

    What is said instead of an answer that failed its check, where the fact itself answers best.
    """
    about = set(topics(question))
    best, best_rank = None, (0, 0)
    for fact in facts:
        shared = about.intersection(topics(speakable(fact)))
        # "Is the gym free?" is not answered by what else is free.
        rank = (len(shared - _PREDICATES), len(shared))
        if rank[0] and rank > best_rank:
            best, best_rank = fact, rank
    return best


def clause_at(text: str, position: int) -> str:
    """The clause of `text` that holds this character offset."""
    return next(clause for start, clause in reversed(clauses(text)) if start <= position)


@lru_cache(maxsize=2048)
def clauses(text: str) -> tuple[tuple[int, str], ...]:
    """The clauses of `text`, each with its character offset; the first begins at 0."""
    starts = [0, *(match.end() for match in _CLAUSE_END.finditer(text))]
    ends = [*(match.start() for match in _CLAUSE_END.finditer(text)), len(text)]
    return tuple((start, text[start:end]) for start, end in zip(starts, ends, strict=True))
