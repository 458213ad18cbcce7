"""A spoken text as words that can be read by position, numbers included."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.speech.words import ORDINALS, TENS, read_cardinal

_TOKEN = re.compile(r"[ap]\.m\.|[^\W\d_]+(?:['’][^\W\d_]+)*|[.,;:!?]", re.IGNORECASE)
_LONGEST_NUMBER_WORDS = 12


@dataclass(frozen=True)
class _Token:
    text: str  # in lower case
    raw: str
    start: int
    end: int


class Tokens:
    """The words and punctuation marks of a text; a hyphen parts words as a space does."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            _Token(match.group().lower().replace("’", "'"), match.group(), *match.span())
            for match in _TOKEN.finditer(text)
        ]

    def __len__(self) -> int:
        return len(self._tokens)

    def word(self, at: int) -> str:
        """The word in lower case, "" outside the text."""
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def raw(self, at: int) -> str:
        return self._tokens[at].raw if 0 <= at < len(self._tokens) else ""

    def span(self, first: int, after: int) -> tuple[str, int, int]:
        """The text from one word to before another, with its character offsets."""
        start, end = self._tokens[first].start, self._tokens[after - 1].end
        return self._text[start:end], start, end

    def cardinal(self, at: int) -> tuple[int, int] | None:
        """The number whose words begin here and the position after them."""
        said = read_cardinal(
            [token.text for token in self._tokens[at : at + _LONGEST_NUMBER_WORDS]]
        )
        return (said[0], at + said[1]) if said else None

    def ordinal(self, at: int) -> tuple[int, int] | None:
        """As `cardinal`, for "fourth" or "twenty-first"."""
        word, following = self.word(at), self.word(at + 1)
        if word in TENS and (unit := ORDINALS.get(following)) and unit < 10:
            return TENS[word] + unit, at + 2
        number = ORDINALS.get(word)
        return (number, at + 1) if number else None
