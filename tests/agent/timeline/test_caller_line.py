"""A caller's line in a real room: when it was last audible, and what its way adds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from livekit import api, rtc

from agent.timeline import network
from agent.timeline.caller_line import CallerLine
from agent.timeline.clock import CallClock
from tests.agent.conftest import KEY, SECRET

RATE = 24_000
QUIET, SPEECH = 18, 3000  # amplitudes: about −65 and −21 dBFS


async def join(url: str, identity: str) -> rtc.Room:
    room = rtc.Room()
    grants = api.VideoGrants(room_join=True, room="line")
    token = api.AccessToken(KEY, SECRET).with_identity(identity).with_grants(grants).to_jwt()
    await room.connect(url, token)
    return room


async def until(happened: Callable[[], bool]) -> None:
    for _ in range(400):
        if happened():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come")


class Microphone:
    """An open line: noise all the time, louder while `speaks`."""

    def __init__(self) -> None:
        self.source = rtc.AudioSource(RATE, 1, queue_size_ms=20)
        self.speaks = False

    async def run(self) -> None:
        noise = np.random.default_rng(0)
        while True:
            amplitude = SPEECH if self.speaks else QUIET
            frame = np.rint(noise.normal(0, amplitude, RATE // 100)).astype(np.int16)
            await self.source.capture_frame(rtc.AudioFrame(frame.tobytes(), RATE, 1, len(frame)))


async def test_the_worker_hears_when_the_caller_fell_silent_and_knows_both_ends(
    lonely_room_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "EVERY_S", 0.2)
    rooms = [await join(lonely_room_server, who) for who in ("worker", "caller", "stranger")]
    worker, caller, stranger = rooms
    clock, microphone = CallClock(), Microphone()
    line = CallerLine(clock, worker, "caller")
    assert (line.last_ms, line.network_ms) == (None, None)
    speaking = asyncio.create_task(microphone.run())
    try:
        track = rtc.LocalAudioTrack.create_audio_track("microphone", microphone.source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await caller.local_participant.publish_track(track, options)
        await until(lambda: line.network_ms is not None)
        assert line.last_ms is None

        began_ms = clock.now_ms()
        microphone.speaks = True
        await until(lambda: line.audible)
        microphone.speaks = False
        await until(lambda: not line.audible)
        assert line.last_ms is not None
        assert began_ms < line.last_ms < clock.now_ms()

        def tell(room: rtc.Room, end: network.End) -> asyncio.Future[None]:
            data = room.local_participant.publish_data(
                end.to_json(), topic=network.TOPIC, destination_identities=["worker"]
            )
            return asyncio.ensure_future(data)

        await tell(stranger, network.End(4000.0, 4000.0))
        await tell(caller, network.End(1000.0, 1500.0))
        await until(lambda: (line.network_ms or 0) > 2500)
        assert (line.network_ms or 0) < 8000
    finally:
        await line.aclose()
        speaking.cancel()
        for room in rooms:
            await room.disconnect()
