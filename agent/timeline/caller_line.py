"""The caller's line as the worker knows it: when it was last audible, and how long its way is.

It is heard on a stream of its own, for the session's is levelled first, which lifts the noise of a
quiet line to the level of speech.
"""

from __future__ import annotations

import asyncio

import numpy as np
from livekit import rtc

from agent.timeline.audible import FRAME_MS, Ear, levels_dbfs
from agent.timeline.clock import CallClock
from agent.timeline.network import TOPIC, Network
from agent.timeline.sample_clock import SampleClock

SAMPLE_RATE = 16_000
HANDED_OVER_MS = 50  # at a time: it is exact all the same, and the loop is woken less often


class CallerLine:
    """Watches the microphone of one participant, whenever there is one.

    Args:
        clock: the call's.
        room: joined.
        identity: whose microphone.
    """

    def __init__(self, clock: CallClock, room: rtc.Room, identity: str) -> None:
        self._clock = clock
        self._identity = identity
        self._ear = Ear(over_noise=True)
        self._network = Network()
        self._tasks: list[asyncio.Task[None]] = []
        room.on("track_subscribed", self._on_track)
        room.on("data_received", self._on_data)
        caller = room.remote_participants.get(identity)
        for publication in caller.track_publications.values() if caller else ():
            if publication.track is not None and caller is not None:
                self._on_track(publication.track, publication, caller)

    @property
    def audible(self) -> bool:
        """Whether sound goes on, or a pause that is no longer than one between words."""
        return self._ear.audible

    @property
    def last_ms(self) -> float | None:
        """When the last audible sound ended, in milliseconds of the call; None before any."""
        return self._ear.sound.end_ms if self._ear.sound else None

    @property
    def network_ms(self) -> float | None:
        """What the network adds to a gap, both ways; None if unknown."""
        return self._network.both_ways_ms(self._clock.now_ms() / 1000)

    async def aclose(self) -> None:
        """Watch no longer."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _on_track(
        self, track: rtc.Track, publication: rtc.TrackPublication, participant: rtc.Participant
    ) -> None:
        if (
            participant.identity != self._identity
            or publication.source != rtc.TrackSource.SOURCE_MICROPHONE
        ):
            return
        for task in self._tasks:
            task.cancel()
        self._tasks = [
            asyncio.create_task(self._listen(track)),
            asyncio.create_task(self._network.watch(track)),
        ]

    def _on_data(self, packet: rtc.DataPacket) -> None:
        if (
            packet.topic == TOPIC
            and packet.participant is not None
            and packet.participant.identity == self._identity
        ):
            self._network.caller_told(packet.data, self._clock.now_ms() / 1000)

    async def _listen(self, track: rtc.Track) -> None:
        stream = rtc.AudioStream(
            track, sample_rate=SAMPLE_RATE, num_channels=1, frame_size_ms=HANDED_OVER_MS
        )
        samples = SampleClock()
        try:
            async for received in stream:
                frame = np.frombuffer(received.frame.data, dtype=np.int16)
                levels = levels_dbfs(frame, SAMPLE_RATE)
                end_ms = samples.frame(len(levels) * FRAME_MS, self._clock.now_ms())
                for before_end, level in zip(range(len(levels), 0, -1), levels, strict=True):
                    self._ear.hear(float(level), end_ms - before_end * FRAME_MS)
        finally:
            await stream.aclose()
