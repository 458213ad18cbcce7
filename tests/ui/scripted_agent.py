"""An agent that does as it is told: it shows the page what a real one cannot be made to show.

It joins a real room as a participant of kind agent and keeps to the same contracts as the worker:
the timeline's topic and snapshot, LiveKit's transcription streams and agent state, and sound.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from livekit import api, rtc

from agent.booking.request import REQUIRED, Field
from agent.timeline.events import SNAPSHOT_METHOD, TOPIC, Event, EventType
from agent.timeline.publisher import snapshot
from tests.ui.recorded_calls import waterfall
from tests.ui.services import RoomServer

SAMPLE_RATE_HZ = 24_000
FRAME_S = 0.02


class ScriptedAgent:
    """One participant of kind agent; `events` is what its snapshot answers with."""

    def __init__(self, room: rtc.Room) -> None:
        self.room = room
        self.events: list[Event] = []
        self.snapshots_asked = 0
        self.chat: list[str] = []
        self._reading: set[asyncio.Task[None]] = set()
        self._source = rtc.AudioSource(SAMPLE_RATE_HZ, 1, queue_size_ms=200)

    @classmethod
    async def join(
        cls,
        rooms: RoomServer,
        room_name: str,
        *,
        identity: str = "agent-1",
        kind: str = "agent",
        listening: bool = True,
    ) -> ScriptedAgent:
        """Join a room.

        Args:
            rooms: the room server.
            room_name: the room.
            identity: the participant's.
            kind: "agent", or "standard" for a mere participant that plays the agent.
            listening: whether it answers requests for a snapshot from the start.
        """
        grants = api.VideoGrants(
            room_join=True, room=room_name, agent=kind == "agent", can_update_own_metadata=True
        )
        token = (
            api.AccessToken(rooms.key, rooms.secret)
            .with_identity(identity)
            .with_kind("agent" if kind == "agent" else "standard")
            .with_grants(grants)
        )
        room = rtc.Room()
        agent = cls(room)
        room.register_text_stream_handler("lk.chat", agent._on_chat)
        await room.connect(rooms.url, token.to_jwt())
        if listening:
            agent.answer_snapshots()
        if kind == "agent":
            track = rtc.LocalAudioTrack.create_audio_track("voice", agent._source)
            await room.local_participant.publish_track(track)
        return agent

    def answer_snapshots(self) -> None:
        self.room.local_participant.register_rpc_method(SNAPSHOT_METHOD, self._on_snapshot)

    async def _on_snapshot(self, request: rtc.RpcInvocationData) -> str:
        self.snapshots_asked += 1
        return snapshot(self.events, request.payload)

    def _on_chat(self, reader: rtc.TextStreamReader, _identity: str) -> None:
        async def read() -> None:
            self.chat.append(await reader.read_all())

        task = asyncio.create_task(read())
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def caller(self) -> rtc.RemoteParticipant:
        """The caller, once its microphone is there."""
        await self.until(
            lambda: any(one.track_publications for one in self.room.remote_participants.values())
        )
        return next(iter(self.room.remote_participants.values()))

    async def until(self, holds: Callable[[], bool], timeout_s: float = 10) -> None:
        """Wait for something to hold that the room tells of."""
        async with asyncio.timeout(timeout_s):
            while not holds():  # noqa: ASYNC110 - the room's state has no one event to wait for
                await asyncio.sleep(0.05)

    async def emit(
        self, kind: EventType, turn: int, *, publish: bool = True, **fields: Any
    ) -> Event:
        """Record an event and publish it; with `publish=False` only the snapshot will have it."""
        now = datetime.now(UTC)
        seq = len(self.events) + 1
        event = Event(seq, turn, kind, t_ms=seq * 100.0, wall=now, fields=fields)
        self.events.append(event)
        if publish:
            await self.room.local_participant.publish_data(
                event.to_json(), reliable=True, topic=TOPIC
            )
        return event

    async def state(self, state: str) -> None:
        """What the agent says that it is doing: listening, thinking or speaking."""
        await self.room.local_participant.set_attributes({"lk.agent.state": state})

    async def hear(
        self, turn: int, partials: Sequence[str], final: str, *, speech_to_final_ms: float | None
    ) -> None:
        """The caller's turn as the timeline tells it."""
        await self.emit(EventType.SPEECH_STARTED, turn)
        for partial in partials:
            await self.emit(EventType.PARTIAL_TRANSCRIPT, turn, text=partial)
        await self.emit(EventType.SPEECH_ENDED, turn)
        await self.emit(
            EventType.FINAL_TRANSCRIPT,
            turn,
            text=final,
            speech_to_final_ms=speech_to_final_ms,
            silence_to_final_ms=None,
        )

    async def book(
        self, turn: int, *changes: tuple[str, Any, Any], **values: str | int | None
    ) -> None:
        """The booking request as it now stands, and each (field, old, new) that led there."""
        await self.emit(
            EventType.BOOKING_UPDATED,
            turn,
            booking={**{field.value: None for field in Field}, **values},
            missing=[field for field in REQUIRED if values.get(field) is None],
            changes=[
                {"field": field, "old": old, "new": new, "words": "as said"}
                for field, old, new in changes
            ],
        )

    async def say(
        self,
        turn: int,
        text: str,
        *,
        final_to_speech_ms: float | None = None,
        gap_ms: float | None = None,
        parts: Mapping[str, float] | None = None,
        pace_s: float = 0.0,
        interrupted: bool = False,
    ) -> None:
        """A reply: its events, its words one by one, and a tone while it lasts.

        `parts` is what the gap was spent on, as far as it is known.
        """
        await self.emit(EventType.REPLY_STARTED, turn, source="code")
        await self.state("speaking")
        await self.emit(
            EventType.AGENT_SPEAKING,
            turn,
            final_to_speech_ms=final_to_speech_ms,
            gap_ms=gap_ms,
            waterfall=None if gap_ms is None or parts is None else waterfall(gap_ms, **parts),
        )
        tone = asyncio.create_task(self.tone(max(0.1, pace_s * len(text.split()))))
        writer = await self.begin_words()
        for word in text.split():
            await writer.write(f"{word} ")
            await asyncio.sleep(pace_s)
        await writer.aclose(attributes={"lk.transcription_final": "true"})
        await tone
        await self.emit(EventType.AGENT_STOPPED, turn, text=text, interrupted=interrupted)
        await self.state("listening")

    async def begin_words(self) -> rtc.TextStreamWriter:
        """A stream of the agent's words, as LiveKit's transcription sends them."""
        return await self.room.local_participant.stream_text(
            topic="lk.transcription",
            attributes={
                "lk.segment_id": f"SG_{len(self.events)}",
                "lk.transcription_final": "false",
            },
        )

    async def tone(self, duration_s: float, frequency_hz: float = 440.0) -> None:
        """A tone that swells and fades like speech, so that a level meter has something to show."""
        samples = int(SAMPLE_RATE_HZ * FRAME_S)
        for frame in range(int(duration_s / FRAME_S)):
            at_s = (np.arange(samples) + frame * samples) / SAMPLE_RATE_HZ
            swell = 0.5 - 0.5 * math.cos(2 * math.pi * 3 * frame * FRAME_S)
            wave = 0.3 * swell * np.sin(2 * np.pi * frequency_hz * at_s)
            data = (wave * 32767).astype(np.int16).tobytes()
            await self._source.capture_frame(rtc.AudioFrame(data, SAMPLE_RATE_HZ, 1, samples))

    async def leave(self) -> None:
        await self.room.disconnect()
