"""What the four models do for one question: find passages, order them, take out what matters, word
an answer. A guest's question to a hotel, as the agent's own search would ask it."""

from __future__ import annotations

from dataclasses import dataclass

EMBEDDING = "minilm"
RERANKING = "minilm-maxsim"
EXTRACTION = "en-core-web-sm"
GENERATION = "qwen2.5-coder-0.5b-instruct"

ANSWER_TOKENS = 12
LABELS = ("person", "date", "number")

PASSAGES = (
    "Breakfast is served from seven to half past ten in the garden room, and is included.",
    "Check-in is from three in the afternoon; luggage can be left at the desk before that.",
    "Check-out is by eleven; a later one can be asked for at the front desk.",
    "Parking is in the garage under the hotel and cannot be reserved.",
    "Small dogs are welcome; other pets are not.",
    "The pool is open from six in the morning to nine in the evening.",
    "A suite has a separate living room and looks over the harbour.",
    "The central station is five minutes away on foot.",
)

_GUESTS = ("Sarah Johnson", "Peter Novak", "Maria Rossi", "David Miller", "Anna Weber")
_MONTHS = ("March", "May", "June", "September", "October")
_WISHES = (
    "when is breakfast",
    "can I bring my dog",
    "where can I park the car",
    "how late is the pool open",
    "until when must I leave the room",
    "how far is the station",
    "does the suite look over the harbour",
)


@dataclass(frozen=True)
class Question:
    """One guest's question; no two of a run are the same, so that nothing is answered from a
    cache of the last one."""

    number: int
    text: str

    def prompt(self) -> list[dict[str, str]]:
        """The messages for the generator."""
        facts = " ".join(PASSAGES)
        return [
            {"role": "system", "content": f"You answer for a hotel in one sentence. {facts}"},
            {"role": "user", "content": self.text},
        ]


def question(number: int) -> Question:
    """The question of that number, from 0."""
    guest = _GUESTS[number % len(_GUESTS)]
    month = _MONTHS[number // 2 % len(_MONTHS)]
    wish = _WISHES[number % len(_WISHES)]
    return Question(number, f"This is {guest}, I arrive on {month} {number % 27 + 1}: {wish}?")
