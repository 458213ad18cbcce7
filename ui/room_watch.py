"""One room's observer: what its agent tells of the call, whole from the beginning.

The observer is a participant of kind egress, which the agent never takes for a caller, and which
does not keep a room open. It hears nothing, and says nothing but asking for the snapshot.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
import time
from dataclasses import dataclass, replace
from datetime import timedelta

from livekit import api, rtc

from agent.timeline.events import SNAPSHOT_METHOD, TOPIC, Event, EventType
from ui.event_log import EventLog, read_snapshot
from ui.settings import Settings
from ui.watching import find_rooms

logger = logging.getLogger("ui.watching")

TOKEN_TTL = timedelta(minutes=2)  # to join with; LiveKit renews it in the room
UNWATCHED_S = 20.0  # for so long the observer stays when no page asks any more
SNAPSHOT_WITHIN_S = 5.0
# The agent may be in the room before it answers, and a request may be lost.
ASK_AGAIN_AFTER_S = (0.3, 0.7, 1.5, 3.0)


@dataclass(frozen=True)
class Watched:
    """What is known of a watched call.

    Args:
        legs: the events of each agent that had the call, in the order in which they came; the later
            ones are those of an agent that took over.
        is_over: nothing more will come.
        problem: why the call cannot be watched, for people; None if it can.
    """

    legs: tuple[tuple[Event, ...], ...] = ()
    is_over: bool = False
    problem: str | None = None


class RoomWatch:
    """One room's observer, with a thread and a loop of its own until nobody looks on."""

    def __init__(self, settings: Settings, room: str) -> None:
        self._settings = settings
        self._room_name = room
        self._asked_s = time.monotonic()
        self._logs: list[EventLog] = []
        self._seen = Watched()
        self._agent: str | None = None
        self._filling: asyncio.Task[None] | None = None
        self._has_left = False
        threading.Thread(target=self._run, daemon=True, name=f"watch {room}").start()

    @property
    def is_forgotten(self) -> bool:
        """Whether it is of no use any more: it has left, and nobody looks at what it knew."""
        return self._has_left and time.monotonic() - self._asked_s >= UNWATCHED_S

    def look(self) -> Watched:
        self._asked_s = time.monotonic()
        return self._seen

    def _run(self) -> None:
        try:
            asyncio.run(self._follow())
        except Exception:
            logger.exception("a call could not be watched")
            self._seen = replace(self._seen, problem="This call could not be watched.")
        finally:
            self._seen = replace(self._seen, is_over=True)
            self._has_left = True

    async def _follow(self) -> None:
        # Who joins a room that is not there makes it, and a worker would be sent to it.
        if not await find_rooms(self._settings, self._room_name):
            self._seen = Watched(problem="This call is over, or there is none of this name.")
            return
        room = rtc.Room()
        over = asyncio.Event()
        room.on("data_received", lambda packet: self._receive(room, packet))
        room.on("participant_connected", lambda one: self._adopt(room, one))
        room.on("participant_disconnected", lambda one: self._left(one, over))
        room.on("disconnected", lambda _reason: over.set())
        # What was sent while the connection was gone is not sent again.
        room.on("reconnected", lambda: self._fill(room, whole=True))
        try:
            await asyncio.wait_for(
                room.connect(
                    self._settings.room_url,
                    observer_token(self._settings, self._room_name),
                    rtc.RoomOptions(auto_subscribe=False),
                ),
                SNAPSHOT_WITHIN_S,
            )
        except (rtc.ConnectError, TimeoutError):
            self._seen = Watched(problem="The room server does not let this page watch.")
            return
        try:
            for participant in room.remote_participants.values():
                self._adopt(room, participant)
            while not over.is_set() and time.monotonic() - self._asked_s < UNWATCHED_S:
                try:
                    await asyncio.wait_for(over.wait(), 1.0)
                except TimeoutError:
                    continue
        finally:
            if self._filling:
                self._filling.cancel()
            await room.disconnect()

    def _adopt(self, room: rtc.Room, participant: rtc.RemoteParticipant) -> None:
        """Believe the first agent, and one that takes over when it has left."""
        if self._agent is None and participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            self._agent = participant.identity
            self._logs.append(EventLog())
            self._fill(room, whole=True)

    def _left(self, participant: rtc.RemoteParticipant, over: asyncio.Event) -> None:
        if participant.identity != self._agent:
            return
        self._agent = None
        if any(event.type is EventType.CALL_ENDED for leg in self._seen.legs for event in leg):
            over.set()

    def _receive(self, room: rtc.Room, packet: rtc.DataPacket) -> None:
        sender = packet.participant
        if packet.topic != TOPIC or sender is None or sender.identity != self._agent:
            return
        try:
            event = Event.from_json(packet.data)
        except ValueError:
            return  # of another version, or none
        self._add([event])
        self._fill(room, whole=False)

    def _add(self, events: list[Event]) -> None:
        self._logs[-1].add(events)
        self._seen = Watched(tuple(log.arrived for log in self._logs))

    def _fill(self, room: rtc.Room, *, whole: bool) -> None:
        """Ask for what is missing, or for all that came after what is known without a gap."""
        if not whole and not self._logs[-1].has_gap:
            return
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._ask_until_whole(room))

    async def _ask_until_whole(self, room: rtc.Room) -> None:
        for delay_s in ASK_AGAIN_AFTER_S:
            if await self._ask(room) and not self._logs[-1].has_gap:
                return
            await asyncio.sleep(delay_s)

    async def _ask(self, room: rtc.Room) -> bool:
        """Whether the agent answered, to the last page."""
        following: int | None = self._logs[-1].complete_to + 1
        while following is not None and self._agent is not None:
            first = following
            try:
                page = await room.local_participant.perform_rpc(
                    destination_identity=self._agent,
                    method=SNAPSHOT_METHOD,
                    payload=json.dumps({"from_seq": first}),
                    response_timeout=SNAPSHOT_WITHIN_S,
                )
                events, following = read_snapshot(page)
            except (rtc.RpcError, ValueError):
                return False
            self._add(events)
            if following is not None and following <= first:
                return False  # a page that does not lead on would be asked for without end
        return True


def observer_token(settings: Settings, room: str) -> str:
    """A token to look on in one room."""
    grants = api.VideoGrants(
        room_join=True,
        room=room,
        can_subscribe=True,
        can_publish=False,
        can_publish_data=True,  # asking for the snapshot travels as data
        can_update_own_metadata=False,
    )
    return (
        api.AccessToken(settings.room_key, settings.room_secret)
        .with_identity(f"observer-{secrets.token_urlsafe(6)}")
        .with_kind("egress")
        .with_grants(grants)
        .with_ttl(TOKEN_TTL)
        .to_jwt()
    )
