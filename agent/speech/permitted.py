"""What a receptionist who only takes requests may state, apart from values and the hotel's facts.

A list of what is false has no end, so statements are the other way round: what is not known to be
harmless is not said. Questions, courtesies and fragments state nothing and are not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.speech.claim_phrases import PEOPLE
from agent.speech.mentions import Mention
from agent.speech.phrases import any_of, any_phrase, plain

# A clause states something when it has a finite verb.
_STATES = any_phrase(
    r"""
    \b(?:is|are|was|were|am|has|have|had|will|would|can|cannot|could|may|might|must|shall|should)\b
    \b(?:do|does|did|exists?|went|got|came|became|worked)\b|\b\w+n't\b
    \b(?:it|that|there|this|he|she|here|what|everything|nothing|room|booking|reservation)'s\b
    \b\w+'(?:re|ve|ll|d|m)\b
    ^(?:i|we|you|they|it|he|she|someone) (?:\w+ )*\w+
    \b{thing}s? (?:\w+ )?{verb}
    """,
    {
        "thing": any_of(
            "booking reservation stay room suite ROOM VALUE hotel breakfast parking pool "
            "reception desk check-?in check-?out kid child(?:ren)? dog pet card place spot"
        ),
        "verb": any_of(
            "stands? awaits? begins? starts? runs? ends? costs? comes? includes? opens? closes? "
            "goes works? looks? says? said remains? stays? eats? gets? takes? holds? waits? "
            "faces? overlooks? sleeps? fits?"
        )
        + r"\b",
    },
)

# Said before the statement itself, which is then looked at without it.
_OPENING = any_of(
    "so_far and so but or okay ok great well then also sure yes no of_course alright perfect "
    "now oh actually just please_note unfortunately sorry i'm_(?:very_|so_)?(?:sorry|afraid)"
)
_OPENER = re.compile(rf"^(?:{_OPENING}\b[ ,]*(?:but )?)+")
# What depends on another clause is not stated; but "what you asked for is booked" is.
_DEPENDENT = re.compile(
    r"\b(?:if|whether|when|which|where|how|why|until(?! VALUE)|once|unless|as soon as|in case|"
    r"(?<!^)(?:what|who))\b.*$"
)

_PARTS = {
    # The number of words between is kept small, so that one clause does not excuse another.
    "you": r"^you(?:'d| would|'ve| have)?",
    "you_are": r"^you(?:'re| are|'ll| will|'ll be| will be|'d be| would be)?",
    "travels": r"(?:check|arriv|leav|depart|stay|com)\w*",
    "values": r"^(?:(?:for|from|on|at|to|the|a|an) )*(?:(?:VALUE|ROOM)(?: to| until|,)? )+",
    "service": r"\b(?:check-?in|check-?out|breakfast|pool|parking|it|desk)",
    "was": r"(?: is| was| would be| will be|'s|'ll be|'d be)",
    "that": r"^(?:it|that|this)(?: is| was|'s|'ll be| will be)",
    "also": r" (?:then|there|also|members?|itself|first|only|still)",
    "is": r"(?:is|are|was|were|be|'s|'re|would be|will be|'d be|'ll be)",
    "so": r"(?:(?:then|now|also|just|all|only|still|already|really|very|so|quite|about) )*",
    "at": r"(?:(?:for|from|on|at|by|until|till|to|under|in|as|with|a|an|the|of|name|total) )*",
    "value": r"(?:VALUE|ROOM)\b",  # see `without_values`
    "people": PEOPLE,
    "part": r"(?:request|name|surname|check-?in|check-?out|arrival|departure|date|dates|reference|"
    r"booking|reservation|stay|room|room type|guest|guests|nights?|details|spelling|party)",
    "i": r"^(?:i|we)(?:'(?:ve|ll|d|m|re))?"
    r"(?: (?:have|had|will|would|can|could|am|are|just|only|also|still|already|now|then|be))*",
    "mine": any_of(
        r"not(?:e|ed|ing) tak(?:e|ing)_(?:that|this|it|your|a|only|down|requests?|the) took "
        r"writ(?:e|ing) wrote written having_trouble put_(?:that|it|your_(?:request|name)) "
        r"underst(?:and|ood) hear heard needs? mean meant hop(?:e|ing) appreciate apologi[sz]e "
        r"like_to love_to help\w* assist\w* ask\w* read\w* repeat\w* go(?:ing)?_over say said "
        r"spell\w* pass\w* check_with ma(?:ke|de)_a_note chang\w+ updat\w+ correct\w* confirm\w* "
        r"listen\w* speak\w* know miss(?:ed)? catch caught thank suggest recommend start "
        r"continue sorry afraid glad happy delighted pleased here unable not_able calling wish "
        r"wonder\w* understand\w*"
    ),
}
_PERMITTED = any_phrase(
    r"""
    # What I do: take down, ask, repeat; and what I cannot.
    {i} {mine}\b
    ^i (?:can't|cannot|can not|don't|do not|didn't|did not|won't|couldn't|haven't)\b
    ^i(?:'m| am) not\b
    ^i(?:'ve| have)?(?: got)? (?:got |have )?(?:your|that|you|VALUE|an?|one|few|some|down|it|no)\b
    ^i see(?: (?:that )?you\b.*)?$
    ^i've kept$
    ^i think (?:that|it)\b
    ^got (?:it|that|you|your|ROOM|VALUE)\b
    ^we only (?:take|accept|note)\b
    ^we (?:have|offer|do have) (?:ROOM|,|rooms?|suites?|and|or| )+$

    # What the caller wants, said and does.
    {you} (?:like|prefer|want|need|said|say|asked|mentioned|told|gave|chose|spelled|spell)\b
    {you} (?:wish|wanted|given|called|already)\b
    {you_are} {so}(?:welcome|right|correct|calling|looking|asking|breaking up)\b
    {you_are} {so}{travels} {at}(?:(?:in|out) )?{at}{value}
    ^you (?:can|could|may|might) (?:also |always )?(?:call|reach|contact|ask|tell|give|say|spell)\b
    ^you (?:can|may) (?:also |always )?check (?:in|out) {at}{value}

    # Of a part of the request: which value it has, whether it is known.
    \b{part} (?:\w+ )?(?:with \w+ VALUE )?{is} {so}(?:not )?{at}{value}
    \b{part} {is} {so}(?:right|correct|noted|missing|needed|spelled|clear|complete|unclear)\b
    \b{part} VALUE {is} {so}(?:right|correct|noted)\b
    \b{part} {is}(?:n't| not| yet to be| still to be| to be)\b
    \brequest\b.*{is} {so}(?:noted|understood|under|for|in the name|only|just|pending)\b
    {values}(?:{is}|works) {so}(?:right|correct|noted|your|the (?:check|day|date)|{value})
    {values}(?:would|will) be {at}{value}
    ^{value} it is$
    {service} (?:is|runs|starts|begins|ends|opens|closes|costs) {at}{value}
    \b{is} {so}served {at}{value}

    # "It", "that", "this": a value, a courtesy, a denial.
    ^(?:it|that|this|there|here)(?:{was}| makes| are) {so}{at}{value}
    {that} {so}(?:right|correct|fine|great|good|lovely|wonderful|perfect|nice|okay|ok|noted)\b
    {that} {so}(?:clear|understood|kind|helpful|all|no|my pleasure)\b
    {that} {so}(?:a (?:pleasure|great|lovely|good|nice|request|question)|everything|up to)\b
    ^it depends\b
    ^(?:the line|we're (?:nearly|almost)|here(?: is|'s))\b
    ^(?:it|{part}|your {part}) (?:has not|hasn't)\b
    \brequest (?:will go|goes) to the front desk\b
    {that} not\b|^(?:it|that|this) (?:isn't|wasn't|doesn't|won't|can't)\b
    {that} {so}{travels} (?:(?:in|out) )?{at}{value}
    ^that's (?:all|how|why|what)\b
    \b(?:isn't|is not|aren't) (?:something|known|clear)\b
    ^everything {is} {so}(?:right|correct|noted|clear)\b
    \bnothing (?:is|has|have|was|will)\b
    ^no (?:booking|reservation|room|change) (?:is|has|have|was)\b

    # What the front desk will or does do, not what it did.
    \b{people}(?:{also})*(?:'ll| (?:will|would|can|may|must|should))\b
    \b{people}(?:{also})* (?:needs? to|has to|have to|is going to|is able to)\b
    \b{people}(?:{also})* (?:books?|confirms?|checks?|decides?|knows?|handles?|takes)\b
    \b{people}(?:{also})* (?:hasn't|has not|haven't|have not|doesn't|does not)\b
    \b(?:will|can|must|has to|have to|needs? to)\b.*\bby (?:the |our |a )?{people}\b

    # Courtesies
    ^(?:please|thank|thanks|let me|let's (?:see|start|go))\b(?!.*\b(?:is|are|has been|will be)\b)
    ^(?:feel free|take your|have a|may i|how (?:can|may) i)\b
    """,
    _PARTS,
)
_PEOPLE_DECIDE = re.compile(
    rf"^(?:once|if|when|until|unless|as soon as|after)\b.*\b{_PARTS['people']}\b"
)


def permitted(clause: str) -> bool:
    """Whether a clause states nothing, or nothing but what may be stated whatever is true.

    Args:
        clause: as `without_values` writes it.
    """
    stated = _DEPENDENT.sub("", _OPENER.sub("", clause.strip(' .!?,;:"')))
    stated = _OPENER.sub("", stated).strip()
    return not stated or not _STATES.search(stated) or bool(_PERMITTED.search(stated))


def waits_for_people(clause: str) -> bool:
    """ "Once the front desk confirms it": what follows is not stated as true now."""
    return bool(_PEOPLE_DECIDE.match(clause))


def without_values(
    text: str, values: Iterable[Mention], rooms: frozenset[str], names: frozenset[str]
) -> str:
    """`text` in lower case with VALUE for each value or name and ROOM for each room type.

    Args:
        text: a sentence as it will be spoken.
        values: the values that it mentions.
        rooms: the words for room types, in lower case.
        names: the words of the caller's name, in lower case.
    """
    parts, end = [], 0
    for value in values:
        parts += [plain(text[end : value.start]), "VALUE"]
        end = value.end
    written = "".join([*parts, plain(text[end:])])
    if names:
        name = _any_word(names)
        written = re.sub(rf"\b{name}(?:[ -]{name})*\b", "VALUE", written)
    if rooms:
        written = re.sub(
            rf"\b{_any_word(rooms)}(?:e?s)?\b(?: rooms?\b)?(?! ?-?check)", "ROOM", written
        )
    return written


def _any_word(words: frozenset[str]) -> str:
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=len, reverse=True))})"
