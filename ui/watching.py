"""The calls that go on, for however many pages look on: which there are, and what is known of each.

Nothing here waits: a page gets what is known, and what is not known yet is on its way.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import aiohttp
from livekit import api

from ui.observer import Observer
from ui.settings import Settings

if TYPE_CHECKING:
    from ui.room_watch import RoomWatch, Watched

LIST_S = 2.0  # for so long a list of calls is good enough
LIST_WITHIN_S = 2.0


@dataclass(frozen=True)
class GoingOn:
    """A call that goes on now."""

    room: str
    began: datetime


class Watching:
    """The calls of a room server, watched for all pages at once. Its methods wait for nobody."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._calls = Observer(self._list, max_age_s=LIST_S)
        self._lock = threading.Lock()
        self._watches: dict[str, RoomWatch] = {}

    def calls(self) -> list[GoingOn]:
        """The calls that go on, the newest first; none where the room server does not tell."""
        seen = self._calls.latest()
        return seen.value if seen else []

    def watch(self, room: str) -> Watched:
        """What is known of a call so far. Whoever asks first sends the observer there.

        The very first time it loads what the observer needs: keep that off an event loop.
        """
        # WebRTC takes 30 MB and a second to load, which a page that nobody watches on is spared.
        from ui.room_watch import RoomWatch

        with self._lock:
            self._watches = {
                name: one for name, one in self._watches.items() if not one.is_forgotten
            }
            watch = self._watches.get(room)
            if watch is None:
                watch = self._watches[room] = RoomWatch(self._settings, room)
        return watch.look()

    def _list(self) -> list[GoingOn]:
        rooms = asyncio.run(find_rooms(self._settings))
        going_on = [
            GoingOn(room.name, datetime.fromtimestamp(room.creation_time, UTC))
            for room in rooms
            # Agents and observers are not counted. It is up to five seconds old.
            if room.num_participants > 0
        ]
        return sorted(going_on, key=lambda call: call.began, reverse=True)


async def find_rooms(settings: Settings, *names: str) -> list[api.Room]:
    """The rooms that there are, of these names or all; none where the server does not tell."""
    try:
        async with (
            asyncio.timeout(LIST_WITHIN_S),
            api.LiveKitAPI(settings.room_url, settings.room_key, settings.room_secret) as server,
        ):
            found = await server.room.list_rooms(api.ListRoomsRequest(names=names))
    except (api.TwirpError, aiohttp.ClientError, TimeoutError, OSError):
        return []  # Stack says what is wrong with it
    return list(found.rooms)
