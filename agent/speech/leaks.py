"""Sentences that are no speech to this caller: code, lists, foreign text, prompts, loops."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from agent.speech.words import vocabulary

MAX_WORDS = 60  # nobody listens to a longer sentence

_CODE = re.compile(
    r"[{}\\]|</?\w|=>|==|\(\)|;\s*$|\w+\(\w*\)|\w+\[\w*\]|\b(?:def|import|class|return|function|const|var|print)\b\s?[\w(]+\s?[(={:]"
    r"|^\s*[\"']?\w+[\"']?\s*[:=]\s*[\"'\[]|\bnull\b|\bNone\b|\bundefined\b|\bNaN\b|\w=\w"
)
_PLACEHOLDER = re.compile(
    r"\[[^\]]*\]|<[^>]*>|\bX{2,}\b|\bYYYY\b|\b[a-z]+_[a-z_]+\b(?!@)|_{2,}|\.{4,}"
)
_ADDRESS = re.compile(
    r"\bhttps?\b|\bwww\b|[\w.+-]+@[\w-]+\.\w+|\b[\w-]+\.(?:com|net|org|io|co\.uk|co|uk|eu|info|biz|hotel|html?|pdf)\b",
    re.IGNORECASE,
)
# "Check-in: October 18" is a line of a form, "Here are the details:" announces one.
_FORM_LINE = re.compile(r"^\W*(?:[A-Z][\w'’/-]*(?:\s[\w'’/-]+){0,3})\s?:\s?\S")
_SPOKEN_COLON = re.compile(
    r"^\W*(?:so|just|to confirm|let me|one (?:more|last) (?:thing|question)|question|note|sorry|okay|ok|"
    r"thank you|thanks|and|well|great|perfect|sure|all right|alright|please note)\b[^:]*:",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^\s*(?:[-*•]|\d{1,2}[.)]|\(?[a-z]\))\s|\s(?:[•▪]|\d\))\s|\s\|\s|\n\s*\S|:\s*$|^\W*step \d",
    re.IGNORECASE,
)

_LEAK = re.compile(
    r"\b(?:as an? (?:ai|artificial|language|large|virtual|automated)\b|(?:large )?language model|"
    r"\bai (?:model|assistant|language|system)|openai|chat ?gpt|qwen|alibaba cloud|anthropic|"
    r"(?:my|the|these|your|following|above|given) (?:system )?(?:instructions?|prompt|guidelines|rules|programming)\b|"
    r"system (?:prompt|message)|i (?:was|am|have been|'m) (?:told|instructed|programmed|trained|designed|prompted)|"
    r"(?:the|this) (?:user|caller|customer)(?:'s)?\b|\buser (?:says|said|wants|asks|asked|input)|"
    r"known so far|still missing|(?:at most|no more than|maximum of) three sentences|"
    r"\bjson\b|\bmarkdown\b|\btool call|function call|\bknowledge (?:cutoff|base)\b|training data|"
    r"(?:role|context|output|format|task|constraints?|instructions?)\s?:|"
    r"\bi (?:should|need to|must|have to|'ll need to) (?:ask|respond|reply|say|answer|keep|make sure|confirm with|check if|figure)|"
    r"\bwe (?:should|need to|must) (?:ask|respond|reply|say|answer|output)|"
    r"let me think|(?:wait|hmm),? (?:the|let me|i should|but the)|"
    r"here(?:'s| is| are) (?:a|an|the|my|some|one) (?:\w+ )?(?:response|reply|example|sample|version|draft|sentence|answer|rewrit\w+|possible)|"
    r"\bexample (?:response|dialog\w*|conversation|reply)|\bpretend\b|\bhypothetical|"
    r"(?:ignore|disregard) (?:all|any|the|my|your|previous))"
)

# Words that only these languages use, and common enough to stand in any sentence of them.
_FOREIGN = vocabulary(
    "el los las una por para con que está usted habitación gracias su cómo qué del nombre reserva buenas "
    "le les une des pour avec vous êtes votre nous merci est et bonjour chambre réservation nom quel "
    "der das und ist nicht für mit sie ihr ihre wie viele zimmer bitte danke guten name ich wir ein eine "
    "il lo gli della per con siete vostra grazie camera prenotazione di che sono "
    "o os um uma você não obrigado quarto seu sua com em são "
    "het een van voor uw kamer bedankt naam hoeveel jullie"
) - vocabulary("name per est est. camera le et o um com em das des der")
_ENGLISH = vocabulary(
    "the a an is are was be to of for and or in on at you your we our i my it that this with from what "
    "which when how many would like will may can could have has do does please thank thanks yes no not "
    "name room date night nights guests stay right okay great sure there here so any"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def not_speakable(sentence: str, spoken: str, facts: str) -> str | None:
    """What makes the sentence no speech: code, a list, a placeholder, an address, another language.

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
        if match.group().lower().rstrip(".") not in facts.lower():
            return match.group()
    if (match := _FORM_LINE.match(sentence)) and not _SPOKEN_COLON.match(sentence):
        return match.group()
    if len(words) > MAX_WORDS:
        return " ".join(words[:5])
    return _foreign(words)


def _foreign(words: list[str]) -> str | None:
    for word in words:
        if any(char.isalpha() and not _is_latin(char) for char in word):
            return word
    lowered = [word.lower() for word in words]
    foreign = [word for word in lowered if word in _FOREIGN]
    english = sum(word in _ENGLISH for word in lowered)
    return " ".join(foreign) if len(foreign) >= 2 and len(foreign) > english else None


def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith(("LATIN", "MODIFIER"))


def leaked(spoken: str, instructions: str) -> str | None:
    """What the sentence gives away of the prompt, of thoughts, or of what speaks."""
    lowered = spoken.lower().replace("’", "'")
    if match := _LEAK.search(lowered):
        return match.group()
    return _shared_run(lowered, instructions.lower().replace("’", "'"))


_SHARED_WORDS = 8


def _shared_run(text: str, instructions: str) -> str | None:
    """Eight words in a row out of the prompt."""
    words = _WORD.findall(text)
    if len(words) < _SHARED_WORDS or not instructions:
        return None
    prompt = f" {' '.join(_WORD.findall(instructions))} "
    for start in range(len(words) - _SHARED_WORDS + 1):
        run = " ".join(words[start : start + _SHARED_WORDS])
        if f" {run} " in prompt:
            return run
    return None


# A word or a phrase three times in a row is a loop of the model's.
_LOOP = re.compile(r"\b(\w+(?:\W+\w+){0,5}?)(?:\W+\1\b){2,}", re.IGNORECASE)


def repeated(spoken: str, said: Iterable[str]) -> str | None:
    """What was said before in this reply, or is said over and over in this sentence."""
    plain = _plain(spoken)
    if any(plain == _plain(other) for other in said):
        return spoken
    # Digits and letters of a number or reference may well come three times.
    match = _LOOP.search(spoken)
    if match and not re.fullmatch(
        r"(?:\w|zero|one|two|three|four|five|six|seven|eight|nine|oh)", match[1].lower()
    ):
        return match.group()
    return None


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
