"""Where a sentence may be cut, so that its beginning is heard before its end is computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

_CLAUSE_END = re.compile(r"(?<=[,;:])\s+")

# In phonemes. A voice computes about 500 of them a second on one core, and speaks about 14.
MAX_PHONEMES = 220
MIN_FIRST_PHONEMES = 10  # a shorter piece sounds clipped
MIN_REST_PHONEMES = 15


def split_sentence(phonemes: str, *, starts_reply: bool) -> list[str]:
    """Cut a sentence at its clauses.

    Args:
        phonemes: one sentence with its punctuation.
        starts_reply: it is the first one, whose first clause is wanted soon.

    Returns:
        Pieces that together are the sentence: usually one. None is longer than MAX_PHONEMES, even
        where a text of hundreds of words has no punctuation: a voice takes time and memory by the
        square of a piece's length.
    """
    clauses = _CLAUSE_END.split(phonemes.strip())
    first: list[str] = []
    if starts_reply and len(clauses) > 1:
        rest = len(phonemes) - len(clauses[0])
        if len(clauses[0]) >= MIN_FIRST_PHONEMES and rest >= MIN_REST_PHONEMES:
            first, clauses = clauses[:1], clauses[1:]
    return [*first, *_joined(part for clause in clauses for part in cut(clause))]


def cut(phonemes: str, max_phonemes: int = MAX_PHONEMES) -> Iterator[str]:
    """What is too long to be spoken at once, in about equal parts: cut between words where it can
    be, or else anywhere."""
    while (parts := math.ceil(len(phonemes) / max_phonemes)) > 1:
        want = len(phonemes) // parts
        # The first gap from there on, or the last one before.
        at = phonemes.find(" ", want, max_phonemes + 1)
        at = at if at > 0 else phonemes.rfind(" ", 1, want)
        at = at if at > 0 else want
        yield phonemes[:at]
        phonemes = phonemes[at:].lstrip(" ")
    if phonemes:
        yield phonemes


def _joined(clauses: Iterable[str]) -> Iterator[str]:
    piece = ""
    for clause in clauses:
        if piece and len(piece) + len(clause) > MAX_PHONEMES:
            yield piece
            piece = clause
        else:
            piece = f"{piece} {clause}" if piece else clause
    if piece:
        yield piece
