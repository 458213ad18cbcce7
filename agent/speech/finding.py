"""What is wrong with a sentence that must not be spoken."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a sentence must not be spoken, in the order in which it is looked for."""

    NOT_SPEAKABLE = "not_speakable"  # code, a list, a placeholder, another language, an address
    LEAKED_INSTRUCTIONS = "leaked_instructions"  # its prompt, its thoughts, or what it is
    REPEATS = "repeats"  # said before in this reply, or a loop
    FALSE_CLAIM = "false_claim"  # booked, confirmed, changed, cancelled, held, available
    WRONG_DATE = "wrong_date"
    WRONG_NUMBER = "wrong_number"  # a count, a price, a time, a telephone number
    WRONG_REFERENCE = "wrong_reference"
    WRONG_NAME = "wrong_name"
    WRONG_ROOM = "wrong_room"  # another room type than the caller's
    UNKNOWN_FACT = "unknown_fact"  # says of the hotel what none of its facts says
    ALREADY_KNOWN = "already_known"  # asks for what the caller has said


@dataclass(frozen=True)
class Finding:
    """Why a sentence is not spoken.

    Attributes:
        reason: what kind of fault.
        words: the part of the sentence that shows it.
        sentence: the whole of it, as the model wrote it.
    """

    reason: Reason
    words: str
    sentence: str
