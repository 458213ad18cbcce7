"""The caller against a real room server and an agent whose delays are known."""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path

import numpy as np
import pytest
from livekit import rtc

from selfhost.load.caller import Caller, CallError, CallRecord, Line
from selfhost.load.ears import Samples, audible_spans, levels_dbfs
from selfhost.load.measure import measure, measure_recording
from selfhost.load.patience import Patience
from selfhost.load.recording import read_wav, stereo, write_wav
from selfhost.load.rooms import RoomServer
from selfhost.load.words import GREETING, last_booking, words_by_turn
from tests.selfhost.load.double import RATE, AgentDouble, Reply, tone

TOLERANCE_MS = 40.0
PATIENCE = Patience(answer_s=5.0, quiet_s=0.4)


@pytest.fixture
def room() -> str:
    return f"test-{secrets.token_hex(4)}"


class LoudFrames:
    """When loud frames passed in and out of this process: an instrument apart from the caller's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._at_s: dict[object, list[float]] = {}
        push, pull = rtc.AudioSource.capture_frame, rtc.AudioStream.__anext__

        async def stamped_push(source: rtc.AudioSource, frame: rtc.AudioFrame) -> None:
            self._note(source, frame)
            await push(source, frame)

        async def stamped_pull(stream: rtc.AudioStream) -> rtc.AudioFrameEvent:
            received = await pull(stream)
            self._note(stream, received.frame)
            return received

        monkeypatch.setattr(rtc.AudioSource, "capture_frame", stamped_push)
        monkeypatch.setattr(rtc.AudioStream, "__anext__", stamped_pull)

    def _note(self, end: object, frame: rtc.AudioFrame) -> None:
        if levels_dbfs(np.frombuffer(frame.data, dtype=np.int16), RATE).max() > -45.0:
            self._at_s.setdefault(end, []).append(time.perf_counter())

    def runs_s(self, kind: type, *, apart_from: object) -> list[tuple[float, float]]:
        """The first and the last moment of each run, at the caller's source or stream.

        Within a run, frames are ten milliseconds long and can only be seen late; the first moment
        is told by the frame that was seen with the least delay.
        """
        (moments,) = (
            at_s for end, at_s in self._at_s.items() if type(end) is kind and end is not apart_from
        )
        starts = [0, *(i for i in range(1, len(moments)) if moments[i] - moments[i - 1] > 0.2)]
        runs = [moments[i:j] for i, j in zip(starts, [*starts[1:], None], strict=True)]
        return [(min(s - 0.01 * i for i, s in enumerate(run)), run[-1]) for run in runs]


def recorded(record: CallRecord, path: Path) -> tuple[Samples, int]:
    write_wav(path, stereo(record.caller, record.agent), record.caller.sample_rate)
    return read_wav(path)


async def test_the_gap_in_the_recording_is_the_true_one(
    rooms: RoomServer, room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = LoudFrames(monkeypatch)
    delays_s = (0.6, 1.3, 0.9)
    replies = [Reply(delay_s, 0.5, "") for delay_s in delays_s]
    async with AgentDouble(rooms, room, replies, greeting=Reply(0.3, 0.5, "")) as agent:
        lines = [Line(tone(length, 600)) for length in (0.7, 0.4, 1.0)]
        record = await Caller(rooms, room, PATIENCE).hold(lines)
        spoken = frames.runs_s(rtc.AudioSource, apart_from=agent.source)
        _, *answers = frames.runs_s(rtc.AudioStream, apart_from=agent.stream)
    true_ms = [
        (onset_s - last_s) * 1000 for (onset_s, _), (_, last_s) in zip(answers, spoken, strict=True)
    ]
    sound, rate = recorded(record, tmp_path / "call.wav")
    turns = measure_recording(sound, rate, record.windows())
    gaps_ms = [turn.gap_ms for turn in turns]
    assert gaps_ms == pytest.approx(true_ms, abs=TOLERANCE_MS)
    live = measure(audible_spans(sound[:, 0], rate), record.agent_spans, record.windows())
    assert [turn.gap_ms for turn in live] == pytest.approx(true_ms, abs=TOLERANCE_MS)
    # The agent waited this long after it had heard the caller, so a shorter gap cannot be true.
    for gap_ms, delay_s in zip(gaps_ms, delays_s, strict=True):
        assert gap_ms is not None
        assert gap_ms > delay_s * 1000 - TOLERANCE_MS


async def test_words_and_booking_come_from_the_timeline_also_what_was_sent_before_the_join(
    rooms: RoomServer, room: str
) -> None:
    replies = [Reply(0.4, 0.4, "Two guests.", {"guests": 2}), Reply(0.4, 0.4, "", {"guests": 3})]
    greeting = Reply(0.1, 0.4, "Good evening.")
    async with AgentDouble(rooms, room, replies, greeting=greeting):
        record = await Caller(rooms, room, PATIENCE).hold([Line(tone(0.3)), Line(tone(0.3))])
    assert record.observed.first_missing_seq() is None
    assert record.observed.timeline[0].at_s is None  # was asked for
    words = words_by_turn(record.observed, record.windows())
    assert words[GREETING].answered == ["Good evening."]
    assert words[0].heard == ["a tone"]
    assert words[0].answered == ["Two guests."]
    assert words[0].partials_s[0] < words[0].finals_s[0]
    assert last_booking(record.observed) == {"guests": 3}


async def test_the_caller_lets_the_agent_finish(rooms: RoomServer, room: str) -> None:
    replies = [Reply(0.3, 1.5, ""), Reply(0.3, 0.3, "")]
    async with AgentDouble(rooms, room, replies, greeting=Reply(0.1, 1.0, "")):
        record = await Caller(rooms, room, PATIENCE).hold([Line(tone(0.3)), Line(tone(0.3))])
    greeting, answer, _ = record.agent_spans
    first, second = record.windows()
    assert first.start_s - greeting.end_s >= PATIENCE.quiet_s - 0.02  # two frames
    assert second.start_s - answer.end_s >= PATIENCE.quiet_s - 0.02


async def test_the_caller_can_break_in_and_sees_the_agent_yield(
    rooms: RoomServer, room: str
) -> None:
    replies = [Reply(0.4, 4.0, "A long reply."), Reply(0.5, 0.4, "Yes?")]
    async with AgentDouble(rooms, room, replies):
        lines = [Line(tone(0.3)), Line(tone(0.4), over_agent_ms=800)]
        record = await Caller(rooms, room, Patience(answer_s=1.0, quiet_s=0.4)).hold(lines)
    words = words_by_turn(record.observed, record.windows())
    assert words[1].interrupted
    assert words[0].answered == ["A long reply."]
    sound = stereo(record.caller, record.agent)
    first, second = measure_recording(sound, record.caller.sample_rate, record.windows())
    assert first.gap_ms is not None
    assert first.last_s is not None
    assert second.first_s == pytest.approx(first.last_s + first.gap_ms / 1000 + 0.8, abs=0.1)
    assert second.stop_ms is not None
    assert second.stop_ms < 1000
    assert second.gap_ms is not None
    assert not second.cut_in


async def test_a_turn_is_said_again_when_asked_for_twice_at_most(
    rooms: RoomServer, room: str
) -> None:
    async with AgentDouble(rooms, room, [Reply(0.3, 0.3, "Once more?")] * 3):
        line = Line(tone(0.2), again_when=["once MORE"], said_again=tone(0.5))
        record = await Caller(rooms, room, Patience(answer_s=1.0, quiet_s=0.4)).hold([line])
    assert record.turns == [0, 0, 0]
    said_s = [window.end_s - window.start_s for window in record.windows()]
    assert said_s == pytest.approx([0.2, 0.5, 0.5], abs=0.1)
    assert record.missed == set()


async def test_turns_without_an_answer_are_missed_and_end_the_call(
    rooms: RoomServer, room: str
) -> None:
    async with AgentDouble(rooms, room, [Reply(0.3, 0.3, "")]):
        lines = [Line(tone(0.3))] * 4
        record = await Caller(rooms, room, Patience(answer_s=1.0, quiet_s=0.4)).hold(lines)
    assert record.missed == {1, 2}
    assert len(record.utterances) == 3
    assert record.unspoken is not None
    assert "not answered" in record.unspoken


async def test_an_agent_that_leaves_ends_the_call(rooms: RoomServer, room: str) -> None:
    async with AgentDouble(rooms, room, [Reply(0.3, 0.3, "")] * 3) as agent:
        leaving: list[asyncio.Task[None]] = []

        def leave_at_the_second_turn(turn: int) -> None:
            if turn == 1:
                leaving.append(asyncio.create_task(agent.leave()))

        patience = Patience(answer_s=1.0, quiet_s=0.4)
        lines = [Line(tone(0.3))] * 3
        record = await Caller(rooms, room, patience).hold(lines, leave_at_the_second_turn)
    assert record.unspoken == record.hung_up == "the agent left the room"
    assert record.missed == {1}
    assert len(record.utterances) == 2


async def test_a_caller_says_no_more_to_an_agent_that_hangs_up(
    rooms: RoomServer, room: str
) -> None:
    async with AgentDouble(rooms, room, []) as agent:
        leaving: list[asyncio.Task[None]] = []
        silence = np.zeros(30 * RATE, dtype=np.int16)
        record = await asyncio.wait_for(
            Caller(rooms, room, Patience(answer_s=1.0, quiet_s=0.4)).hold(
                [Line(silence)], lambda _: leaving.append(asyncio.create_task(agent.leave()))
            ),
            20,
        )
    assert record.hung_up == "the agent left the room"
    assert len(record.utterances) == 1


async def test_an_agent_without_a_timeline_can_be_called(rooms: RoomServer, room: str) -> None:
    async with AgentDouble(rooms, room, [Reply(0.3, 0.3, "")], with_timeline=False):
        record = await Caller(rooms, room, Patience(answer_s=1.0, quiet_s=0.4)).hold(
            [Line(tone(0.3))]
        )
    assert record.missed == set()
    assert last_booking(record.observed) is None


async def test_a_room_without_an_agent_is_a_clear_error(rooms: RoomServer, room: str) -> None:
    with pytest.raises(CallError, match="no agent came"):
        await Caller(rooms, room, Patience(answer_s=0.3)).hold([Line(tone(0.3))])


async def test_no_room_server_is_a_clear_error() -> None:
    nobody = RoomServer("ws://127.0.0.1:9", "devkey", "s" * 32)
    with pytest.raises(CallError, match="python -m selfhost up"):
        await Caller(nobody, "room", PATIENCE).hold([Line(tone(0.3))])


async def test_a_wrong_key_is_a_clear_error_that_does_not_show_it(rooms: RoomServer) -> None:
    wrong = RoomServer(rooms.url, rooms.api_key, "wrong" * 8)
    with pytest.raises(CallError, match="LIVEKIT_API_KEY") as caught:
        await Caller(wrong, "room", PATIENCE).hold([Line(tone(0.3))])
    assert "wrongwrong" not in str(caught.value)
