"""Names of people in a sentence, told apart from other capitalised words without a model.

A word that could be a name must be in the request, the hotel's facts or the hotel's names. What
counts as a possible name: a capitalised word within a sentence, a word in a place for names ("under
the name of …", "Mr. …"), or an unknown first word that is addressed or does something.
"""

from __future__ import annotations

import re

from agent.speech.mentions import NATO
from agent.speech.words import MONTHS, NUMBER_WORDS, ORDINALS, WEEKDAYS, vocabulary

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_TITLE = re.compile(r"\b(?:mr|mrs|ms|miss|mister|dr|doctor|prof|professor)\b\.?", re.IGNORECASE)

# Ordinary words that begin the sentences of a receptionist, or that are written with a capital.
_ORDINARY = vocabulary("""
    a about absolutely actually adult adults after again ah all allow alright also although always am
    an and another any anything apologies are as ask at available awesome back bath be because bed
    beds before beside best between book booking bookings both breakfast business but by bye calling
    can cannot cats certainly change charge check checking child children choose city clearly come
    company concierge confirmed confirming congratulations considering correct could dates day days
    definitely departure desk did dinner do does dogs done double doubles each early either email
    english enjoy evening everything exactly excellent excuse executive fantastic feel few fine first
    floor for forgive free friendly from front fully garage garden general give glad go going good
    goodbye got great greetings guest guests had half happily happy has have having he hello help
    her here hi his hold hopefully hotel how however hm hmm i id if in indeed information inside is
    it its january just kids kindly king kitchen know large late later least leave let like lobby
    lovely luggage lunch ma'am madam make many may maybe me meals meeting might moment more morning
    most much must my name nearby need next nice night nights no none nope normally not note noted
    nothing now number of off okay ok on once one ones only oops or other otherwise our ourselves
    outside over parking pardon payment people perfect perhaps pets phone please pleasure pool
    prices privacy quality queen question quickly quiet rates reading really reception receptionist
    reference regarding remember request requests reservation reservations restaurant right room
    rooms same say see service shall she should shuttle simply since single singles sir small smoking
    so some someone something soon sorry speaking spell staff standard staying still such suite
    suites superb sure take taxes tell thank thanks that that's the their them then there these they
    thing this those though through to together tonight too towels traveling travelling tv twin twins
    two type understood unfortunately until up us usually vat very view visa visit wait was we
    weekend welcome well were what whatever when whenever where whether which while who whose why
    wifi wi-fi will wi fi wonderful would yeah yep yes yesterday yet you your yours yourself zero
    family children's guest's today's tomorrow's today tomorrow gym spa sea luxury deluxe
    non-smoking air ac atm pm usa uk european american english-speaking vegan halal kosher
    following based per using without within under above confirmation january february reply
    """)
_CALENDAR = frozenset(
    form
    for name in (*MONTHS, *WEEKDAYS)
    for form in (name.lower(), f"{name.lower()}s", f"{name.lower()}'s")
)
_NUMBERS = frozenset(part for word in (*NUMBER_WORDS, *ORDINALS) for part in word.split("-"))
_NEVER_NAMES = _ORDINARY | _CALENDAR | _NUMBERS | frozenset(NATO)

_DOES = vocabulary(
    "is was will has had would wants wanted needs can and likes said asked arrives checks stays "
    "called comes leaves prefers"
)
# Behind these a name stands even in small letters.
_NAME_PLACE = re.compile(
    r"\b(?:(?:name(?:'s)?|booking|reservation|room|request) (?:is|as|was) (?:for|under)?\s?"
    r"|under (?:the )?(?:name (?:of )?)?|in the name of |named |guest (?:is|named) )"
    r"([^\W\d_]+)(?:\s([^\W\d_]+))?"
)
_AFTER_NAME_PLACE = vocabulary(
    "a an the that this it your you our my not correct right spelled needed required missing also still "
    "for as on in of is and or please what which now just ready there here to and so given used same noted "
    "under next known complete being included hotel another whose correct"
)


def unknown_name(sentence: str, known: frozenset[str]) -> str | None:
    """The first word of `sentence` that may be a name and is none of the known ones.

    Args:
        sentence: as it will be spoken.
        known: lower-case words that are the caller's name, the hotel's, or in its facts.

    Returns:
        The word as written, or None.
    """
    words = list(_WORD.finditer(sentence))
    for index, match in enumerate(words):
        word = match.group()
        plain = re.sub(r"['’](?:s|re|ll|ve|d|m)$", "", word.lower().replace("’", "'"))
        if plain in known or not word[0].isupper():
            continue
        if len(plain) == 1 or (
            plain in _NEVER_NAMES and not _follows_title(sentence, match.start())
        ):
            continue
        if _begins_sentence(sentence, match.start()):
            following = words[index + 1].group() if index + 1 < len(words) else ""
            if not _stands_as_name(sentence, match, plain, following, known):
                continue
        return word
    lowered = sentence.lower().replace("’", "'")
    for match in _NAME_PLACE.finditer(lowered):
        first = match[1]
        if first in known or first in _AFTER_NAME_PLACE or first in _NUMBERS or len(first) == 1:
            continue
        if match.group().startswith(("booking", "reservation", "room", "request")) and not (
            " for " in match.group() or " under " in match.group()
        ):
            continue
        if first in _ORDINARY or first in _CALENDAR or first.endswith(("ed", "ing")):
            continue
        return first
    return None


def _begins_sentence(sentence: str, start: int) -> bool:
    before = sentence[:start].rstrip(" \"'“‘(")
    if _TITLE.search(before[-10:]) and re.search(rf"(?:{_TITLE.pattern})$", before, re.IGNORECASE):
        return False
    return not before or before[-1] in ".!?:"


def _follows_title(sentence: str, start: int) -> bool:
    return bool(re.search(rf"(?:{_TITLE.pattern})\s$", sentence[:start], re.IGNORECASE))


def _stands_as_name(
    sentence: str, match: re.Match[str], plain: str, following: str, known: frozenset[str]
) -> bool:
    """Whether an unknown first word is addressed, acts, owns, or goes on as a full name."""
    if plain in ("mr", "mrs", "ms", "miss", "dr", "prof", "mister") or plain.endswith("ly"):
        return False
    after = sentence[match.end() : match.end() + 1]
    if after in (",", "!", "?", ".", "") or re.search(r"['’]s$", match.group()):
        return True
    capitalised = following[:1].isupper() and following.lower() not in (*_NEVER_NAMES, *known)
    return capitalised or following.lower() in _DOES or following.lower() in known
