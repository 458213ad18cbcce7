"""Claims that something was done or is settled, which this agent can never make.

It takes requests; only the front desk books, changes, cancels, and knows what is free. The phrases
are looked for clause by clause, so that an honest clause does not excuse a false one beside it.
"""

from __future__ import annotations

import re

from agent.speech.claim_phrases import CHANGES, CLAIMS, CLAIMS_OF_NONE, PARTS, PEOPLE
from agent.speech.mentions import DateMention
from agent.speech.phrases import any_of, any_phrase, plain
from agent.speech.reading import mentions

# A bare yes or no, whatever the question was: nothing in it can be held against the facts.
_BARE_ANSWER = re.compile(
    r"^(?:(?:yes|yeah|yep|no|nope|correct|indeed|absolutely|certainly|sure|of course)\W+)?"
    r"(?:yes|yeah|yep|no|nope|correct|indeed|absolutely|definitely|that's (?:right|correct)|"
    r"(?:it|that) (?:is|was|has|will|does|can)(?:n't| not)?|you (?:are|do|have|can)(?:n't| not)?|"
    r"we (?:do|have|can|will|are)(?:n't| not)?|i (?:did|have|will)(?:n't| not)?|they (?:are|do)|"
    r"there (?:is|are)(?:n't| not)?)\W*$"
)
_NOT = re.compile(
    r"\b(?:not|never|cannot|unable|without|nothing|nobody|none|neither|nor|yet to|\w+n't|"
    r"no (?:booking|reservation|one|change|confirmation)s?)\b"
)
_SEEMING_NOT = re.compile(
    r"\b(?:not only|no problem|no worries|not to worry|(?:don't|no need to) worry|not a problem|"
    r"no doubt|could(?:n't| not) be)\b[ ,]*"
)

_PEOPLE = {
    "people": PEOPLE,
    "also": " (?:then|there|also|members?|itself|first|only)",
}
# Before the claim, these make it a wish, a purpose or a possibility.
_OPEN = any_phrase(
    r"""
    \b(?:if|whether|when|once|until|unless|after|before|as soon as|in case|subject to|depend\w*)\b
    \b(?:must|may|might|could|to) be\b|\bcan only\b|\bonly the\b
    \bin order to\b|\bto (?:see|check|ask)\b
    \b(?:would|'d) (?:like|prefer)\b|\bwant(?:s|ed)?\b|\bwish\b|\bhop(?:e|ing)\b
    \basked (?:me |us )?(?:to|whether|if)\b|\brequest(?:ed)? (?:to|for|a|that)\b
    """
)
# Anywhere in its clause, these leave the deed to the front desk.
_BY_OTHERS = any_phrase(
    r"""
    \b{people}(?:{also})*(?:'ll| (?:will|would|can|may|must|should)\b)
    \b{people}(?:{also})* (?:needs? to|has to|have to|is going to|is able to)\b
    \b{people} (?:itself |first |only )?(?:confirm|check|decide|book)s?\b
    \b(?:will|can|must|has to|have to|needs? to)\b.*\bby (?:the |our |a )?{people}\b
    \b(?:once|if|when|after|until|as soon as) (?:the |our |a )?{people}\b
    """,
    _PEOPLE,
)
_CONDITION = re.compile(
    rf"^(?:once|if|when|until|unless|as soon as|after)\b.*\b{_PEOPLE['people']}\b"
)

_OPENERS = any_of(
    "and or but so okay ok great alright well now then also sure yes no please perfect thanks "
    "thank_you just"
)
_INVERTED = re.compile(
    rf"^(?:{_OPENERS}\W+)*(?:would|do|does|did|shall|should|may|can|could|will|is|are|was|were|has|"
    r"have|had|what|which|who|when|where|how|why|am)\b"
)
# "and" before a verb joins two deeds of one subject, which stay one clause.
_CLAUSE_END = re.compile(
    r"[,;:.!?]+\s+|\s[–—-]+\s|\s(?:but|so|because|which|now that|since|(?<!soon )as(?! soon))\s"
    rf"|\sand\s(?!{PARTS['so']}(?:{PARTS['done']}|{PARTS['act']}))"
)
_OFFERS = re.compile(r"\b(?:available|accepted|free|open|possible|arranged|held|scheduled)\b")
_ROOM_OR_DATE = re.compile(
    r"\b(?:rooms?|suites?|singles?|doubles?|twins?|dates?|nights?|that|it|those|these|availability|"
    r"vacanc\w+|one|you|your|family|booking|reservation|stay|i|we|hotel|request|everything)\b"
)


def false_claim(
    sentence: str, *, hotel_has: frozenset[str] = frozenset(), existing: bool = False
) -> str | None:
    """The words in which `sentence` claims what this agent cannot know or do.

    Args:
        sentence: as it will be spoken.
        hotel_has: the words of the hotel's facts, in lower case: "Parking is available" may be a
            fact, "The double room is available" is none.
        existing: the call is about a booking that exists, so that "changed" means the booking and
            not the request.

    Returns:
        The claiming words, or None.
    """
    lowered = plain(sentence).strip()
    if match := _BARE_ANSWER.match(lowered):
        return match.group()
    lowered = _SEEMING_NOT.sub("", lowered)
    phrases = CLAIMS + CHANGES if existing else CLAIMS
    condition = ""
    for part in _CLAUSE_END.split(lowered):
        clause = part.strip(' .!?,;:"')
        if not clause or (lowered.endswith("?") and _INVERTED.match(clause)):
            continue
        # "Once the front desk confirms it, your room is reserved."
        claim = _claim_in(f"{condition} {clause}".strip(), phrases) or _room_on_dates(clause)
        if claim and not _is_amenity(claim, clause, hotel_has):
            return claim
        condition = clause if _CONDITION.match(clause) else ""
    return None


def _claim_in(clause: str, claims: tuple[re.Pattern[str], ...]) -> str | None:
    for pattern in claims:
        match = pattern.search(clause)
        if match and not _NOT.search(clause[: match.end()]) and not _is_open(clause, match.end()):
            return match.group().strip()
    for pattern in CLAIMS_OF_NONE:
        match = pattern.search(clause)
        if match and not _is_open(clause, match.end()):
            return match.group().strip()
    return None


def _is_open(clause: str, end: int) -> bool:
    """Whether the claim that ends here depends on something, or is left to the front desk."""
    return bool(_OPEN.search(clause[:end]) or _BY_OTHERS.search(clause))


def _is_amenity(claim: str, clause: str, hotel_has: frozenset[str]) -> bool:
    """ "Credit cards are accepted", of the facts: neither a room, a date nor a booking."""
    if _ROOM_OR_DATE.search(clause) or not _OFFERS.search(claim):
        return False
    return any(word in hotel_has for word in re.findall(r"[a-z-]{4,}", clause) if word not in claim)


def _room_on_dates(clause: str) -> str | None:
    """ "We have a double room on October eighteenth"; "we have double rooms" is just a fact."""
    match = re.search(r"\b(?:we|i)(?:'ve| have| do have) .*?\b(?:rooms?|suites?)\b", clause)
    if not match or _is_open(clause, match.end()) or _NOT.search(match.group()):
        return None
    if re.search(r"\b(?:noted|request)\b", match.group()):
        return None
    rest = mentions(clause[match.end() :])
    return match.group() if any(isinstance(mention, DateMention) for mention in rest) else None
