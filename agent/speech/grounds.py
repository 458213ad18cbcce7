"""What a reply may say: the request's values and the hotel's facts, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from agent.booking.request import BookingRequest, Field


@dataclass(frozen=True)
class Grounds:
    """What may be said in one reply.

    Attributes:
        request: the booking request as it stands now; its values may be spoken, old ones may not.
        today: the hotel's date.
        facts: plain sentences about the hotel; their values may be spoken in their own context.
        hotel_names: the hotel's name and other names that belong to it.
        room_types: each room type's id and the words for it, in lower case.
        known: what must not be asked for again.
        instructions: the prompt, of which nothing may be read aloud.
        day_first: how a date in numbers is read ("03/04" as the third of April).
        said: sentences already spoken in this reply.
    """

    request: BookingRequest
    today: date
    facts: tuple[str, ...] = ()
    hotel_names: tuple[str, ...] = ()
    room_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: frozenset[Field] = frozenset()
    instructions: str = ""
    day_first: bool = False
    said: tuple[str, ...] = ()

    @property
    def nights(self) -> int | None:
        """The length of the stay, from its dates or as the caller gave it."""
        if self.request.check_in is None or self.request.check_out is None:
            return self.request.nights
        return (self.request.check_out - self.request.check_in).days
