"""What GLiNER reads and what its scores mean, without the network itself.

Zaratiana et al., GLiNER: Generalist Model for Named Entity Recognition using Bidirectional
Transformer (NAACL 2024), sections 2.1 and 2.2: the asked labels go before the text, each span of
up to a fixed number of words gets a score for each label, and the best that do not overlap are
taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")

ENTITY_MARK = "<<ENT>>"
SEPARATOR = "<<SEP>>"


@dataclass(frozen=True)
class TextWord:
    """A word or sign, and where it stands, in characters."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class ScoredSpan:
    """Words `first` to `last`, both of them in it, and which of the labels it has."""

    first: int
    last: int
    label: int
    score: float


def words_of(text: str) -> list[TextWord]:
    return [TextWord(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def windows(words: int, longest: int, overlap: int) -> list[tuple[int, int]]:
    """Where a text of more words than the model reads at once is cut.

    Args:
        overlap: how many words two windows share, so that no span is cut in both.

    Returns:
        The first word of each window, and the first after it.
    """
    if words <= longest:
        return [(0, words)] if words else []
    starts = range(0, words - overlap, longest - overlap)
    return [(start, min(start + longest, words)) for start in starts]


def prompt(labels: Sequence[str]) -> list[str]:
    """What goes before the words of the text."""
    return [*(part for label in labels for part in (ENTITY_MARK, label)), SEPARATOR]


def word_marks(word_ids: Sequence[int | None], prompt_words: int) -> list[int]:
    """For each token the number of the word of the text that begins with it, from 1; else 0.

    Args:
        word_ids: which word each token is of, those of the prompt counted too; None for marks.
        prompt_words: how many words are the prompt's.
    """
    marks = []
    before: int | None = None
    for word in word_ids:
        begins = word is not None and word != before and word >= prompt_words
        marks.append(word - prompt_words + 1 if begins and word is not None else 0)
        before = word
    return marks


def all_spans(words: int, max_width: int) -> NDArray[np.int64]:
    """First and last word of every span, [words * max_width, 2], those that end too late too."""
    first = np.repeat(np.arange(words), max_width)
    return np.stack([first, first + np.tile(np.arange(max_width), words)], axis=1)


def above(
    logits: NDArray[np.float32], words: int, threshold: float, offset: int
) -> list[ScoredSpan]:
    """The spans whose score is higher than `threshold`.

    Args:
        logits: [words, max_width, labels], of one text.
        words: how many of the first are words and not filling.
        offset: added to the words' numbers.
    """
    scores = 1.0 / (1.0 + np.exp(-logits[:words].astype(np.float64)))
    found = []
    for first, width, label in np.argwhere(scores > threshold):
        if first + width < words:
            score = float(scores[first, width, label])
            found.append(
                ScoredSpan(int(first) + offset, int(first + width) + offset, int(label), score)
            )
    return found


def best_apart(spans: Sequence[ScoredSpan]) -> list[ScoredSpan]:
    """The spans with the highest scores of which no two share a word, in the text's order."""
    taken: list[ScoredSpan] = []
    for span in sorted(spans, key=lambda span: -span.score):
        if all(span.last < other.first or other.last < span.first for other in taken):
            taken.append(span)
    return sorted(taken, key=lambda span: span.first)
