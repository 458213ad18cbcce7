"""A caller without a browser: joins a room, holds a scripted conversation, keeps what it heard."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from livekit import rtc

from agent.timeline import network
from agent.timeline.events import SNAPSHOT_METHOD, TOPIC
from selfhost.errors import SetupError
from selfhost.load.ears import FRAME_MS, Ear, Samples, Span, levels_dbfs
from selfhost.load.measure import Window
from selfhost.load.microphone import QUEUE_MS, Microphone, Utterance
from selfhost.load.observed import Observed, Segment
from selfhost.load.patience import Heard, Move, Patience, answer_onset_s, next_move
from selfhost.load.recording import Side
from selfhost.load.rooms import IDENTITY, RoomServer
from selfhost.load.voice import SAMPLE_RATE

CONNECT_TIMEOUT_S = 10.0
SNAPSHOT_TIMEOUT_S = 3.0
GLANCE_S = 0.02  # how often the caller thinks about speaking
UNANSWERED_TURNS = 2  # in a row, and the caller hangs up
MAX_AGAIN = 2  # how often a caller who is asked to says a turn again
TRANSCRIPTION_TOPIC = "lk.transcription"
STATE_ATTRIBUTE = "lk.agent.state"


class CallError(SetupError):
    """There is nobody to call; the text says what to do."""


@dataclass(frozen=True)
class Line:
    """A turn ready to be spoken: mono samples at 24 kHz, and when to begin.

    Where it is not to be `answered`, the caller waits for the agent to finish, and no longer.
    Where the agent's answer matches a pattern of `again_when`, the caller says `said_again`.
    """

    speech: Samples
    over_agent_ms: int | None = None
    answered: bool = True
    again_when: Sequence[str] = ()
    said_again: Samples | None = None


@dataclass
class CallRecord:
    """A call as the caller lived it. Times are seconds since the microphone was opened."""

    caller: Side
    agent: Side
    observed: Observed
    utterances: list[Utterance] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # which turn each utterance was
    over_agent: list[bool] = field(default_factory=list)
    missed: set[int] = field(default_factory=set)  # turns that were never answered
    unspoken: str | None = None  # why the caller did not come to the end of the script
    hung_up: str | None = None  # how the agent ended the call, if it did
    agent_spans: list[Span] = field(default_factory=list)  # as heard during the call
    opened_s: float = 0.0  # when the microphone was opened, on `time.perf_counter`'s clock

    def windows(self) -> list[Window]:
        """Where in the call each turn was pushed."""
        starts_s = self.caller.starts_s()
        return [
            Window(float(starts_s[u.first]), float(starts_s[u.end - 1]) + FRAME_MS / 1000, over)
            for u, over in zip(self.utterances, self.over_agent, strict=True)
        ]


class Caller:
    """One call. Made in a running event loop, for the room belongs to it; use `hold` once."""

    def __init__(self, server: RoomServer, room_name: str, patience: Patience) -> None:
        self._server = server
        self._room_name = room_name
        self._patience = patience
        self._room = rtc.Room(loop=asyncio.get_running_loop())
        self._ear = Ear()
        self._agent: rtc.RemoteParticipant | None = None
        self._agent_came = asyncio.Event()
        self._hung_up: str | None = None
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._record = CallRecord(Side(SAMPLE_RATE), Side(SAMPLE_RATE), Observed())

    def _clock(self) -> float:
        return time.perf_counter() - self._record.opened_s

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    async def hold(
        self, lines: Sequence[Line], on_turn: Callable[[int], None] = lambda _: None
    ) -> CallRecord:
        """Hold the whole conversation.

        Args:
            lines: the caller's turns, in order.
            on_turn: told the number of each turn as it begins.

        Raises:
            CallError: no room server, or no agent in the room.
        """
        self._listen_to_room()
        await self._connect()
        try:
            source = rtc.AudioSource(SAMPLE_RATE, 1, queue_size_ms=QUEUE_MS)
            self._record.opened_s = time.perf_counter()
            microphone = Microphone(source, self._clock)
            self._record.caller = microphone.line
            self._start(microphone.run())
            track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
            options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
            await self._room.local_participant.publish_track(track, options)
            await self._await_agent()
            await self._converse(microphone, lines, on_turn)
            await self._fetch_missing_events()
        finally:
            for task in self._tasks:
                task.cancel()
            results = await asyncio.gather(*self._tasks, return_exceptions=True)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._room.disconnect(), CONNECT_TIMEOUT_S)
        for result in results:
            if isinstance(result, Exception):
                raise result
        self._record.agent_spans = self._ear.spans
        return self._record

    async def _connect(self) -> None:
        try:
            await asyncio.wait_for(
                self._room.connect(self._server.url, self._server.token(self._room_name)),
                CONNECT_TIMEOUT_S,
            )
        except (TimeoutError, rtc.ConnectError) as error:
            reason = str(error).rpartition(": ")[2] or "no answer"
            raise CallError(
                f"no room could be joined at {self._server.url} ({reason}). Start "
                "the stack with `python -m selfhost up`, or set LIVEKIT_URL, LIVEKIT_API_KEY and "
                "LIVEKIT_API_SECRET to a room server that runs."
            ) from None
        for participant in self._room.remote_participants.values():
            self._meet(participant)

    async def _await_agent(self) -> None:
        try:
            await asyncio.wait_for(self._agent_came.wait(), self._patience.answer_s)
        except TimeoutError:
            raise CallError(
                f"no agent came into the room within {self._patience.answer_s:g} s. Is a worker "
                f"running for {self._server.url}? `python -m selfhost status` tells; "
                "`python -m agent start` starts one."
            ) from None

    # --- the conversation ---

    async def _converse(
        self, microphone: Microphone, lines: Sequence[Line], on_turn: Callable[[int], None]
    ) -> None:
        fell_silent_s = 0.0
        unanswered = again = index = 0
        before: Line | None = None
        while True:
            line = lines[index] if index < len(lines) else None
            over_agent_ms = line.over_agent_ms if line else None
            answered = await self._wait_to_speak(fell_silent_s, over_agent_ms, before)
            if before is not None and not answered:
                self._record.missed.add(index - 1)
            is_asked = before is not None and self._is_asked_again(before, fell_silent_s)
            again = again + 1 if is_asked and again < MAX_AGAIN else 0
            if before is not None and again:
                index, line, over_agent_ms = index - 1, before, None
            if line is None:
                break
            unanswered = 0 if answered or before is None else unanswered + 1
            if self._hung_up or unanswered >= UNANSWERED_TURNS:
                self._record.unspoken = self._hung_up or f"{unanswered} turns were not answered"
                break
            on_turn(index)
            speech = line.speech if not again or line.said_again is None else line.said_again
            self._record.utterances.append(await self._speak(microphone, speech))
            self._record.turns.append(index)
            self._record.over_agent.append(over_agent_ms is not None)
            fell_silent_s = self._clock()
            before, index = line, index + 1
        self._record.hung_up = self._hung_up

    def _is_asked_again(self, line: Line, since_s: float) -> bool:
        said = self._record.observed.said_since(since_s)
        return any(re.search(pattern, said, re.IGNORECASE) for pattern in line.again_when)

    async def _speak(self, microphone: Microphone, speech: Samples) -> Utterance:
        """Say a turn; where the agent hangs up meanwhile, the rest of it is for nobody."""
        saying = asyncio.ensure_future(microphone.speak(speech))
        over = asyncio.ensure_future(self._over.wait())
        await asyncio.wait({saying, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if not saying.done():
            microphone.break_off()
        return await saying

    async def _wait_to_speak(
        self, since_s: float, over_agent_ms: int | None, before: Line | None
    ) -> bool:
        """Wait for the moment to speak; returns whether the agent answered what was said before."""
        asks = before is None or before.answered
        while not self._hung_up:
            self._raise_if_broken()
            heard, now_s = self._heard(), self._clock()
            if over_agent_ms is not None:
                onset_s = answer_onset_s(heard, since_s, self._patience)
                if onset_s is not None and now_s >= onset_s + over_agent_ms / 1000:
                    return True
            match next_move(now_s, since_s, heard, self._patience, answered=asks):
                case Move.SPEAK if over_agent_ms is None:
                    return True
                case Move.GIVE_UP:
                    return False
            await asyncio.sleep(GLANCE_S)
        return not asks or answer_onset_s(self._heard(), since_s, self._patience) is not None

    def _heard(self) -> Heard:
        return Heard(
            spans=self._ear.spans,
            audible=self._ear.audible,
            state=self._record.observed.state,
            reply_pending=self._record.observed.reply_pending,
        )

    def _raise_if_broken(self) -> None:
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()):
                raise error

    # --- what comes from the room ---

    def _listen_to_room(self) -> None:
        room = self._room
        room.on("participant_connected", self._meet)
        room.on("track_subscribed", self._on_track)
        room.on("data_received", self._on_data)
        room.on("participant_attributes_changed", self._on_attributes)
        room.on("participant_disconnected", self._on_leave)
        room.on("disconnected", lambda *_: self._on_hang_up("the room was closed"))
        room.register_text_stream_handler(TRANSCRIPTION_TOPIC, self._on_text)

    def _meet(self, participant: rtc.RemoteParticipant) -> None:
        if self._agent is None and participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            self._agent = participant
            state = participant.attributes.get(STATE_ATTRIBUTE)
            self._record.observed.add_state(state, self._clock())
            self._agent_came.set()

    def _is_agent(self, participant: rtc.Participant | None) -> bool:
        return (
            self._agent is not None
            and participant is not None
            and participant.identity == self._agent.identity
        )

    def _on_track(self, track: rtc.Track, _: object, participant: rtc.RemoteParticipant) -> None:
        self._meet(participant)
        if track.kind == rtc.TrackKind.KIND_AUDIO and self._is_agent(participant):
            self._start(self._listen(track))
            self._start(self._tell_network(track))

    async def _listen(self, track: rtc.Track) -> None:
        stream = rtc.AudioStream(
            track, sample_rate=SAMPLE_RATE, num_channels=1, frame_size_ms=FRAME_MS
        )
        try:
            async for received in stream:
                at_s = self._clock()  # a loudspeaker would play the frame from now on
                frame = np.frombuffer(received.frame.data, dtype=np.int16)
                self._record.agent.add(frame, at_s)
                for level in levels_dbfs(frame, SAMPLE_RATE):
                    self._ear.hear(float(level), at_s)
        finally:
            await stream.aclose()

    async def _tell_network(self, track: rtc.Track) -> None:
        """Tell the agent what this end adds to a gap: it cannot see the caller's jitter buffer."""
        async for end in network.watch_end(track):
            if self._agent is not None and not self._hung_up:
                await self._room.local_participant.publish_data(
                    end.to_json(),
                    reliable=False,
                    destination_identities=[self._agent.identity],
                    topic=network.TOPIC,
                )

    def _on_data(self, packet: rtc.DataPacket) -> None:
        if packet.topic == TOPIC and self._is_agent(packet.participant):
            self._record.observed.add_packet(packet.data, self._clock())

    def _on_attributes(self, changed: dict[str, str], participant: rtc.Participant) -> None:
        if self._is_agent(participant) and STATE_ATTRIBUTE in changed:
            self._record.observed.add_state(changed[STATE_ATTRIBUTE], self._clock())

    def _on_leave(self, participant: rtc.RemoteParticipant) -> None:
        if self._is_agent(participant):
            self._on_hang_up("the agent left the room")

    def _on_hang_up(self, reason: str) -> None:
        self._hung_up = self._hung_up or reason
        self._over.set()

    def _on_text(self, reader: rtc.TextStreamReader, identity: str) -> None:
        self._start(self._read_text(reader, by_caller=identity == IDENTITY))

    async def _read_text(self, reader: rtc.TextStreamReader, *, by_caller: bool) -> None:
        attributes = reader.info.attributes or {}
        opened_s = self._clock()
        text = await reader.read_all()
        self._record.observed.segments.append(
            Segment(
                by_caller=by_caller,
                segment_id=attributes.get("lk.segment_id", reader.info.stream_id),
                text=text,
                final=attributes.get("lk.transcription_final") == "true",
                at_s=self._clock() if by_caller else opened_s,
            )
        )

    async def _fetch_missing_events(self) -> None:
        """Ask for events that were published before the caller could hear them."""
        asked = 0
        following = self._record.observed.first_missing_seq()
        while following is not None and following > asked and self._agent and not self._hung_up:
            asked = following
            try:
                page = await self._room.local_participant.perform_rpc(
                    destination_identity=self._agent.identity,
                    method=SNAPSHOT_METHOD,
                    payload=json.dumps({"from_seq": following}),
                    response_timeout=SNAPSHOT_TIMEOUT_S,
                )
                following = self._record.observed.add_snapshot(page)
            except (rtc.RpcError, ValueError):
                return  # an agent without a timeline, or without a snapshot of it
