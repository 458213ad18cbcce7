"""Whether the values of a sentence are the request's own or the hotel's: dates, numbers, codes."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agent.booking.request import Field
from agent.speech.facts import clause_at, fact_values, topics
from agent.speech.finding import Reason
from agent.speech.grounds import Grounds
from agent.speech.mentions import (
    AmountMention,
    CodeMention,
    CountMention,
    DateMention,
    Mention,
    TimeMention,
)
from agent.speech.reading import mentions
from agent.speech.words import vocabulary

_ARRIVES = re.compile(r"\b(?:check(?:ing|s)?[ -]?in|arriv\w*|from|starting|starts|beginning)\b")
_LEAVES = re.compile(
    r"\b(?:check(?:ing|s)?[ -]?out|leav\w*|depart\w*|until|till|through|thru|to|ending|ends)\b"
)
_HARMLESS = vocabulary(
    "question questions thing things moment moments second seconds more detail details last "
    "quick step steps way ways option options of other each time"
)
_AFTER_BARE_NUMBER = vocabulary("and at for from in is it on or please right then to with")
_NUMBERED = re.compile(r"\b(?:room|number|floor|suite|extension)\s$")
_ABOUT_REFERENCE = re.compile(
    r"\b(?:reference|confirmation|booking (?:number|code)|reservation number)\b"
)


def wrong_value(spoken: str, grounds: Grounds) -> tuple[Reason, str] | None:
    """The first value of the sentence that is neither the request's own nor the hotel's.

    A value of the hotel's facts counts only where the sentence speaks of the same thing: "7 a.m."
    is when breakfast begins and no time to check in.
    """
    found = mentions(spoken)
    for mention in found:
        if _is_fact(mention, spoken, grounds):
            continue
        match mention:
            case DateMention():
                if not _date_is_own(mention, found, spoken, grounds):
                    return Reason.WRONG_DATE, mention.words
            case CodeMention():
                if reason := _wrong_code(mention, spoken, grounds):
                    return reason, mention.words
            case CountMention():
                numbers_something = _NUMBERED.search(spoken[: mention.start].lower())
                if numbers_something or not _count_is_own(mention, found, grounds):
                    return Reason.WRONG_NUMBER, mention.words
            case _:
                return Reason.WRONG_NUMBER, mention.words
    return None


# Facts


def _is_fact(mention: Mention, spoken: str, grounds: Grounds) -> bool:
    if isinstance(mention, CountMention) and mention.unit in ("guest", "night"):
        # "For four guests" is about the caller, whatever the hotel's rooms hold.
        before = spoken[: mention.start].lower().rstrip()
        if re.search(r"\b(?:your|you|you're|for)$", before):
            return False
    about = set(topics(clause_at(spoken, mention.start)) or topics(spoken)) - set(
        topics(mention.words)
    )
    return any(
        (value.topics & about or (isinstance(mention, CodeMention) and not about))
        and _same(mention, value.mention)
        for value in fact_values(grounds.facts, grounds.day_first)
    )


def _same(said: Mention, fact: Mention) -> bool:
    """Whether what was said is what the fact holds, or an abbreviation of it."""
    match said, fact:
        case DateMention(), DateMention():
            return (
                all(
                    mine is None or mine == its
                    for mine, its in (
                        (said.month, fact.month),
                        (said.day, fact.day),
                        (said.year, fact.year),
                        (said.weekday, fact.weekday),
                    )
                )
                and said.offset == fact.offset
            )
        case TimeMention(), TimeMention():
            halves = said.half is None or fact.half is None or said.half == fact.half
            return (said.hour, said.minute) == (fact.hour, fact.minute) and halves
        case (CountMention(), TimeMention()):  # "from seven to ten thirty"
            return fact.minute == 0 and said.number in (fact.hour, fact.hour or 12)
        case (TimeMention(), CountMention()):  # "seven a.m." for "from 7 to 10:30"
            return said.minute == 0 and fact.number in (said.hour, said.hour or 12)
        case AmountMention(), AmountMention():
            return (said.number, said.unit) == (fact.number, fact.unit)
        case CountMention(), CountMention():
            return said.number == fact.number
        case CodeMention(), CodeMention():
            return said.code == fact.code
        case CountMention(), CodeMention():
            return str(said.number) == fact.code
        case _:
            return False


# The request's own values


def _date_is_own(
    mention: DateMention, found: tuple[Mention, ...], spoken: str, grounds: Grounds
) -> bool:
    lowered = spoken.lower()
    request = grounds.request
    if mention.words.lower() == "today" and not re.search(r"\b(?:check|arriv|stay|leav)", lowered):
        return True
    of_today = re.search(r"\btoday\b", lowered) and mention.offset is None
    if of_today and _fits(mention, grounds.today, grounds.today):
        return True
    role = _role(mention, found, lowered)
    if role is Field.CHECK_IN:
        own: tuple[date | None, ...] = (request.check_in,)
    elif role is Field.CHECK_OUT:
        own = (request.check_out,)
    else:
        own = (request.check_in, request.check_out)
    if request.check_in is None and mention.month is not None and mention.month == request.month:
        # The caller has said the month so far, and no day of it.
        return mention.day is None and mention.year is None
    return any(day is not None and _fits(mention, day, grounds.today) for day in own)


def _fits(mention: DateMention, day: date, today: date) -> bool:
    if mention.vague:
        return False
    if mention.offset is not None:
        return today + timedelta(days=mention.offset) == day
    return all(
        said is None or said == its
        for said, its in (
            (mention.month, day.month),
            (mention.day, day.day),
            (mention.year, day.year),
            (mention.weekday, day.weekday()),
        )
    )


def _role(mention: DateMention, found: tuple[Mention, ...], lowered: str) -> Field | None:
    """Which of the two dates the sentence calls this one: the nearest word decides."""
    index = found.index(mention)
    start = max((other.end for other in found[:index] if isinstance(other, DateMention)), default=0)
    before = lowered[start : mention.start]
    arrives = max((match.end() for match in _ARRIVES.finditer(before)), default=-1)
    leaves = max((match.end() for match in _LEAVES.finditer(before)), default=-1)
    if re.search(r"\b(?:from|changed?|moved?|instead of)\b.*\bto $", lowered[: mention.start]) and (
        re.search(r"\b(?:changed?|moved?|updated?|corrected)\b", lowered)
    ):
        return None  # from an old value to a new one, not from arrival to departure
    if arrives == leaves:
        after = re.match(
            r"\s*(?:is the |as (?:the|your) )?(check[ -]?(?:in|out))\b", lowered[mention.end :]
        )
        if after:
            return Field.CHECK_IN if after[1].endswith("in") else Field.CHECK_OUT
        return None
    return Field.CHECK_IN if arrives > leaves else Field.CHECK_OUT


def _count_is_own(mention: CountMention, found: tuple[Mention, ...], grounds: Grounds) -> bool:
    request = grounds.request
    if mention.unit == "guest":
        return mention.number == request.guests or _breakdown_is_own(found, grounds)
    if mention.unit == "night":
        return mention.number == grounds.nights
    if mention.number == 1:
        return True  # "one room", "which one", "one moment"
    if mention.unit in _HARMLESS and mention.number <= 3:
        return True
    # "Two, is that right?", but not "two pools".
    alone = not mention.unit.isalpha() or mention.unit in _AFTER_BARE_NUMBER
    return alone and mention.number in (request.guests, grounds.nights)


def _breakdown_is_own(found: tuple[Mention, ...], grounds: Grounds) -> bool:
    """ "Two adults and one child" for three guests, when the caller said so."""
    parts = [
        mention
        for mention in found
        if isinstance(mention, CountMention) and mention.unit == "guest"
    ]
    if len(parts) < 2 or sum(part.number for part in parts) != grounds.request.guests:
        return False
    heard = [change.words for change in grounds.request.history if change.field is Field.GUESTS]
    kinds = (part.words.split()[-1].lower()[:4] for part in parts)  # "chil" for child and children
    return bool(heard) and all(kind in heard[-1].lower() for kind in kinds)


def _wrong_code(mention: CodeMention, spoken: str, grounds: Grounds) -> Reason | None:
    request = grounds.request
    if request.reference and mention.code == _alphanumerics(request.reference):
        return None
    about_reference = bool(_ABOUT_REFERENCE.search(spoken.lower()))
    if mention.code.isalpha() and not about_reference:
        name = request.guest_name or ""
        spelled = {_alphanumerics(part) for part in (*name.split(), name)}
        return None if mention.code in spelled else Reason.WRONG_NAME
    if mention.code.isdigit() and not about_reference:
        return Reason.WRONG_NUMBER
    return Reason.WRONG_REFERENCE


def _alphanumerics(text: str) -> str:
    return "".join(char for char in text.upper() if char.isalnum())
