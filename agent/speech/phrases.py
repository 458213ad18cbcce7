"""Lists of phrases to look for in a sentence, written one a line so that they can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PART = re.compile(r"\{([a-z_]+)\}")


def any_of(words: str) -> str:
    """A pattern for any of these words; "_" stands for the space within one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def phrases(text: str, parts: Mapping[str, str] | None = None) -> tuple[re.Pattern[str], ...]:
    """Read a list of phrases.

    Args:
        text: one phrase a line, a regular expression over lower-case text with single spaces and
            straight apostrophes; empty lines and lines that begin with "#" are left out.
        parts: what `{name}` stands for in a phrase.

    Raises:
        KeyError: a phrase names a part that is not there.
    """
    known = parts or {}
    lines = (line.strip() for line in text.splitlines())
    return tuple(
        re.compile(_PART.sub(lambda match: known[match[1]], line))
        for line in lines
        if line and not line.startswith("#")
    )


def any_phrase(text: str, parts: Mapping[str, str] | None = None) -> re.Pattern[str]:
    """The same list as one pattern that finds any of its phrases."""
    return re.compile("|".join(pattern.pattern for pattern in phrases(text, parts)))


def plain(text: str) -> str:
    """A text as phrases are written: in lower case, with straight apostrophes."""
    return text.lower().replace("’", "'")
