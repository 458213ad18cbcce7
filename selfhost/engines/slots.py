"""Which of llama.cpp's slots a conversation should go to, so that it finds its own words there.

llama.cpp keeps the last prompt of each slot and reads only what is new. Left alone, it sends a
request to the idle slot whose prompt is most alike; since all calls share long instructions, that
is the same slot for all of them, and they evict each other. When that slot is still busy with a
request that was given up, the next one goes to a slot that holds nothing, and reads the
instructions anew: six seconds on two cores.

Pure: which slot, from what each one holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Conversation:
    """A chat request's messages, as digests: enough to compare, and nobody's words.

    Args:
        messages: one digest a message, in order.
        instructions: how many of the first ones are the system's.
    """

    messages: tuple[str, ...] = ()
    instructions: int = 0

    @classmethod
    def of(cls, messages: Sequence[Any]) -> Conversation:
        """The conversation of a request's `messages`, whatever they are made of."""
        digests = tuple(
            hashlib.sha256(json.dumps(message, sort_keys=True).encode()).hexdigest()
            for message in messages
        )
        instructions = 0
        for message in messages:
            if not isinstance(message, dict) or message.get("role") not in ("system", "developer"):
                break
            instructions += 1
        return cls(digests, instructions)

    @property
    def prefix(self) -> str | None:
        """Names the standing instructions; None if there are none."""
        if not self.instructions:
            return None
        joined = "".join(self.messages[: self.instructions])
        return hashlib.sha256(joined.encode()).hexdigest()[:16]

    def shared_messages(self, other: Conversation) -> int:
        """How many messages both begin with."""
        shared = 0
        for mine, theirs in zip(self.messages, other.messages, strict=False):
            if mine != theirs:
                break
            shared += 1
        return shared


@dataclass(frozen=True)
class Slot:
    """One of the engine's slots.

    Args:
        holds: the conversation that it read last.
        is_busy: whether a request is in it.
        used_at_s: when a request last went there, on any clock that only grows.
    """

    number: int
    holds: Conversation = Conversation()
    is_busy: bool = False
    used_at_s: float = 0.0


def choose(slots: Sequence[Slot], conversation: Conversation) -> Slot | None:
    """The slot for a request.

    A slot with more of the conversation than its instructions is that call's own. Otherwise the
    one that was not used for longest: its call is the likeliest to be over.

    Returns:
        None if every slot is busy.
    """
    idle = [slot for slot in slots if not slot.is_busy]
    if not idle:
        return None

    def shared(slot: Slot) -> int:
        return conversation.shared_messages(slot.holds)

    best = max(idle, key=lambda slot: (shared(slot), slot.used_at_s))
    if shared(best) > conversation.instructions:
        return best
    return min(idle, key=lambda slot: slot.used_at_s)
