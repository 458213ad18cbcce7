"""`python -m agent instructions`: what the language model is told before every call.

Whoever runs the model can have it read this before the first call, which then does not wait for it.
"""

from __future__ import annotations

import json

from agent import wording
from agent.booking.hotel import Hotel, load_hotel
from agent.settings import Settings


def messages(hotel: Hotel) -> list[dict[str, str]]:
    """The messages that every request to the model begins with, as OpenAI's endpoints take them."""
    return [{"role": "system", "content": wording.instructions(hotel)}]


def main(settings: Settings) -> int:
    """Print them as JSON.

    Raises:
        HotelFileError: the hotel's file cannot be used.
    """
    hotel = load_hotel(settings.hotel, name_override=settings.hotel_name)
    print(json.dumps(messages(hotel), ensure_ascii=False))
    return 0
