"""Booking references: letters and digits, however they are spoken, checked against the pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from agent.booking.alphabet import Spelled, spelled_at
from agent.booking.corrections import negated
from agent.booking.heard import Asked, Found, Problem, ProblemKind
from agent.booking.hotel import Hotel
from agent.booking.numbers import ordinal_at
from agent.booking.request import BookingRequest, Change, Field
from agent.booking.tokens import Utterance
from agent.booking.word_sets import word_set

_CUES = (
    "reference",
    "reference number",
    "reference code",
    "references",
    "booking reference",
    "booking number",
    "booking code",
    "booking id",
    "reservation number",
    "reservation code",
    "confirmation number",
    "confirmation code",
    "confirmation",
    "my code",
    "the code",
    "ref",
)
# Said between the characters of a reference without being one.
_PAUSES = word_set(
    "- – — . , : ; um uh er erm dash hyphen minus then and is it's its that's it that so"
) | {"as in", "capital", "letter", "number", "again", "slash", "space", "followed", "by"}
_FEWEST_HEARD = 3  # fewer characters are no attempt at a reference
_LARGEST_DIGIT = 9
_LONGEST_LETTERS = 3  # letters in lower case that are no word: "abc123", but not "7-alpha"
_MOST_READINGS = 4096


def hear_reference(
    utterance: Utterance,
    *,
    request: BookingRequest,
    asked: Asked,
    hotel: Hotel,
    turn: int,
) -> Found:
    """What a turn says of a booking reference.

    Homophones ("for" for 4) count only where a reference is expected: it was asked for, or the
    turn says that one comes. Elsewhere only a reference written in one piece is taken.

    Args as for `agent.booking.dates.hear_dates`.
    """
    written = _written_in_one(utterance, hotel)
    if written is not None:
        return _found(utterance, request, turn, *written)
    cues = utterance.find(_CUES)
    expected = asked.about(Field.REFERENCE) or (
        asked.at_large and request.reference is not None and not cues
    )
    if not cues and not expected:
        return Found()
    runs = [
        run
        for run in _runs(utterance, cues[-1][1] + 1 if cues else 0)
        if not negated(utterance, run[0].first)
    ]
    for run in reversed(runs):
        reading = _reading(run, hotel)
        if reading is not None:
            return _found(utterance, request, turn, run[0].first, run[-1].last, reading)
    attempts = [run for run in runs if _is_attempt(run)] if cues or not asked.at_large else []
    if not attempts and cues and runs and _is_announced(utterance, cues[-1][1], runs[0]):
        attempts = runs[:1]
    if not attempts:
        return Found()
    run = max(attempts, key=len)
    heard = "".join(unit.options[0] for unit in run)
    words = utterance.said(run[0].first, run[-1].last)
    problem = Problem(ProblemKind.REFERENCE_MALFORMED, Field.REFERENCE, words, value=heard)
    return Found(problems=(problem,), used=_tokens(run[0].first, run[-1].last))


def _found(
    utterance: Utterance, request: BookingRequest, turn: int, first: int, last: int, value: str
) -> Found:
    used = _tokens(first, last)
    if value == request.reference:
        return Found(used=used)
    change = Change(Field.REFERENCE, value, utterance.said(first, last), turn)
    return Found((change,), used=used)


def _tokens(first: int, last: int) -> frozenset[int]:
    return frozenset(range(first, last + 1))


def _written_in_one(utterance: Utterance, hotel: Hotel) -> tuple[int, int, str] | None:
    """A reference transcribed without a space, as "K74Q29" or "K7-4Q29"."""
    start = 0
    while start < len(utterance.tokens):
        end = start
        while end + 1 < len(utterance.tokens) and utterance.adjoins(end + 1):
            end += 1
        # A full stop adjoins the last word.
        last = end
        while last > start and not utterance.tokens[last].is_word:
            last -= 1
        pieces = [token.raw for token in utterance.tokens[start : last + 1]]
        words = any(
            piece.isalpha() and not piece.isupper() and len(piece) > _LONGEST_LETTERS
            for piece in pieces
        )
        value = "".join(piece for piece in pieces if piece not in "-–.").upper()
        mixed = any(char.isdecimal() for char in value) and any(char.isalpha() for char in value)
        if mixed and not words and hotel.is_reference(value) and not negated(utterance, start):
            return start, last, value
        start = end + 1
    return None


def _runs(utterance: Utterance, start: int) -> Iterator[list[Spelled]]:
    """The stretches of spelled units from a token on, with pauses inside them allowed."""
    run: list[Spelled] = []
    index = start
    while index < len(utterance.tokens):
        unit = spelled_at(utterance, index) or _ordinal_digit(utterance, index)
        if unit is not None and not _is_pronoun(utterance, index):
            run.append(unit)
            index = unit.last + 1
        elif utterance.words[index] in _PAUSES:
            index += 1
        else:
            if run:
                yield run
            run = []
            index += 1
    if run:
        yield run


def _is_pronoun(utterance: Utterance, index: int) -> bool:
    """Whether an "I" begins what the caller says next: "K 7 4. I arrive on Friday"."""
    following = utterance.word(index + 1)
    return (
        utterance.word(index) == "i"
        and following.isalpha()
        and following not in _PAUSES
        and spelled_at(utterance, index + 1) is None
    )


def _ordinal_digit(utterance: Utterance, index: int) -> Spelled | None:
    """A digit that the recogniser made a day of: "Mike 6th November"."""
    found = ordinal_at(utterance.words, index)
    if found is None or found[0] > _LARGEST_DIGIT or found[1] > 1:
        return None
    return Spelled(index, index, (str(found[0]),), doubtful=True)


def _reading(run: list[Spelled], hotel: Hotel) -> str | None:
    """What the units spell that the hotel's pattern allows, using as many of them as can be."""
    choices = [(*unit.options, "") if unit.doubtful else unit.options for unit in run]
    readings = ["".join(reading) for reading in islice(product(*choices), _MOST_READINGS)]
    fitting = [reading for reading in readings if hotel.is_reference(reading)]
    if fitting:
        return max(fitting, key=len)
    # Where no other reading fits, an "A" may be a misheard "eight".
    if any(unit.options == ("A",) for unit in run):
        eights = [replace(unit, options=("8",)) if unit.options == ("A",) else unit for unit in run]
        return _reading(eights, hotel)
    return None


def _is_attempt(run: list[Spelled]) -> bool:
    sure = [unit for unit in run if not unit.doubtful]
    return sum(len(unit.options[0]) for unit in sure) >= _FEWEST_HEARD


def _is_announced(utterance: Utterance, cue: int, run: list[Spelled]) -> bool:
    """Whether "the reference is" comes right before: then even one letter is an attempt."""
    between = utterance.words[cue + 1 : run[0].first]
    return "is" in between and not run[0].doubtful and all(word in _PAUSES for word in between)
