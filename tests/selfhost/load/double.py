"""An agent that answers with tones after a known delay: what the caller's instrument is held to.

It joins as a participant of the agent kind, hears the caller through the room server, and stamps
what it pushes on the clock that the test reads too.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from livekit import api, rtc

from agent.timeline.events import SNAPSHOT_METHOD, TOPIC, Event, EventType
from selfhost.load.caller import STATE_ATTRIBUTE
from selfhost.load.ears import FRAME_S, Ear, levels_dbfs
from selfhost.load.rooms import IDENTITY, RoomServer

RATE = 24_000
FRAME = RATE // 100


def tone(duration_s: float, frequency_hz: float = 440.0, dbfs: float = -20.0) -> np.ndarray:
    """A sine with hard edges, so that its first and its last frame are as loud as the others."""
    t = np.arange(round(duration_s * RATE)) / RATE
    amplitude = 32767 * 10 ** (dbfs / 20) * np.sqrt(2)
    return (amplitude * np.sin(2 * np.pi * frequency_hz * t)).astype(np.int16)


@dataclass(frozen=True)
class Reply:
    """What to answer to the next turn: after how long, with how much sound, in which words."""

    delay_s: float
    sound_s: float
    text: str
    booking: dict[str, Any] | None = None


class AgentDouble:
    """Greets, then gives one reply after another, each when the caller has fallen silent."""

    def __init__(
        self,
        server: RoomServer,
        room: str,
        replies: Sequence[Reply],
        *,
        greeting: Reply | None = None,
        with_timeline: bool = True,
        silent_for_s: float = 0.25,
    ) -> None:
        self._server, self._room_name = server, room
        self._replies, self._greeting = list(replies), greeting
        self._with_timeline = with_timeline
        self._silent_for_s = silent_for_s
        self._room = rtc.Room()
        self.source = rtc.AudioSource(RATE, 1, queue_size_ms=20)
        self._tasks: list[asyncio.Task[None]] = []
        self._ear = Ear()
        self.stream: rtc.AudioStream | None = None
        self._frame_heard = asyncio.Event()
        self._events: list[Event] = []
        self._turn = 0
        self.pushed_s: list[float] = []  # when each tone's first frame was pushed

    async def __aenter__(self) -> Self:
        token = (
            api.AccessToken(self._server.api_key, self._server.api_secret)
            .with_identity("agent-double")
            .with_kind("agent")
            .with_grants(
                api.VideoGrants(
                    room_join=True, room=self._room_name, can_update_own_metadata=True, agent=True
                )
            )
            .to_jwt()
        )
        self._room.on("track_subscribed", self._on_track)
        await self._room.connect(self._server.url, token)
        track = rtc.LocalAudioTrack.create_audio_track("voice", self.source)
        await self._room.local_participant.publish_track(track, rtc.TrackPublishOptions())
        if self._with_timeline:
            self._room.local_participant.register_rpc_method(SNAPSHOT_METHOD, self._snapshot)
            await self._say_event(EventType.CALL_STARTED)  # before the caller can hear it
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._room.disconnect()

    async def leave(self) -> None:
        await self._room.disconnect()

    def _on_track(self, track: rtc.Track, _: object, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == IDENTITY:
            self._tasks += [
                asyncio.create_task(self._listen(track)),
                asyncio.create_task(self._converse()),
            ]

    async def _listen(self, track: rtc.Track) -> None:
        self.stream = rtc.AudioStream(track, sample_rate=RATE, num_channels=1)
        async for received in self.stream:
            frame = np.frombuffer(received.frame.data, dtype=np.int16)
            for level in levels_dbfs(frame, RATE):
                self._ear.hear(float(level), time.perf_counter())
            self._frame_heard.set()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._frame_heard.clear()
            await self._frame_heard.wait()

    async def _converse(self) -> None:
        if self._greeting is not None:
            await asyncio.sleep(self._greeting.delay_s)
            await self._reply(self._greeting)
        for reply in self._replies:
            self._turn += 1
            known = len(self._ear.spans)
            await self._until(lambda known=known: len(self._ear.spans) > known)
            await self._say_event(EventType.SPEECH_STARTED)
            await self._say_event(EventType.PARTIAL_TRANSCRIPT, text="a tone")
            await self._until(
                lambda: time.perf_counter() - self._ear.spans[-1].end_s >= self._silent_for_s
            )
            await self._say_event(EventType.FINAL_TRANSCRIPT, text="a tone")
            await asyncio.sleep(
                max(0.0, self._ear.spans[-1].end_s + reply.delay_s - time.perf_counter())
            )
            await self._reply(reply)

    async def _reply(self, reply: Reply) -> None:
        await self._set_state("speaking")
        await self._say_event(EventType.REPLY_STARTED, source="code")
        begun = len(self._ear.spans)
        frames = tone(reply.sound_s).reshape(-1, FRAME)
        next_s = time.perf_counter()
        self.pushed_s.append(next_s)
        interrupted = False
        for index, frame in enumerate(frames):
            if index == 1:
                await self._say_event(EventType.AGENT_SPEAKING)
            await self.source.capture_frame(rtc.AudioFrame(frame.tobytes(), RATE, 1, FRAME))
            next_s += FRAME_S
            await asyncio.sleep(max(0.0, next_s - time.perf_counter()))
            if len(self._ear.spans) > begun:  # the caller speaks over this: yield
                interrupted = True
                await self._say_event(EventType.INTERRUPTED)
                break
        if interrupted:
            # The turn that interrupted is answered like any other.
            self._ear = Ear()
        await self._say_event(EventType.AGENT_STOPPED, text=reply.text, interrupted=interrupted)
        if reply.booking is not None:
            await self._say_event(EventType.BOOKING_UPDATED, booking=reply.booking)
        await self._set_state("listening")

    async def _set_state(self, state: str) -> None:
        await self._room.local_participant.set_attributes({STATE_ATTRIBUTE: state})

    async def _say_event(self, kind: EventType, **fields: Any) -> None:
        if not self._with_timeline:
            return
        event = Event(
            seq=len(self._events) + 1,
            turn=self._turn,
            type=kind,
            t_ms=time.perf_counter() * 1000,
            wall=datetime.now(UTC),
            fields=fields,
        )
        self._events.append(event)
        await self._room.local_participant.publish_data(event.to_json(), reliable=True, topic=TOPIC)

    async def _snapshot(self, request: rtc.RpcInvocationData) -> str:
        first = json.loads(request.payload)["from_seq"]
        events = [json.loads(event.to_json()) for event in self._events[first - 1 :]]
        return json.dumps({"events": events, "next_seq": None})
