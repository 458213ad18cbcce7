"""What marks up a model's text: tags, markdown, roles, stage directions; data for `clean`."""

from __future__ import annotations

import re
import unicodedata

from agent.speech.phrases import any_of
from agent.speech.words import vocabulary

# What a model thinks or does rather than says.
SILENT_TAGS = vocabulary(
    "think thinking thought thoughts reasoning reflection analysis scratchpad tool tool_call "
    "tool_calls tool_response function function_call functioncall style script table"
)
TAG = re.compile(r"<(?P<close>/?)\s*(?P<name>[A-Za-z][\w-]*)[^<>]*?(?P<empty>/?)>")
HEADER = re.compile(r"<\|(?:im_start|start_header_id)\|>")  # the name of a role follows
# After one of these the model goes on in another's role.
END_TOKEN = re.compile(
    r"<\|(?:im_end|im_start|endoftext|end_of_text|eot_id|end|user|system|eom_id)\|>|</?s>|<eos>"
    r"|<end_of_turn>|<start_of_turn>",
    re.IGNORECASE,
)

# The start of a line.
_OWN_ROLES = "assistant agent ai bot receptionist front_desk response reply answer"
_OTHER_ROLES = "user caller guest human customer system instruction instructions"
_COLON = r"\s?[*_]*:[*_]*"
LINE_MARK = re.compile(
    r"#{1,6}\s|[-+•‣◦▪–—]\s|\d{1,2}[.)]\s|>|[-=_]{3,}(?=\n)"
    rf"|[*_]*{any_of(_OWN_ROLES)}{_COLON}",
    re.IGNORECASE,
)
OTHER_SPEAKS = re.compile(rf"[*_]*{any_of(_OTHER_ROLES)}{_COLON}", re.IGNORECASE)
_LIST_OR_RULE = re.compile(r"(?:#{1,6}|[-+•‣◦▪–—]|\d{1,2}[.)]?|[-=_]{2,})$")
_ROLE_PREFIXES = tuple(
    f"{role.replace('_', ' ')}{mark}"
    for role in f"{_OWN_ROLES} {_OTHER_ROLES}".split()
    for mark in (":", " :", "**:", "*:", "_:", "__:")
)

# What an actor does, in brackets or between stars.
_DIRECTION = re.compile(
    r"(?:(?:softly|warmly|gently|cheerfully|brightly|slowly|briefly|politely|a|an|the|short|slight|"
    r"long|brief|with|in)\s+)*"
    r"(?:smil|laugh|chuckl|giggl|paus|sigh|nod|wink|grin|bow|breath|typ|click|beep|silen|wait|"
    r"think|whisper|cough|"
    r"clear(?:s|ing) (?:\w+ )?throat|(?:hold )?music|check(?:s|ing)\b|look(?:s|ing)\b|"
    r"flip|listen|writ(?:es|ing)\b|hum(?:s|ming)\b|warm(?:ly)?\b|cheer|friendly|softly\b|gently\b|"
    r"polite|pleasant|enthusias|professional|calm|excite|happil|brightly\b|speak(?:s|ing)\b|"
    r"note(?:\s+to|:)|aside|ooc|end of|translation)",
    re.IGNORECASE,
)
_LONGEST_DIRECTION_WORDS = 6

EMOTICONS = frozenset((":)", ":-)", ":D", ":-D", ";)", ";-)", ":(", ":-(", ":P", ":-P"))


def may_become_line_mark(line: str) -> bool:
    """Whether the beginning of a line may still become a mark; then it is not speech yet."""
    if line in ("`", "``", "*", "**", "_", "__"):
        return True
    lowered = line.lower().lstrip("*_")
    return bool(_LIST_OR_RULE.match(line)) or any(
        prefix.startswith(lowered) and prefix != lowered for prefix in _ROLE_PREFIXES
    )


def is_direction(aside: str) -> bool:
    """Whether the words of an aside say how to act: "smiles warmly"."""
    return may_be_direction(aside) and bool(_DIRECTION.match(aside.strip()))


def may_be_direction(aside: str) -> bool:
    """Whether the beginning of an aside is short enough to become one."""
    return len(aside.split()) <= _LONGEST_DIRECTION_WORDS


def may_become_emoticon(text: str) -> bool:
    """Whether the beginning of `:-)` or `:smile:` stands here."""
    return any(face.startswith(text) for face in EMOTICONS) or (
        len(text) < 30 and bool(re.fullmatch(r":[a-z][a-z_]*", text))
    )


def is_emoticon(text: str) -> bool:
    return text in EMOTICONS or bool(re.fullmatch(r":[a-z][a-z_]*:", text))


def is_decoration(char: str) -> bool:
    """Whether the character has no sound: an emoji, its modifier, a control character."""
    if char.isascii():
        return not char.isprintable() and char not in "\n\t"
    if char == "°":
        return False
    if char in "\ufe0e\ufe0f\u20e3" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    return unicodedata.category(char) in ("So", "Cf", "Cc", "Co", "Cs", "Cn")
