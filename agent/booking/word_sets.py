"""Sets of words, written as they are read."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """The words of a text, divided by white space."""
    return frozenset(words.split())
