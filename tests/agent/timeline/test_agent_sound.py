"""A reply is heard when its first audible sample is played, and not before."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from livekit import rtc

from agent.timeline.agent_sound import AgentSound
from agent.timeline.clock import CallClock
from tests.agent.timeline.loudspeaker import Loudspeaker

RATE = 24_000


class Playing:
    """A chain of outputs, and what it said of the sound in it."""

    def __init__(self) -> None:
        self.clock = CallClock()
        self.sink = Loudspeaker()
        self.audible_ms: list[float] = []
        self._audible = asyncio.Event()
        self.output = AgentSound(self.clock, self.sink, self._on_audible)

    def _on_audible(self, at_ms: float, speech: str | None) -> None:
        self.audible_ms.append(at_ms)
        self._audible.set()

    async def capture(self, ms: float, level: int) -> None:
        samples = np.full(round(ms * RATE / 1000), level, dtype=np.int16)
        await self.output.capture_frame(rtc.AudioFrame(samples.tobytes(), RATE, 1, len(samples)))

    async def told(self) -> float:
        """When the reply was first audible, once that was said."""
        await asyncio.wait_for(self._audible.wait(), 10)
        return self.audible_ms[0]

    def start(self) -> float:
        """The first frame is played; gives when, in milliseconds of the call."""
        now_ms = self.clock.now_ms()
        self.sink.on_playback_started(created_at=self.clock.wall_at(now_ms).timestamp())
        return now_ms


async def test_the_silence_that_a_voice_begins_with_is_no_sound() -> None:
    playing = Playing()
    await playing.capture(33, 0)  # no whole number of levels
    await playing.capture(27, 0)
    await playing.capture(100, 9000)
    started_ms = playing.start()
    assert playing.audible_ms == []
    assert await playing.told() == pytest.approx(started_ms + 60, abs=5)
    await playing.capture(100, 9000)
    await asyncio.sleep(0.01)
    assert len(playing.audible_ms) == 1


async def test_sound_that_comes_late_is_heard_when_it_comes() -> None:
    playing = Playing()
    await playing.capture(20, 0)
    playing.start()
    await asyncio.sleep(0.06)
    await playing.capture(50, 9000)
    came_ms = playing.clock.now_ms()
    assert await playing.told() == pytest.approx(came_ms, abs=5)


async def test_what_is_cut_off_before_it_sounds_is_never_heard_and_the_next_is() -> None:
    playing = Playing()
    await playing.capture(60, 0)
    await playing.capture(50, 9000)
    playing.start()  # nothing runs before the reply is cut off
    playing.output.flush()
    playing.sink.on_playback_finished(playback_position=0.02, interrupted=True)
    await asyncio.sleep(0.08)
    assert playing.audible_ms == []
    assert not playing.output.heard
    await playing.capture(50, 9000)
    started_ms = playing.start()
    assert await playing.told() == pytest.approx(started_ms, abs=5)
    assert playing.output.heard


async def test_what_is_held_back_is_heard_when_it_goes_on() -> None:
    playing = Playing()
    await playing.capture(500, 0)
    await playing.capture(50, 9000)
    started_ms = playing.start()
    playing.output.pause()
    paused_ms = playing.clock.now_ms()
    await asyncio.sleep(0.08)
    assert playing.audible_ms == []
    held_ms = playing.clock.now_ms() - paused_ms
    playing.output.resume()
    assert await playing.told() == pytest.approx(started_ms + 500 + held_ms, abs=5)
