"""Statements about the hotel that its facts do not bear out: "there is a rooftop pool"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.speech.claim_phrases import PEOPLE
from agent.speech.facts import clauses, topics
from agent.speech.permitted import permitted, waits_for_people, without_values
from agent.speech.phrases import any_of, any_phrase, plain
from agent.speech.reading import mentions
from agent.speech.speakable import speakable
from agent.speech.words import vocabulary

# A clause tells something of the hotel when it speaks of what hotels have …
_AMENITY = re.compile(
    r"\b"
    + any_of(
        r"pools? gym fitness spa sauna jacuzzi hot_tub breakfasts? brunch lunch dinner meals? "
        r"buffet coffee restaurants? bar minibar room_service kitchen\w* parking garage "
        r"car_park valet wi-?fi internet dogs? cats? pets? animals? smok\w+ shuttle transfer "
        r"airport station beach downtown terrace balcon\w+ views? elevators? lifts? "
        r"wheelchair\w* accessible towels? cribs? cots? laundry luggage concierge "
        r"air[-_]condition\w* heating heated television tv safe cancellation payments? "
        r"credit_cards? deposit discounts? tax(?:es)? fees? late_check-?out early_check-?in "
        r"loyalty located situated cent(?:re|er) heart_of city town"
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
    \b(?:don't|do not|can't|cannot) (?:know|say|see|tell|promise|confirm)\b|\bnot sure\b
    \bask\w*\b|\bif\b|\bwhether\b|\bnoted?\b|\bquestion\b
    \b(?:about|regarding) (?:the |our |your )?\w+$
    \byou(?:'d| would) (?:like|prefer)\b|\byou want\b
    {people}\b.*\b(?:will|can|would|knows?)\b(?!.*{telling})
    \bthey'll\b(?!.*{telling})|\bcontact\w*\b|\binquir\w*\b
    """,
    {
        # "The front desk can tell you that there is a gym" states it all the same.
        "telling": r"\b(?:tell|say|confirm)\w*(?: you)?(?: that)? "
        r"(?:the|our|we|there|it|all|every)\b",
        "people": rf"\b{PEOPLE}",
    },
)
_INVERTED = re.compile(
    r"^(?:(?:and|or|but|so|okay|great|also|sure|then|please|just|now|well|yes|no) )*"
    r"(?:would|do|does|did|shall|should|may|can|could|will|is|are|was|were|has|have|had|am|isn't|aren't|don't|what|which|"
    r"anything|something|who|when|where|how|why)\b"
)
_NEGATIVE = re.compile(r"\b(?:not|no|never|cannot|without|except|\w+n't|prohibited|forbidden)\b")
_NEUTRAL = vocabulary(
    "valu actually additional again anything booking check checkin checkout detail desk else enjoy "
    "everything far front hav help hotel howev includ information ask kind know let mean mind "
    "moment most number option place possibl problem quick question really request "
    "reservation show someth take tell that's thing tak type understand us use usual usually "
    "way whole with full fully option course i've we've it's there's here's we're they're "
    "you're call called comfortabl prefer choic choose"
)


_COMMITMENTS = vocabulary("book reserv confirm cancel request front desk")  # as stems


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
        lowered = plain(speakable(fact))
        subject = topics(lowered)[:1]
        parts = []
        for _, clause in clauses(lowered):
            about = frozenset(topics(clause))
            if _NO_SUBJECT.match(clause):
                about |= frozenset(subject)
            parts.append((about, bool(_NEGATIVE.search(clause))))
        statements.append(_Statement(frozenset(topics(lowered)), tuple(parts)))
    return tuple(statements)


def unknown_fact(
    spoken: str,
    facts: tuple[str, ...],
    own_words: frozenset[str],
    room_words: frozenset[str] = frozenset(),
    names: frozenset[str] = frozenset(),
) -> str | None:
    """The clause that states something which no fact says and the call cannot know.

    Args:
        spoken: the sentence as it will be spoken.
        facts: the hotel's.
        own_words: further words that may be said of it, in lower case: room types, its name.
        room_words: the words for its room types.
        names: the words of the caller's name.

    Returns:
        The clause, with VALUE for a value and ROOM for a room type, or None.
    """
    text = without_values(spoken, mentions(spoken), room_words, names)
    neutral = _NEUTRAL | frozenset(topics(" ".join(own_words)))
    subject: tuple[str, ...] = ()
    waiting = False
    for _, clause in clauses(text):
        told = _IDIOM.sub(" ", clause).strip(' .!?"')
        about = tuple(topic for topic in topics(told) if topic not in neutral)
        if _NO_SUBJECT.match(told):
            about = tuple(dict.fromkeys((*subject, *about)))
        elif about:
            subject = about[:1]
        if waiting or (text.endswith("?") and _INVERTED.match(told)):
            waiting = False
            continue
        waiting = waits_for_people(told)
        amenity = any(match.group() not in own_words for match in _AMENITY.finditer(told))
        if amenity or _ASSERTS.search(told):
            harmless = bool(_NO_STATEMENT.search(told)) or (not amenity and permitted(told))
        else:
            harmless = permitted(told)
        # A fact is about the hotel, never about a date or a number alone: "VALUE is open".
        by_fact = not re.match(r"VALUE (?:is|are|was|will)\b", told) and _is_borne_out(
            about, told, facts
        )
        if not harmless and not by_fact:
            return clause.strip()
    return None


def _is_borne_out(about: tuple[str, ...], told: str, facts: tuple[str, ...]) -> bool:
    """Whether one fact speaks of all this, and its nearest clause agrees in denying or not."""
    negative = bool(_NEGATIVE.search(told))
    # That the facts speak of booking does not make anything booked.
    if _COMMITMENTS.issuperset(about):
        return False
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
