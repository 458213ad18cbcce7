"""A transcript as words, each with its place in the text, so that evidence is in its own words.

Whisper's well-known inventions are taken out here: a word or phrase that loops, and the closing
lines of videos that it writes into silence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agent.booking.numbers import is_number_word

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:st|nd|rd|th)\b|\d+|[^\w\s]", re.IGNORECASE)

# What Whisper writes where nobody speaks: the ends of the videos that it was trained on.
_INVENTED = re.compile(
    r"(thank you|thanks)( so much| very much)? for (watching|listening|viewing)[.!]*"
    r"|(please )?(like and )?subscribe( to (my|the) channel)?[.!]*"
    r"|see you (in the )?next (time|video)[.!]*"
    r"|(sub)?titles? by[^.]*\.?"
    r"|\[[^\]]*\]|\([^)]*\)|[♪♫]+",
    re.IGNORECASE,
)
# Said this often in a row, a phrase is the recogniser's loop and not the caller's; a longer phrase
# is one when it comes twice, as it is not said twice by people but by a decoder that ran on.
_LOOP_LIMIT = 3
_LONG_LOOP_LIMIT = 2
_LONG_LOOP_WORDS = 3
_LONGEST_LOOP_WORDS = 16


@dataclass(frozen=True)
class Token:
    """One word, number or punctuation mark; `text` in lower case, `raw` as transcribed."""

    text: str
    raw: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.raw[0].isalnum()


@dataclass(frozen=True)
class Utterance:
    """What the recogniser wrote for one turn, and its tokens without what it invented."""

    text: str
    tokens: tuple[Token, ...]

    @classmethod
    def read(cls, text: str) -> Utterance:
        invented = [match.span() for match in _INVENTED.finditer(text)]
        tokens = [
            Token(match[0].lower().replace("’", "'"), match[0], *match.span())
            for match in _WORD.finditer(text)
            if not any(start <= match.start() < end for start, end in invented)
        ]
        return cls(text, tuple(_without_loops(tokens)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens' texts in lower case, punctuation included."""
        return tuple(token.text for token in self.tokens)

    @cached_property
    def plain(self) -> str:
        """The words in lower case joined by single spaces, without punctuation."""
        return " ".join(token.text for token in self.tokens if token.is_word)

    def word(self, index: int) -> str:
        """The token's text; empty outside the turn."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def said(self, first: int, last: int) -> str:
        """The caller's words from token `first` up to and including token `last`."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def adjoins(self, index: int) -> bool:
        """Whether token `index` follows the one before it without a space."""
        return index > 0 and self.tokens[index].start == self.tokens[index - 1].end

    def match(self, index: int, phrase: Sequence[str]) -> bool:
        return self.words[index : index + len(phrase)] == tuple(phrase)

    def find(self, phrases: Collection[str]) -> list[tuple[int, int]]:
        """Where any of these phrases stands: (first, last) token, the longest at each place.

        A phrase is words in lower case with single spaces; punctuation inside it, except for
        apostrophes, is not allowed for.
        """
        by_first = _by_first_word(tuple(phrases))
        found: list[tuple[int, int]] = []
        index = 0
        while index < len(self.tokens):
            candidates = by_first.get(self.words[index], ())
            hit = next((phrase for phrase in candidates if self.match(index, phrase)), None)
            if hit is None:
                index += 1
            else:
                found.append((index, index + len(hit) - 1))
                index += len(hit)
        return found


@lru_cache(maxsize=256)
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The phrases, split into words, by their first word; the longest first."""
    split = sorted((tuple(phrase.split()) for phrase in phrases), key=len, reverse=True)
    firsts = {phrase[0] for phrase in split}
    return {first: tuple(phrase for phrase in split if phrase[0] == first) for first in firsts}


def _without_loops(tokens: list[Token]) -> list[Token]:
    """The tokens with each looping phrase kept once, whatever punctuation comes between.

    Numbers and single letters may well be repeated by a caller ("four four four"), so a phrase of
    only those is left alone.
    """
    words = [place for place, token in enumerate(tokens) if token.is_word]
    texts = [tokens[place].text for place in words]
    dropped: set[int] = set()
    index = 0
    while index < len(words):
        length, repeated = _loop_at(texts, index)
        end = index + length + repeated
        if repeated:
            following = words[end] if end < len(words) else len(tokens)
            dropped.update(range(words[index + length], following))
        index = end
    return [token for place, token in enumerate(tokens) if place not in dropped]


def _loop_at(words: list[str], index: int) -> tuple[int, int]:
    """The phrase that starts here: its length in words, and how many words repeat it after."""
    for length in range(1, min(_LONGEST_LOOP_WORDS, (len(words) - index) // 2) + 1):
        phrase = words[index : index + length]
        if all(len(word) == 1 or word[0].isdecimal() or is_number_word(word) for word in phrase):
            continue
        end = index + length
        while words[end : end + length] == phrase:
            end += length
        limit = _LONG_LOOP_LIMIT if length >= _LONG_LOOP_WORDS else _LOOP_LIMIT
        if (end - index) // length >= limit:
            return length, end - index - length + _cut_off_repeat(words, end, phrase)
    return 1, 0


def _cut_off_repeat(words: list[str], start: int, phrase: list[str]) -> int:
    """How many words at the end of the turn begin the phrase once more, where it was cut off."""
    rest = words[start:]
    if not rest or len(rest) > len(phrase) or rest[:-1] != phrase[: len(rest) - 1]:
        return 0
    return len(rest) if phrase[len(rest) - 1].startswith(rest[-1]) else 0
