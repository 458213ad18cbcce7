"""Claims that something was done or is settled, which this agent can never make.

It takes requests; only the front desk books, changes, cancels and knows what is free.
"""

from __future__ import annotations

import re

from agent.speech.mentions import DateMention, mentions

_DONE = (
    r"(?:book(?:ed)?|reserved|confirmed|secured|guaranteed|held|finali[sz]ed|completed?|processed|"
    r"cancell?ed|rescheduled|approved|accepted|upgraded|refunded|charged|waived|locked in|set aside|"
    r"blocked off|placed|authori[sz]ed|allocated|assigned|arranged|scheduled|settled|successful)"
)
_ALTERED = r"(?:chang|updat|modif|mov|adjust|amend|extend|shorten|switch|correct)\w*"
_BOOKING = r"(?:bookings?|reservations?|rooms?|stay|visit|suite)"
_SO = r"(?:(?:now|already|just|all|fully|officially|also|been|successfully|being|currently|indeed|then|definitely|automatically|hereby|duly|safely|gladly|happily|quickly|immediately|certainly)\s)*"
_BE = r"(?:(?:is|are|was|were|am|has been|have been|had been|got|gets|be)\s|\w+['’](?:s|re|ve)\s(?:been\s)?)"
_I = r"(?:\b(?:i|we)\b|\blet me\b)"
_HAVE = r"(?:['’](?:ve|ll|d|m|re)|\s(?:have|has|had|will|shall|am|are|can|did|do|could|would)(?:\sbe(?:en)?)?)?(?:\sgo(?:ing to|ne ahead and)|\sgo ahead and)?(?:\sbe)?"
_ACT = (
    r"(?:book|reserv|secur|guarante|hold|held|finali[sz]|cancel|reschedul|process|upgrad|refund|"
    r"waiv|block|lock|put(?:ting)? (?:you|a hold)|set(?:ting)? aside|approv|complet|arrang|schedul|"
    r"plac|submit|sav(?:e|ed|ing) (?:you|the|a|that) (?:a )?(?:room|spot))"
)

# Each is looked for in a clause in lower case. The words between must not be a negation, which is
# looked for apart.
_CLAIMS = tuple(
    re.compile(pattern)
    for pattern in (
        # It is done.
        rf"{_BE}{_SO}{_DONE}\b",
        rf"\b{_BOOKING}\s(?:{_SO}){_DONE}(?:[.!]|$)",
        rf"^(?:\W|and\s|so\s|okay\s|great\s|done\s|all\s)*{_SO}{_DONE}(?:\s(?:for|from|on|at|under|in|as)\b.*)?[.!]*$",
        r"\bconsider (?:it|that|this|your \w+) \w+",
        # I did it, do it or will do it.
        rf"{_I}{_HAVE}\s(?:{_SO}){_ACT}\w*",
        rf"{_I}{_HAVE}\s(?:{_SO})(?:ma(?:ke|de|king))\s(?:\w+\s){{0,3}}{_BOOKING}\b",
        rf"{_I}{_HAVE}\s(?:{_SO})confirm\w*\s(?:that\s)?(?:it\b|you\b|(?:\w+\s){{0,4}}(?:{_BOOKING}|availability)\b)",
        rf"{_I}{_HAVE}\s(?:{_SO})(?:{_ALTERED})\s(?:\w+\s){{0,4}}(?:{_BOOKING})\b",
        rf"\b{_BOOKING}\s{_BE}{_SO}(?:{_ALTERED})",
        r"\bi(?:['’]ve| have)?\s(?:just\s)?(?:checked|looked into|verified)\b",
        r"^(?:\W)*(?:booking|reserving|confirming|cancell?ing|processing) (?:your|that|the|it|a)\b",
        # Everything is settled.
        r"(?:you|we|it|that|everything|things|\w+['’](?:s|re))(?:\s(?:is|are|should be|will be))?\s(?:now\s)?(?:all\s)?(?:set|sorted|done|good to go|taken care of|in order|squared away|arranged)\b(?!\s(?:out|of|in|the|your))",
        r"^\W*all (?:set|done|booked|confirmed|sorted)\b",
        r"\bin (?:the|our) (?:system|books|calendar)\b",
        r"\bon (?:the|our) books\b",
        r"\b(?:is|are|be|have (?:it|that|your \w+)) (?:\w+\s)?(?:ready|waiting|prepared) (?:for you|when|on|upon)\b",
        r"\b(?:see|welcome|welcoming|host|hosting|greet|seeing|having|have) you (?:soon|then|on|in|here|at|with us|to the|for your)\b",
        r"\blook(?:ing)? forward to (?:your|welcom|see|host|hav|serv|meet)",
        r"\bcan['’]?t wait to\b",
        r"\benjoy your (?:stay|visit|room|time)\b",
        r"\bthank(?:s| you) for (?:\w+\s)?(?:booking|reserving|staying|your (?:booking|reservation))\b",
        rf"\byour {_BOOKING} (?:begins|starts|runs|ends)\b",
        r"\byou (?:have|now have|['’]ve got) (?:a|the|your|one) (?:\w+\s){0,3}(?:booking|reservation|room|suite)\b",
        # Papers that nobody sends.
        r"\bconfirmation (?:e-?mail|number|code|message|text|letter|has|was|is)\b",
        r"\be-?mail(?:ed)? (?:you|has been|is on|will be)\b",
        r"\b(?:sent|send|sending) (?:you|it|the|a|an|your)\b",
        r"\b(?:sent|forwarded|passed|submitted|transmitted|handed)\b.*\bto (?:the|our)\b",
        r"\byou (?:will|should|['’]ll) (?:\w+\s)?(?:receive|get)\b",
        # There is room.
        r"\b(?:we|i|hotel)(?:['’]ve|\shave|\shas|\sdo have| still have)(?:\sgot)?\s(?:\w+\s){0,5}(?:available|availability|free|vacan\w+|open(?:ing)?s?|left|for (?:you|your|those|that|these))\b",
        r"\b(?:is|are|\w+['’](?:s|re))\s(?:\w+\s){0,3}(?:available|vacant|free (?:on|for|from|that|those|then)|still open|possible|doable)\b",
        r"\b(?:rooms?|suites?|dates?|doubles?|twins?|singles?) (?:\w+\s){0,2}(?:available|free|open) (?:on|for|from|that|those|then|and)\b",
        r"\b(?:there(?:['’]s| is| are)) (?:\w+\s){0,3}(?:availability|vacanc\w+|(?:rooms?|suites?) (?:left|open|free|for))\b",
        r"\b(?:those|these|that|your|the) (?:dates?|nights?|days?) (?:\w+\s)?(?:works?|fits?|(?:is|are) (?:fine|good|open|free|ok|okay|perfect))\b",
        r"\b(?:i|we)(?:['’]ve| have)? (?:just )?(?:found|got) (?:you )?(?:a|an|the|one|that|two)\b",
        r"\b(?:we|i)(?:['’]re| are| can|['’]ll| will)(?: be)?(?: able to)? (?:accommodate|fit you|offer you|give you|get you|put you)\b",
        r"\bfully booked\b",
        r"\bsold out\b",
        r"\bno (?:rooms?|vacanc\w+|availability)\b",
    )
)

# A short yes to a question that only the hotel can answer.
_ELLIPTIC_YES = re.compile(
    r"^(?:yes|yeah|yep|sure|certainly|absolutely|indeed|of course)\W+"
    r"(?:it (?:is|has|was|will)|you (?:are|do|have)|we (?:do|have|can|will)|i (?:did|have|can|will)|"
    r"they are|there (?:is|are)|that(?:['’]s| is) (?:done|confirmed|booked))\W*$"
)

_NOT = re.compile(
    r"\b(?:not|never|cannot|can['’]?t|unable|without|nothing|nobody|none|neither|nor|yet to|"
    r"hardly|no (?:booking|reservation|room|one|change|confirmation)s?\b|\w+n['’]t)\b"
)
_NOT_A_NOT = re.compile(
    r"\b(?:not only|no problem|no worries|not to worry|why not|don['’]?t worry|not a problem|if not|"
    r"can['’]?t wait|no doubt|could(?:n['’]t| not) be|no need to worry)\b"
)
_ONLY_IF = re.compile(
    r"\b(?:if|whether|when|once|until|unless|after|before|as soon as|in case|subject to|depend\w*|"
    r"to see|to check|to ask|would like|['’]d like|want(?:s|ed)?|wish|hop(?:e|ing)|needs? to be|"
    r"to be|has to be|have to be|must be|can only be|may be|might be|could be|in order to|asked|"
    r"request(?:ed)? (?:to|for|a|that)|cannot say|only the)\b"
)
_FRONT_DESK = re.compile(
    r"\b(?:front desk|reception|staff|colleagues?|team|hotel|manager|they|someone)\b"
    r"(?:\W+(?:then|there|also|members?|itself|first|only))*"
    r"\W+(?:(?:will|can|must|needs? to|has to|have to|would|should|is going to|is able to|may)\b|"
    r"['’]ll|confirms?\b|checks?\b|decides?\b)"
)
_BY_FRONT_DESK = re.compile(
    r"\b(?:will|can|must|has to|have to|needs? to)\b.*\bby (?:the |our )?(?:front desk|reception|staff|hotel|team|them)\b"
    r"|\b(?:will|can|must|has to|needs to)\b.*\b(?:front desk|reception)\b"
)
_ASKS = re.compile(
    r"^(?:\W|(?:and|or|but|so|okay|ok|great|alright|well|now|then|also|sure|yes|no|please|perfect|thanks|thank you|just)\b)*"
    r"(?:would|do|does|did|shall|should|may|can|could|will|is|are|was|were|has|have|had|what|which|who|"
    r"when|where|how|why|am)\b"
)
_CLAUSE_END = re.compile(r"\s*(?:[,;:.!?]+\s+|\s[–—-]+\s|\s+(?:and|but|so|because|which|as)\s+)")

_AMENITY = re.compile(r"\b(?:available|free|included|open)\b")
_ROOM_OR_DATE = re.compile(
    r"\b(?:rooms?|suites?|singles?|doubles?|twins?|dates?|nights?|that|it|those|these|availability|"
    r"vacanc\w+|one|you|family)\b"
)


def false_claim(sentence: str, *, hotel_has: frozenset[str] = frozenset()) -> str | None:
    """The words in which `sentence` claims what this agent cannot know or do.

    Args:
        sentence: as it will be spoken.
        hotel_has: what the hotel's facts speak of, as lower-case words; "Parking is available" is a
            fact, "The double room is available" is not.

    Returns:
        The claiming words, or None.
    """
    lowered = sentence.lower().replace("’", "'").strip()
    if match := _ELLIPTIC_YES.match(lowered):
        return match.group()
    asks = lowered.endswith("?")
    before = ""  # the clauses so far, for a condition that reaches over a comma
    for clause in _clauses(lowered):
        if claim := _claim_in(clause, before, asks=asks, hotel_has=hotel_has):
            return claim
        before = f"{before} {clause}"
    return None


def _clauses(lowered: str) -> list[str]:
    return [clause for part in _CLAUSE_END.split(lowered) if (clause := part.strip())]


def _claim_in(clause: str, before: str, *, asks: bool, hotel_has: frozenset[str]) -> str | None:
    plain = _NOT_A_NOT.sub(" ", clause)
    if asks and _ASKS.match(clause):
        return None
    for pattern in _CLAIMS:
        match = pattern.search(plain)
        if not match:
            continue
        ahead = plain[: match.end()]
        if _NOT.search(ahead) or _ONLY_IF.search(ahead):
            continue
        if _FRONT_DESK.search(ahead) or _BY_FRONT_DESK.search(plain):
            continue
        if _is_amenity(match.group(), plain, hotel_has):
            continue
        return match.group().strip()
    return _room_on_dates(plain)


def _is_amenity(claim: str, clause: str, hotel_has: frozenset[str]) -> bool:
    """ "Parking is available": the hotel's own, and neither a room nor a date."""
    if not _AMENITY.search(claim) or _ROOM_OR_DATE.search(clause):
        return False
    return any(
        word in hotel_has for word in re.findall(r"[a-z-]{4,}", clause) if word != "available"
    )


def _room_on_dates(clause: str) -> str | None:
    """ "We have a double room on October eighteenth"; "we have double rooms" is just a fact."""
    match = re.search(r"\b(?:we|i)(?:'ve| have| do have)\s.*\b(?:rooms?|suites?)\b", clause)
    if not match or _NOT.search(match.group()):
        return None
    dated = any(isinstance(mention, DateMention) for mention in mentions(clause[match.end() :]))
    return match.group() if dated else None
