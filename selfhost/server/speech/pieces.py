"""Where a sentence may be cut, so that its beginning is heard before its end is computed."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
        Pieces that together are the sentence: usually one.
    """
    clauses = _CLAUSE_END.split(phonemes.strip())
    first: list[str] = []
    if starts_reply and len(clauses) > 1:
        rest = len(phonemes) - len(clauses[0])
        if len(clauses[0]) >= MIN_FIRST_PHONEMES and rest >= MIN_REST_PHONEMES:
            first, clauses = clauses[:1], clauses[1:]
    return [*first, *_joined(clauses)]


def _joined(clauses: list[str]) -> Iterator[str]:
    piece = ""
    for clause in clauses:
        if piece and len(piece) + len(clause) > MAX_PHONEMES:
            yield piece
            piece = clause
        else:
            piece = f"{piece} {clause}" if piece else clause
    if piece:
        yield piece
