"""Which parts of the booking request a sentence asks the caller for."""

from __future__ import annotations

import re

from agent.booking.request import Field

_ASKS = re.compile(
    r"\?|\b(?:please (?:tell|give|provide|share|spell|say|let)|let me know|tell me|i(?:'ll| will|"
    r" still| just| also|'d)* need|i(?:'d| would) (?:also )?(?:like|need) to know|we(?:'ll| still|"
    r" just| also)* need|provide|could i|may i|can i|i'm (?:still )?missing)\b"
)
_WANTS = (
    r"(?:what(?:'s| is| are| was| will| would)?|which|may i|can i|could i|could you|can you|would you|"
    r"will you|please|tell me|need|know|provide|give|share|have|get|missing|spell|confirm|ask)"
)

_QUESTIONS: dict[Field, re.Pattern[str]] = {
    field: re.compile(pattern)
    for field, pattern in {
        Field.GUEST_NAME: (
            rf"\b{_WANTS}\b.*\b(?:your|the|a|guest's|full|first|last|family|whose)\s"
            r"(?:(?:full|first|last|family|guest|booking|lead|main)\s)*(?:sur)?names?\b(?! of the hotel)"
            rf"|\b{_WANTS}\b.*\bnames?\b.*\b(?:booking|reservation|request|room|stay)\b"
            r"|\b(?:what|whose|which) name\b|\bwho(?:'s| is| am| will be| are)? (?:i |this |the )*"
            r"(?:booking|speaking|guest|staying|room|reservation)"
            r"|\bhow (?:do|would|should) (?:you|i) (?:spell|address|call)\b|\bspell (?:it|that|your)\b"
        ),
        Field.CHECK_IN: (
            rf"\b{_WANTS}\b.*\b(?:check(?:ing)?[ -]?in|arrival|start(?:ing)?) (?:and check[ -]?out )?(?:date|day)"
            rf"|\b{_WANTS}\b.*\bcheck[ -]in and (?:check[ -])?out\b"
            r"|\b(?:when|what (?:date|day)|which (?:date|day))\b.*\b(?:arriv\w*|check(?:ing)? in|com(?:e|ing)|"
            r"check[ -]in|start|begin)\b"
        ),
        Field.CHECK_OUT: (
            rf"\b{_WANTS}\b.*\b(?:check(?:ing)?[ -]?out|departure|end) (?:date|day)"
            rf"|\b{_WANTS}\b.*\bcheck[ -]in and (?:check[ -])?out\b"
            r"|\b(?:when|until when|till when|what (?:date|day)|which (?:date|day))\b.*\b(?:leav\w*|depart\w*|"
            r"check(?:ing)?[ -]out)\b|\b(?:until|till) (?:when|what|which)\b"
            r"|\bhow many nights\b|\bhow long\b.*\b(?:stay\w*|visit|with us|be here|room)\b"
            r"|\bnumber of nights\b|\b(?:length|duration) of (?:your|the) stay\b"
        ),
        Field.GUESTS: (
            r"\bhow many (?:\w+\s)?(?:guests|people|persons|adults|children|of you|travell?ers|will be|"
            r"are (?:you|staying|in)|is it for|in your)\b"
            r"|\bnumber of (?:guests|people|adults|persons|travell?ers)\b|\bparty size\b|\bsize of your party\b"
            r"|\bwho(?:'ll| will| is|'s) (?:be )?(?:staying with|joining|travelling|traveling|coming) ?(?:with)?\b"
            r"|\b(?:is it|will it be|are you) (?:just|only) (?:you|for)\b|\bfor how many\b"
            r"|\b(?:travell?ing|staying|coming) alone\b|\banyone else\b"
        ),
        Field.ROOM_TYPE: (
            r"\b(?:what|which)\b(?:\s\w+){0,3}?\s(?:rooms?|beds?|suites?)\b(?! (?:number|is your))"
            r"|\b(?:type|kind|sort|style|category) of (?:room|bed|accommodation)\b|\broom (?:type|preference|category)\b"
            r"|\b(?:would|do|did|will) you (?:like|prefer|want|need)\b.*\b(?:single|double|twin|suite|family)\b"
            r".*\bor\b"
            r"|^\W*(?:a )?(?:single|double|twin|suite|family)\b.*\bor\b.*\?"
        ),
        Field.REFERENCE: (
            rf"\b{_WANTS}\b.*\b(?:booking|reservation|confirmation)?\s?(?:reference|reservation number|"
            r"booking number|confirmation (?:number|code)|booking code)\b"
            r"|\bdo you have (?:a|your|the)\b.*\b(?:reference|confirmation|booking number)\b"
        ),
    }.items()
}
_DATES = re.compile(
    r"\b(?:what|which)\b(?:\s\w+){0,3}?\sdates?\b|\bdates (?:of|for|do|would|are|will)\b"
    r"|\bwhen\b.*\b(?:stay\w*|visit\w*|book|your trip|be with us)\b"
    rf"|\b{_WANTS}\b.*\byour (?:travel )?dates\b"
)


def asked(sentence: str) -> frozenset[Field]:
    """The parts of the request that `sentence` asks for.

    Args:
        sentence: as it will be spoken.

    Returns:
        The parts; both dates for "which dates?". Empty for a read-back or any other sentence.
    """
    lowered = sentence.lower().replace("’", "'")
    if not _ASKS.search(lowered):
        return frozenset()
    parts = {part for part, pattern in _QUESTIONS.items() if pattern.search(lowered)}
    if _DATES.search(lowered) and not parts & {Field.CHECK_IN, Field.CHECK_OUT}:
        parts |= {Field.CHECK_IN, Field.CHECK_OUT}
    return frozenset(parts)
