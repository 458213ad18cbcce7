"""Statements about the hotel that its facts do not bear out: "there is a rooftop pool"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.speech.facts import clauses, topics
from agent.speech.phrases import any_of, any_phrase, plain
from agent.speech.words import vocabulary

# A clause tells something of the hotel when it speaks of what hotels have …
_AMENITY = re.compile(
    r"\b"
    + any_of(
        r"pools? gym fitness spa sauna jacuzzi hot_tub breakfasts? brunch lunch dinner meals? "
        r"buffet coffee restaurants? bar minibar room_service kitchen\w* parking garage "
        r"car_park valet wi-?fi internet dogs? cats? pets? animals? smok\w+ shuttle transfer "
        r"airport station beach downtown city_cent(?:re|er) terrace balcon\w+ views? "
        r"elevators? lifts? wheelchair\w* accessible towels? cribs? cots? laundry luggage "
        r"concierge air[-_]condition\w* heating heated television tv safe cancellation deposit "
        r"discounts? tax(?:es)? fees? late_check-?out early_check-?in loyalty"
    )
    + r"\b"
)
# … or says what it has, charges or permits.
_ASSERTS = any_phrase(
    r"""
    {hotel} (?:do |also |all |each )*(?:have|has|offers?|provides?|serves?|includes?|comes? with)\b
    {hotel} (?:do |also |all |each )*(?:features?|allows?|accepts?|charges?)\b
    \bthere(?:'s| is| are) (?:a|an|no|also|free|plenty|several|two|three)\b
    {be} (?:free|complimentary|included|provided|heated|non-smoking)\b
    {be} (?:allowed|permitted|welcome|prohibited|forbidden)\b
    """,
    {
        "hotel": r"\b(?:we|hotel|rooms?|suites?|doubles?|twins?|singles?)",
        "be": r"\b(?:is|are|stays?)(?: (?:not|always|also|completely))*",
    },
)
# Said of the call and not of the hotel.
_IDIOM = any_phrase(
    r"""
    \b(?:you're|you are|most|always) welcome\b|\bwelcome(?: back)? to\b|^welcome\b
    \bfeel free\b|\bfree to\b|\bto be on the safe side\b
    \bwe have (?:noted|your)\b
    """
)
# The clause asks, passes the question on, or repeats the caller's wish.
_NO_STATEMENT = any_phrase(
    r"""
    {opening}(?:would|do|does|did|shall|should|may|can|could|will)\b.*\?
    {opening}(?:is|are|what|which|who|when|where|how|why)\b.*\?
    \b(?:don't|do not|can't|cannot) (?:know|say|see|tell|promise|confirm)\b|\bnot sure\b
    \bask\w*\b|\bif\b|\bwhether\b|\bnoted?\b|\bquestion\b
    \b(?:about|regarding) (?:the |our |your )?\w+$
    \byou(?:'d| would) (?:like|prefer)\b|\byou want\b
    \b(?:front desk|reception|colleague|staff|they)\b.*\b(?:will|can|would|knows?)\b|\bthey'll\b
    """,
    {"opening": "^(?:(?:and|or|so|okay|great|also|sure) )*"},
)
_NEGATIVE = re.compile(r"\b(?:not|no|never|cannot|without|except|\w+n't|prohibited|forbidden)\b")
_NEUTRAL = vocabulary(
    "actually additional again anything booking check checkin checkout detail desk else enjoy "
    "everything far front hav help hotel howev includ information ask kind know let mean mind "
    "moment most noth number option place possibl problem quick question really request "
    "reservation show someth take tell that's thing tak type understand us use usual usually "
    "way whole with full fully option course i've we've it's there's here's we're they're "
    "you're call called comfortabl prefer choic choose"
)


@dataclass(frozen=True)
class _Statement:
    """A fact, and its clauses with what each is about and whether it denies."""

    topics: frozenset[str]
    clauses: tuple[tuple[frozenset[str], bool], ...]


# A clause without a subject of its own goes on about the first one's.
_NO_SUBJECT = re.compile(
    r"^(?:is|are|cannot|can|costs?|has|have|closed|open|opens|includes?|for|in|by)\b"
)


@lru_cache(maxsize=64)
def _read(facts: tuple[str, ...]) -> tuple[_Statement, ...]:
    statements: list[_Statement] = []
    for fact in facts:
        lowered = plain(fact)
        subject = topics(lowered)[:1]
        parts = []
        for _, clause in clauses(lowered):
            about = frozenset(topics(clause))
            if _NO_SUBJECT.match(clause):
                about |= frozenset(subject)
            parts.append((about, bool(_NEGATIVE.search(clause))))
        statements.append(_Statement(frozenset(topics(lowered)), tuple(parts)))
    return tuple(statements)


def unknown_fact(spoken: str, facts: tuple[str, ...], own_words: frozenset[str]) -> str | None:
    """The clause that says something of the hotel which no fact says.

    Args:
        spoken: the sentence as it will be spoken.
        facts: the hotel's.
        own_words: further words that may be said of it, in lower case: room types, its name.

    Returns:
        The clause, or None.
    """
    lowered = plain(spoken)
    neutral = _NEUTRAL | frozenset(topics(" ".join(own_words)))
    subject: tuple[str, ...] = ()
    for _, clause in clauses(lowered):
        told = _IDIOM.sub(" ", clause).strip()
        about = tuple(topic for topic in topics(told) if topic not in neutral)
        if _NO_SUBJECT.match(told):
            about = tuple(dict.fromkeys((*subject, *about)))
        elif about:
            subject = about[:1]
        if not (_AMENITY.search(told) or _ASSERTS.search(told)):
            continue
        if _NO_STATEMENT.search(f"{told}?" if lowered.endswith("?") else told):
            continue
        if about and not _is_borne_out(about, bool(_NEGATIVE.search(told)), facts):
            return clause.strip()
    return None


def _is_borne_out(about: tuple[str, ...], negative: bool, facts: tuple[str, ...]) -> bool:
    """Whether one fact speaks of all this, and its nearest clause agrees in denying or not."""
    for fact in _read(facts):
        if not fact.topics.issuperset(about):
            continue
        best = max(len(part & set(about)) for part, _ in fact.clauses)
        nearest = [
            (part, denies) for part, denies in fact.clauses if len(part & set(about)) == best
        ]
        # Of two clauses equally near, the one about the same subject counts.
        same_subject = [denies for part, denies in nearest if about[0] in part]
        if negative in (same_subject or [denies for _, denies in nearest]):
            return True
    return False
