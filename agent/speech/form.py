"""Sentences that are no speech: code, lists, placeholders, addresses, another language."""

from __future__ import annotations

import re
import unicodedata

from agent.speech.words import vocabulary

MAX_WORDS = 60  # nobody listens to a longer sentence

_CODE = re.compile(
    r"[{}\\]|</?\w|=>|==|\w=\w|;\s*$|\(\)|\w+\(\w*\)|\w+\[\w*\]"
    r"|\b(?:def|import|class|return|function|const|var|print)\b\s?[\w(]+\s?[(={:]"
    r"|^\s*[\"']?\w+[\"']?\s*[:=]\s*[\"'\[]|\b(?:null|None|undefined|NaN)\b"
)
_PLACEHOLDER = re.compile(
    r"\[[^\]]*\]|<[^>]*>|\bX{2,}\b|\bYYYY\b|\b[a-z]+_[a-z_]+\b(?!@)|_{2,}|\.{4,}"
)
_ADDRESS = re.compile(
    r"\bhttps?\b|\bwww\b|[\w.+-]+@[\w-]+\.\w+"
    r"|\b[\w-]+\.(?:com|net|org|io|co\.uk|co|uk|eu|info|biz|hotel|html?|pdf)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^\s*(?:[-*•]|\d{1,2}[.)]|\(?[a-z]\))\s|\s(?:[•▪]|\d\))\s|\s\|\s|\n\s*\S|:\s*$|^\W*step \d",
    re.IGNORECASE,
)
# "Check-in: October 18" is a line of a form; "So, to confirm: a double room" is spoken.
_FORM_LINE = re.compile(r"^\W*[A-Z][\w'’/-]*(?:\s[\w'’/-]+){0,3}\s?:\s")
_SPOKEN_COLON = re.compile(
    r"^\W*(?:so|just|to confirm|let me|one (?:more|last) (?:thing|question)|sorry|okay|ok|"
    r"thank you|thanks|and|well|great|perfect|sure|all right|alright|please note)\b[^:]*:",
    re.IGNORECASE,
)

# Words that other languages use and English does not, common enough to stand in any sentence.
_FOREIGN = vocabulary(
    "el los las una por para con que está usted habitación gracias su cómo qué del nombre "
    "reserva buenas cuál es su les une pour avec vous êtes votre nous merci est et bonjour "
    "chambre réservation nom quel combien personnes und ist nicht für mit sie ihr ihre wie "
    "viele zimmer bitte danke guten ich wir ein eine il lo gli della siete vostra grazie "
    "prenotazione di che sono uma você não obrigado quarto seu sua em são het een van voor uw "
    "kamer bedankt naam hoeveel jullie"
)
_ENGLISH = vocabulary(
    "the a an is are was be to of for and or in on at you your we our i my it that this with "
    "from what which when how many would like will may can could has have do does please thank "
    "thanks yes no not name room date night nights guests stay right okay great sure there here "
    "so any"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def not_speakable(sentence: str, spoken: str, facts: str) -> str | None:
    """What makes the sentence no speech.

    Args:
        sentence: as written.
        spoken: the same as it would be spoken.
        facts: the hotel's facts; an address in them may be said.

    Returns:
        The part that shows it, or None.
    """
    words = _WORD.findall(spoken)
    if not words:
        return sentence.strip() or "nothing"
    for pattern in (_CODE, _PLACEHOLDER, _LIST):
        if match := pattern.search(sentence):
            return match.group().strip() or match.group()
    for match in _ADDRESS.finditer(sentence):
        if match.group().lower() not in facts.lower():
            return match.group()
    if (match := _FORM_LINE.match(sentence)) and not _SPOKEN_COLON.match(sentence):
        return match.group()
    if len(words) > MAX_WORDS:
        return " ".join(words[:5])
    return _foreign(words)


def _foreign(words: list[str]) -> str | None:
    for word in words:
        if not word.isascii() and not all(_is_latin(char) for char in word):
            return word
    lowered = [word.lower() for word in words]
    foreign = [word for word in lowered if word in _FOREIGN]
    english = sum(word in _ENGLISH for word in lowered)
    return " ".join(foreign) if len(foreign) >= 2 and len(foreign) > english else None


def _is_latin(char: str) -> bool:
    return not char.isalpha() or char.isascii() or unicodedata.name(char, "").startswith("LATIN")
