"""The agent's sound can be held, and goes on without a loss; what is given up is heard no more.

It plays into the framework's own output to a room, which is not published to one: its source takes
the sound at the pace of speech all the same.
"""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from livekit import rtc
from livekit.agents.voice.room_io._output import _ParticipantAudioOutput

from agent.turns.playout import LEAD_S, Playout

RATE = 24_000
PIECE_S = 0.05


class Heard:
    """The pieces that leave the output, in order, without those that it forgot."""

    def __init__(self, source: rtc.AudioSource, monkeypatch: pytest.MonkeyPatch) -> None:
        self._source = source
        self._pushed: list[int] = []
        capture, clear = source.capture_frame, source.clear_queue

        async def push(frame: rtc.AudioFrame) -> None:
            self._pushed.append(int(np.frombuffer(frame.data, dtype=np.int16)[0]))
            await capture(frame)

        def forget() -> None:
            del self._pushed[len(self.played()) :]
            clear()

        monkeypatch.setattr(source, "capture_frame", push)
        monkeypatch.setattr(source, "clear_queue", forget)

    def played(self) -> list[int]:
        """All pieces that were begun."""
        queued = int(self._source.queued_duration / PIECE_S)
        return self._pushed[: len(self._pushed) - queued]

    def spoken(self) -> list[int]:
        """The same without silence."""
        return [piece for piece in self.played() if piece]


@pytest.fixture
async def output(monkeypatch: pytest.MonkeyPatch) -> tuple[Playout, Heard]:
    options = rtc.TrackPublishOptions()
    sink = _ParticipantAudioOutput(
        rtc.Room(), sample_rate=RATE, num_channels=1, track_publish_options=options
    )
    heard = Heard(sink._audio_source, monkeypatch)
    sink.subscribed.set_result(None)
    sink._forwarding_task = asyncio.create_task(sink._forward_audio())
    return Playout(sink), heard


def speech(seconds: float) -> rtc.AudioFrame:
    """Sound whose samples count its pieces from 1, so that a loss or a repeat is seen."""
    pieces = np.repeat(
        np.arange(1, round(seconds / PIECE_S) + 1, dtype=np.int16), round(RATE * PIECE_S)
    )
    return rtc.AudioFrame(pieces.tobytes(), RATE, 1, len(pieces))


async def test_a_reply_is_heard_whole_and_at_the_pace_of_speech(
    output: tuple[Playout, Heard],
) -> None:
    playout, heard = output
    assert not playout.sounding
    await playout.capture_frame(speech(0.5))
    assert playout.remaining_s is None
    playout.flush()
    await asyncio.sleep(0.1)
    assert playout.sounding
    assert playout.remaining_s is not None
    assert 0.2 < playout.remaining_s < 0.5
    finished = await asyncio.wait_for(playout.wait_for_playout(), 3)
    assert not finished.interrupted
    assert heard.played() == list(range(1, 11))
    assert not playout.sounding


async def test_what_was_held_goes_on_from_where_it_was_heard(
    output: tuple[Playout, Heard],
) -> None:
    playout, heard = output
    await playout.capture_frame(speech(1.0))
    playout.flush()
    for _ in range(2):
        await asyncio.sleep(0.25)
        playout.hold()
        await asyncio.sleep(PIECE_S)
        before = heard.spoken()
        await asyncio.sleep(LEAD_S + 0.1)
        assert heard.spoken() == before
        assert playout.sounding
        playout.release()
    await asyncio.wait_for(playout.wait_for_playout(), 3)
    spoken = heard.spoken()
    assert sorted(set(spoken)) == list(range(1, 21))  # nothing was lost
    assert len(spoken) <= 22  # what is said twice is shorter than a syllable


async def test_a_hold_outlasts_the_frameworks_own_pause(output: tuple[Playout, Heard]) -> None:
    playout, heard = output
    await playout.capture_frame(speech(0.5))
    playout.flush()
    await asyncio.sleep(0.1)
    playout.hold()
    playout.pause()
    playout.resume()
    await asyncio.sleep(0.1)
    before = heard.spoken()
    await asyncio.sleep(LEAD_S + 0.1)
    assert heard.spoken() == before
    playout.release()
    await asyncio.wait_for(playout.wait_for_playout(), 3)


async def test_what_was_cut_is_not_heard_though_the_framework_clears_it_later(
    output: tuple[Playout, Heard],
) -> None:
    playout, heard = output
    await playout.capture_frame(speech(1.0))
    await asyncio.sleep(0.2)
    playout.hold()
    await asyncio.sleep(0.1)
    playout.cut()
    playout.release()
    before = heard.spoken()
    await playout.capture_frame(speech(0.3))  # still being made
    await asyncio.sleep(0.2)
    playout.flush()
    playout.clear_buffer()
    finished = await asyncio.wait_for(playout.wait_for_playout(), 1)
    assert finished.interrupted
    assert heard.spoken() == before
    await playout.capture_frame(speech(0.2))
    playout.flush()
    await asyncio.wait_for(playout.wait_for_playout(), 1)
    assert heard.spoken() == [*before, 1, 2, 3, 4]


async def test_a_reply_that_is_given_up_before_its_first_sound_is_reported(
    output: tuple[Playout, Heard],
) -> None:
    playout, _ = output
    playout.pause()
    await playout.capture_frame(speech(0.2))
    playout.flush()
    playout.clear_buffer()
    finished = await asyncio.wait_for(playout.wait_for_playout(), 1)
    assert finished.interrupted
    assert not playout.sounding
