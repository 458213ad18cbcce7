"""Which parts of the booking request a sentence asks the caller for."""

from __future__ import annotations

from agent.booking.request import Field
from agent.speech.phrases import any_phrase, plain

# What makes a sentence a question, with or without its mark.
_ASKS = any_phrase(
    r"""
    \?
    \bplease (?:tell|give|provide|share|spell|say|let)\b
    \b(?:let me know|tell me|provide)\b
    \bi(?:'ll| will|'d| would| still| just| also)* (?:need|like to know)\b
    \bwe(?:'ll| still| just| also)* need\b
    \b(?:could|may|can) i\b
    \bi'm (?:still )?missing\b
    """
)
_PARTS = {
    "ask": r"\b(?:what(?:'s| is| are| was| will| would)?|which|may i|(?:can|could) (?:i|you)|"
    r"(?:would|will) you|please|tell me|need|know|provide|give|share|have|get|missing|spell|"
    r"confirm|ask)\b.*",
    "kind": "(?:full|first|last|family|guest|lead)",
    "when": r"\b(?:when|(?:until|till|what|which)(?: (?:date|day))?)\b.*",
    "dates": r"(?:dates?|days?)\b",
    "people": r"(?:guests|people|persons|adults|children|travell?ers)\b",
    "type": r"\b(?:single|double|twin|suite|family)\b.*\bor\b",
}
_QUESTIONS = {
    Field.GUEST_NAME: r"""
        {ask}\b(?:your|the|a|guest's|whose) (?:{kind} )*(?:sur)?names?\b(?! of)
        {ask}\b{kind} (?:sur)?names?\b
        {ask}\bnames?\b.*\b(?:booking|reservation|request|room|stay)\b
        \b(?:what|whose|which) name\b
        \bwho(?:'s| is| am| are| will be)? (?:i |this |the )*(?:booking|speaking|guest|staying)\b
        \bhow (?:do|would|should) (?:you|i) (?:spell|address|call)\b
        \bspell (?:it|that|your)\b
    """,
    Field.CHECK_IN: r"""
        {ask}\b(?:check(?:ing)?[ -]?in|arrival|start(?:ing)?) {dates}
        {ask}\bcheck[ -]in and (?:check[ -])?out\b
        {when}\b(?:arriv\w*|check(?:ing)?[ -]in|com(?:e|ing)|start|begin)\b
    """,
    Field.CHECK_OUT: r"""
        {ask}\b(?:check(?:ing)?[ -]?out|departure|end) {dates}
        {ask}\bcheck[ -]in and (?:check[ -])?out\b
        {when}\b(?:leav\w*|depart\w*|check(?:ing)?[ -]out)\b
        \b(?:until|till) (?:when|what|which)\b
        \b(?:how many|number of) nights\b
        \bhow long\b.*\b(?:stay\w*|visit|with us|be here|room)\b
        \b(?:length|duration) of (?:your|the) stay\b
    """,
    Field.GUESTS: r"""
        \bhow many (?:\w+ )?{people}
        \bhow many (?:of you|will be|are (?:you|staying|in)|is it for)\b
        \bnumber of {people}
        \b(?:party size|size of your party)\b
        \bwho(?:'ll| will| is|'s) (?:be )?(?:staying with|joining|travell?ing|coming)\b
        \b(?:is it|will it be|are you) (?:just|only) (?:you|for)\b
        \bfor how many\b
        \b(?:travell?ing|staying|coming) alone\b
        \banyone else\b
    """,
    Field.ROOM_TYPE: r"""
        \b(?:what|which)\b(?: \w+){0,3}? (?:rooms?|beds?|suites?)\b(?! (?:number|is your))
        \b(?:type|kind|sort|style|category) of (?:room|bed|accommodation)\b
        \broom (?:type|preference|category)\b
        \b(?:would|do|did|will) you (?:like|prefer|want|need)\b.*{type}
        ^\W*(?:a )?{type}.*\?
    """,
    Field.REFERENCE: r"""
        {ask}\breference\b
        {ask}\b(?:reservation|booking|confirmation) (?:number|code)\b
        \bdo you have (?:a|your|the)\b.*\b(?:reference|confirmation|booking number)\b
    """,
}
_PATTERNS = {part: any_phrase(text, _PARTS) for part, text in _QUESTIONS.items()}
_DATES = any_phrase(
    r"""
    \b(?:what|which)\b(?: \w+){0,3}? dates?\b
    \bdates (?:of|for|do|would|are|will)\b
    \bwhen\b.*\b(?:stay\w*|visit\w*|book|your trip|be with us)\b
    {ask}\byour (?:travel )?dates\b
    """,
    _PARTS,
)


def asked(sentence: str) -> frozenset[Field]:
    """The parts of the request that `sentence` asks for.

    Args:
        sentence: as it will be spoken.

    Returns:
        The parts; both dates for "which dates?". Empty for any sentence that does not ask.
    """
    lowered = plain(sentence)
    if not _ASKS.search(lowered):
        return frozenset()
    parts = {part for part, pattern in _PATTERNS.items() if pattern.search(lowered)}
    if _DATES.search(lowered) and not parts & {Field.CHECK_IN, Field.CHECK_OUT}:
        parts |= {Field.CHECK_IN, Field.CHECK_OUT}
    return frozenset(parts)
