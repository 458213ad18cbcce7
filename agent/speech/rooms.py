"""Whether a sentence gives the caller another room than they asked for."""

from __future__ import annotations

import re

from agent.speech.grounds import Grounds

_SETTLES = re.compile(
    r"\b(?:your|you'd like|you would like|you want(?:ed)?|you asked|you chose|booking|reservation|request|"
    r"noted|have you|got|for (?:\w+\s)?(?:guests?|nights?|adults?|people|persons?)|from|check(?:ing)?[ -]in)\b"
)


def wrong_room(spoken: str, grounds: Grounds) -> str | None:
    """The words for a room type that is not the request's, where the sentence settles on it.

    Offering ("a double or a twin?") and telling ("the suite has a sea view") are not settling.
    """
    lowered = spoken.lower().replace("’", "'")
    named: dict[str, str] = {}  # room type -> the words for it
    for room_type, synonyms in grounds.room_types.items():
        for synonym in sorted({room_type, *synonyms}, key=len, reverse=True):
            if re.search(rf"\b{re.escape(synonym)}\b(?!-?\s?check)", lowered):
                named[room_type] = synonym
                break
    own = grounds.request.room_type
    if not named or own in named or len(named) > 1 or not _SETTLES.search(lowered):
        return None
    if own is None and lowered.endswith("?"):
        return None
    return next(iter(named.values()))
