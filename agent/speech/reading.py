"""Reads every value that a spoken text mentions.

It reads only words (see `speakable`), since that is what the caller will hear.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from agent.speech.mentions import AmountMention, CodeMention, CountMention, Mention, TimeMention
from agent.speech.reading_dates import date_at
from agent.speech.tokens import Tokens
from agent.speech.words import DIGITS, TENS, vocabulary

NATO = {
    word: word[0].upper()
    for word in vocabulary(
        "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima "
        "mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
    )
}
_CURRENCY = {
    word: unit
    for unit in ("dollar", "euro", "pound", "cent", "percent", "degree")
    for word in (unit, f"{unit}s")
} | {"pence": "cent", "penny": "cent", "bucks": "dollar"}

_COUNTED = {
    word: unit
    for unit, counted in {
        "guest": "guest guests person persons people adult adults child children kid kids toddler "
        "toddlers infant infants baby babies teenager teenagers traveller travellers traveler "
        "travelers visitor visitors",
        "night": "night nights",
        "room": "room rooms",
    }.items()
    for word in vocabulary(counted)
}
_JOINS = vocabulary("and or to for in with from")  # what stands behind these was not counted
_HALVES = {"morning": "a", "afternoon": "p", "evening": "p"}


@lru_cache(maxsize=2048)
def mentions(text: str) -> tuple[Mention, ...]:
    """Every value in `text`, in the order of its words; they never overlap."""
    tokens = Tokens(text)
    found: list[Mention] = []
    index = 0
    while index < len(tokens):
        for reader in _READERS:
            if result := reader(tokens, index):
                found.append(result[0])
                index = result[1]
                break
        else:
            index += 1
    return tuple(found)


def _code_at(tokens: Tokens, index: int) -> tuple[Mention, int] | None:
    """Letters and digits one by one: "K seven four, Q two nine", "R A M A N", "kilo seven four"."""
    code, at, end, nato = "", index, index, 0
    while at < len(tokens):
        word, raw = tokens.word(at), tokens.raw(at)
        if word in DIGITS:
            code += DIGITS[word]
        elif len(raw) == 1 and raw.isalpha() and (raw.isupper() or (code and word not in "ai")):
            if raw == "I" and not code:
                break
            code += raw.upper()
        elif word in NATO and (code or word not in ("hotel", "november")):
            code += NATO[word]
            nato += 1
        elif code and word in (",", "dash", "hyphen") and at == end:
            at += 1
            continue
        else:
            break
        at += 1
        end = at
    mixed = not code.isalpha() and not code.isdigit() and code[:1] not in "AI"
    if len(code) < (2 if mixed else 3) or nato == len(code) < 4:
        return None
    if code.isdigit():
        if len(code) == 3 and _looks_like_time(tokens, index, end):
            return None
        if tokens.word(end) in (*TENS, "hundred", "thousand", "point", "percent"):
            return None
    return CodeMention(*tokens.span(index, end), code), end


def _looks_like_time(tokens: Tokens, index: int, end: int) -> bool:
    """ "three oh five" is a time, unless it is the number of a room."""
    numbered = tokens.word(index - 1) in ("room", "suite", "number", "extension")
    return tokens.word(index + 1) == "oh" and (tokens.word(end) in ("a.m.", "p.m.") or not numbered)


def _time_at(tokens: Tokens, index: int) -> tuple[Mention, int] | None:
    """ "three thirty p.m.", "half past seven", "seven in the morning", "noon"."""
    word = tokens.word(index)
    if word in ("noon", "midnight"):
        half = "p" if word == "noon" else "a"
        return TimeMention(*tokens.span(index, index + 1), 0, 0, half), index + 1
    if word in ("half", "quarter") and (joint := tokens.word(index + 1)) in ("past", "to"):
        hour = tokens.cardinal(index + 2)
        if hour is None or not 1 <= hour[0] <= 12:
            return None
        minutes = 30 if word == "half" else 15
        total = hour[0] * 60 + (minutes if joint == "past" else -minutes)
        return _timed(tokens, index, hour[1], total // 60, total % 60)
    hour = tokens.cardinal(index)
    if hour is None or not 1 <= hour[0] <= 12:
        return None
    after = hour[1]
    oh = tokens.word(after) == "oh"
    minute = tokens.cardinal(after + oh)
    if minute and (oh or minute[0] >= 10) and minute[0] <= 59:
        if tokens.word(minute[1]) in (*_CURRENCY, *_COUNTED, "hundred", "thousand"):
            return None
        return _timed(tokens, index, minute[1], hour[0], minute[0])
    if tokens.word(after) in ("a.m.", "p.m.", "o'clock") or _half_in_words(tokens, after):
        return _timed(tokens, index, after, hour[0], 0)
    return None


def _timed(tokens: Tokens, index: int, after: int, hour: int, minute: int) -> tuple[Mention, int]:
    half = None
    after += tokens.word(after) == "o'clock"
    if tokens.word(after) in ("a.m.", "p.m."):
        half = tokens.word(after)[0]
        after += 1
    elif in_words := _half_in_words(tokens, after):
        half, after = in_words
    return TimeMention(*tokens.span(index, after), hour % 12, minute, half), after


def _half_in_words(tokens: Tokens, at: int) -> tuple[str, int] | None:
    if tokens.word(at) == "in" and tokens.word(at + 1) == "the":
        half = _HALVES.get(tokens.word(at + 2))
        return (half, at + 3) if half else None
    return None


def _number_at(tokens: Tokens, index: int) -> tuple[Mention, int] | None:
    """ "two guests", "two more nights", "eighty-nine dollars", "ten percent", "two"."""
    number = tokens.cardinal(index)
    if number is None:
        return None
    value, after = number
    text = str(value)
    if tokens.word(after) == "point" and tokens.word(after + 1) in DIGITS:
        text += "."
        after += 1
        while tokens.word(after) in DIGITS:
            text += DIGITS[tokens.word(after)]
            after += 1
    if unit := _CURRENCY.get(tokens.word(after)):
        return AmountMention(*tokens.span(index, after + 1), text, unit), after + 1
    if "." in text:
        return AmountMention(*tokens.span(index, after), text, ""), after
    if tokens.word(after) == "of" and tokens.word(after + 1) in ("you", "us"):
        return CountMention(*tokens.span(index, after + 2), value, "guest"), after + 2
    for end in range(after + 1, after + 4):  # up to two words between: "two double rooms"
        word = tokens.word(end - 1)
        if not word.isalpha() or word in _JOINS:
            break
        if word in _COUNTED:
            return CountMention(*tokens.span(index, end), value, _COUNTED[word]), end
    return CountMention(*tokens.span(index, after), value, tokens.word(after)), after


_READERS: tuple[Callable[[Tokens, int], tuple[Mention, int] | None], ...] = (
    _code_at,
    date_at,
    _time_at,
    _number_at,
)
