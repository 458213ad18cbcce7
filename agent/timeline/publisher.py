"""Takes the timeline to the room: a reliable data topic, and a snapshot for who joins late."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence

from livekit import rtc

from agent.timeline.events import SNAPSHOT_METHOD, TOPIC, Event
from agent.timeline.timeline import Timeline

logger = logging.getLogger("agent.timeline")

# LiveKit bounds an RPC answer at 15 KiB; what does not fit is asked for with the next request.
SNAPSHOT_BYTES = 14_000


class Publisher:
    """Publishes each event once, in order, without ever holding up the call."""

    def __init__(self, timeline: Timeline, room: rtc.Room) -> None:
        self._timeline = timeline
        self._room = room
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Publish what has happened so far and everything from now on."""
        for event in self._timeline.events:
            self._queue.put_nowait(event)
        self._timeline.subscribe(self._queue.put_nowait)
        self._task = asyncio.create_task(self._publish())
        self._room.local_participant.register_rpc_method(SNAPSHOT_METHOD, self._on_snapshot)

    async def aclose(self) -> None:
        """Publish what is still queued, then stop."""
        self._queue.put_nowait(None)
        if self._task is not None:
            await self._task

    async def _publish(self) -> None:
        while (event := await self._queue.get()) is not None:
            try:
                await self._room.local_participant.publish_data(
                    event.to_json(), reliable=True, topic=TOPIC
                )
            except Exception as error:
                # The event stays in the snapshot, from which a reader fills its gap.
                logger.warning("event %d was not published: %s", event.seq, type(error).__name__)

    async def _on_snapshot(self, request: rtc.RpcInvocationData) -> str:
        return snapshot(self._timeline.events, request.payload)


def snapshot(events: Sequence[Event], request: str) -> str:
    """One page of the call so far.

    Args:
        events: the whole timeline, in order of `seq`.
        request: JSON, `{"from_seq": n}`; the first event wanted, 1 if left out.

    Returns:
        JSON, `{"events": […], "next_seq": n}`, where `next_seq` is the first event that did not
        fit, or null when this page is the last.

    Raises:
        rtc.RpcError: the request is not JSON of that shape.
    """
    try:
        first = int(json.loads(request or "{}").get("from_seq", 1))
    except (ValueError, TypeError, AttributeError):
        raise rtc.RpcError(
            rtc.RpcError.ErrorCode.APPLICATION_ERROR,
            'expected JSON like {"from_seq": 1}',
        ) from None
    lines: list[str] = []
    size = 0
    for event in events[max(0, first - 1) :]:
        line = event.to_json()
        size += len(line.encode()) + 1
        if lines and size > SNAPSHOT_BYTES:
            return f'{{"events":[{",".join(lines)}],"next_seq":{event.seq}}}'
        lines.append(line)
    return f'{{"events":[{",".join(lines)}],"next_seq":null}}'
