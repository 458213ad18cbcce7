"""Whether a sentence gives the caller another room than they asked for."""

from __future__ import annotations

import re
from functools import lru_cache

from agent.speech.grounds import Grounds
from agent.speech.mentions import DateMention
from agent.speech.phrases import plain
from agent.speech.reading import mentions

# Offering ("a double or a twin?") and telling ("the suite is large") do not settle on a room.
_SETTLES = re.compile(
    r"\b(?:your|you(?:'d| would) like|you want(?:ed)?|you asked|you chose|booking|reservation|"
    r"request|noted|have you|got|check(?:ing)?[ -]in|"
    r"for (?:\w+ )?(?:guests?|nights?|adults?|people|persons?))\b"
)


def wrong_room(spoken: str, grounds: Grounds) -> str | None:
    """The words for a room type that is not the request's, where the sentence settles on it."""
    lowered = plain(spoken)
    named = {
        room_type: match.group()
        for room_type, words in grounds.room_types.items()
        if (match := _pattern((room_type, *words)).search(lowered))
    }
    own = grounds.request.room_type
    # Several are an offer or a choice, and so is one in a question while none is known.
    if len(named) != 1 or own in named:
        return None
    dated = any(isinstance(mention, DateMention) for mention in mentions(spoken))
    if not (dated or _SETTLES.search(lowered)):
        return None
    if own is None and lowered.endswith("?"):
        return None
    return next(iter(named.values()))


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    # "Let me double-check" is about no room.
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b(?!(?: |-)?check)")
