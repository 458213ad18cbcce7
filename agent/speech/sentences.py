"""Sentences out of a stream of text, each as soon as it is complete.

livekit-agents' two tokenizers were tried first. The one built on blingfire keeps "Yes. Sure." and
"3 p.m. Breakfast" together and cuts after "Mr."; the basic one cuts "J. R. Smith" and "No. 12"; and
what either makes of a prefix changes as more text comes. A reply is checked a sentence at a time,
so the cuts must be the same however the text was streamed.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterable

from agent.speech.clean import RETRACT
from agent.speech.words import MONTHS, WEEKDAYS, vocabulary

# No model means a sentence of this length; it is let go so that nobody waits for its end.
MAX_SENTENCE_CHARS = 400

_END = re.compile(r"[.!?…。！？]+[\"'”’)\]]*")
# Before a name or a number, so never the end of a sentence.
_TITLES = vocabulary("mr mrs ms dr prof sr fr vs e.g i.e approx capt lt")
# The end of a sentence only when the next word begins one.
_PERHAPS = vocabulary(
    "a.m p.m am pm no nos st ave rd blvd apt dept ext tel etc inc ltd co jr sr u.s u.k jan feb "
    "mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun hrs "
    "min"
)
_NAMES_OF_DAYS = frozenset(name.lower() for name in (*MONTHS, *WEEKDAYS))
_STARTERS = vocabulary(
    "a all also an and any are as at because before both breakfast but can check could did do "
    "does each everything for from great have he her here how i if in is it its just let may my "
    "no of on one or our parking perfect please shall she should so some sure thank thanks that "
    "the then there these they this those to was we what when where which while who will with "
    "would yes you your"
)


class SentenceSplitter:
    """The splitter's state over one reply.

    Args:
        limit: after this many sentences the rest is dropped.
    """

    def __init__(self, *, limit: int = 3) -> None:
        self._limit = limit
        self._pending = ""
        self._scanned = 0  # no sentence ends before this
        self._given = 0

    @property
    def done(self) -> bool:
        return self._given >= self._limit

    def feed(self, text: str) -> list[str]:
        """Take more text and return the sentences that it completed, trimmed, never empty."""
        self._pending += text
        if RETRACT in self._pending:
            self._pending = self._pending.rpartition(RETRACT)[2]
            self._scanned = 0
        return list(self._complete(ended=False))

    def finish(self) -> list[str]:
        """The text has ended: return what is left, its last sentence perhaps cut off."""
        sentences = list(self._complete(ended=True))
        if (tail := self._pending.strip()) and not self.done:
            sentences.append(tail)
            self._given += 1
        self._pending = ""
        return sentences

    def _complete(self, *, ended: bool) -> list[str]:
        sentences: list[str] = []
        while not self.done and (end := self._next_end(ended=ended)):
            sentence = self._pending[:end].strip()
            self._pending, self._scanned = self._pending[end:], 0
            if sentence:
                sentences.append(sentence)
                self._given += 1
        if self.done:
            self._pending = ""
        return sentences

    def _next_end(self, *, ended: bool) -> int:
        """Where the first sentence ends, or 0 while that cannot be told."""
        text = self._pending
        newline = text.find("\n")
        for match in _END.finditer(text, self._scanned):
            if newline >= 0 and match.start() > newline:
                break
            verdict = _ends_sentence(text, match, ended=ended)
            if verdict is None:
                self._scanned = match.start()
                return newline + 1
            if verdict:
                return match.end()
            self._scanned = match.end()
        if newline >= 0:
            return newline + 1
        if len(text) > MAX_SENTENCE_CHARS:
            return max(text.rfind(" ", 0, MAX_SENTENCE_CHARS), 0) or MAX_SENTENCE_CHARS
        return 0


def split(text: str) -> list[str]:
    """The sentences of a whole text, all of them, trimmed and never empty."""
    splitter = SentenceSplitter(limit=len(text) + 1)
    return splitter.feed(text) + splitter.finish()


def _ends_sentence(text: str, mark: re.Match[str], *, ended: bool) -> bool | None:
    """Whether a sentence ends at this mark; None when that depends on text still to come."""
    after = text[mark.end() :]
    if not after:
        return True if ended else None
    if not after[0].isspace():
        return _lacks_space(text, mark, after)
    before = text[: mark.start()].rsplit(maxsplit=1)
    word = (
        before[-1].lstrip("(\"'“‘[").lower()
        if before and not text[mark.start() - 1].isspace()
        else ""
    )
    marks = mark.group().rstrip("\"'”’)]")
    if marks == "." and word in _TITLES:
        return False
    unsure = marks == "." and (
        word in _PERHAPS or _is_initial(word) or _is_list_number(before, word)
    )
    if not unsure and not marks.endswith(("..", "…")):
        return True
    return _next_begins_sentence(after, word, marks, ended=ended)


def _lacks_space(text: str, mark: re.Match[str], after: str) -> bool | None:
    """ "Thanks!Which room" is two sentences; "3.30", "www.hotel.com" and "p.m." are not."""
    if mark.group()[0] in "!?。！？":
        return after[0].isalnum()
    word = text[: mark.start()].rsplit(maxsplit=1)[-1:]
    if not (after[0].isupper() and word and word[0].isalpha() and len(word[0]) > 2):
        return False
    if len(after) < 2:
        return None
    return after[1].islower() or after[1].isspace()


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def _is_list_number(before: list[str], word: str) -> bool:
    """A number with nothing before it counts an item: "1. The double room"."""
    return len(before) == 1 and word.isdigit() and len(word) < 3


def _next_begins_sentence(after: str, word: str, marks: str, *, ended: bool) -> bool | None:
    following = re.match(r"\s+([\"'“‘(]*)([^\W_]*)(\W?)", after)
    if not following or not following[2]:
        # Nothing but space so far, or a mark of another kind.
        return True if ended or (following and following[3].strip()) else None
    first = following[2]
    if not first[0].isupper() and not first[0].isdigit():
        return False
    if marks != ".":
        return True
    if word in ("no", "nos") and first[0].isdigit():
        return False
    if not following[3] and not ended:
        return None  # the word may still grow
    lowered = first.lower()
    if word in ("a.m", "p.m", "am", "pm", "etc", "inc", "ltd", "hrs", "min", "no", "nos"):
        return lowered not in _NAMES_OF_DAYS
    return lowered in _STARTERS and not _is_list_number([word], word)


def is_cut_off(sentence: str) -> bool:
    """Whether a last sentence stops in its middle, as when a token limit was reached."""
    if re.search(r"[.!?…][\"'”’)\]]*$", sentence):
        return False
    return bool(_OPEN_END.search(sentence)) or sentence.count("(") > sentence.count(")")


_OPEN_END = re.compile(
    r"(?:[,;:–—-]|\b(?:a|an|the|of|for|and|or|to|in|on|at|with|from|by|is|are|was|will|would|can|could|"
    r"may|might|have|has|your|you|my|our|we|i|it|that|this|which|what|how|many|if|be|been|not|do|"
    r"does|'s|as|than|so|but|please|let|me|any|under|until|through|is your|like))\s*$",
    re.IGNORECASE,
)


async def sentences(chunks: AsyncIterable[str], *, limit: int = 3) -> AsyncGenerator[str, None]:
    """Split a text as it streams; at most `limit` sentences, the unfinished last one included."""
    splitter = SentenceSplitter(limit=limit)
    async for chunk in chunks:
        for sentence in splitter.feed(chunk):
            yield sentence
        if splitter.done:
            return
    for sentence in splitter.finish():
        yield sentence
