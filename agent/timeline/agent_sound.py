"""The agent's sound as it leaves the worker: when a reply is first audible.

Playing begins with the silence that a voice takes before its first word, so that a reply is heard
some time after its first frame was played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
from livekit import rtc
from livekit.agents.voice import io

from agent.timeline.audible import FRAME_MS, Ear, Samples, levels_dbfs
from agent.timeline.clock import CallClock
from agent.timeline.replies import speech_id


class AgentSound(io.AudioOutput):
    """Passes frames on to the room and says when the first audible one of a segment is played.

    Args:
        clock: the call's.
        sink: where the frames go.
        on_audible: told at about that moment when it is, in milliseconds of the call, and of which
            speech of the framework's; not told of a segment that ended before it was heard.
    """

    def __init__(
        self,
        clock: CallClock,
        sink: io.AudioOutput,
        on_audible: Callable[[float, str | None], None],
    ) -> None:
        super().__init__(
            label="AgentSound",
            next_in_chain=sink,
            sample_rate=sink.sample_rate,
            capabilities=io.AudioOutputCapabilities(pause=True),
        )
        self._clock = clock
        assert self.next_in_chain is not None
        self._sink = self.next_in_chain  # the framework may have put a link of its own between
        self._on_audible = on_audible
        self._begin_segment()

    def _begin_segment(self) -> None:
        self._ear = Ear(over_noise=False)
        self._captured_ms = 0.0
        self._rest: Samples = np.zeros(0, dtype=np.int16)  # too short yet for a level
        self._audible_after_ms: float | None = None  # from the segment's beginning
        self._captured_at_ms = 0.0  # when the audible frame was
        self._started_ms: float | None = None
        self._paused_ms: float | None = None
        self._speech: str | None = None
        self._telling: asyncio.TimerHandle | None = None
        self.heard = False
        """Whether anything of the present segment was audible."""

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Play a frame, after those before it."""
        await super().capture_frame(frame)
        if self._audible_after_ms is None:
            self._speech = speech_id()
            self._listen(frame)
        await self._sink.capture_frame(frame)

    def flush(self) -> None:
        """No more frames come in this segment."""
        super().flush()
        self._sink.flush()

    def clear_buffer(self) -> None:
        """End the segment where it has got to."""
        self._sink.clear_buffer()

    def pause(self) -> None:
        """Hold the segment where it has got to."""
        self._sink.pause()
        if self._telling is not None:
            self._paused_ms = self._clock.now_ms()
            self._stop_telling()

    def resume(self) -> None:
        """Go on with the segment."""
        if self._paused_ms is not None and self._started_ms is not None:
            self._started_ms += self._clock.now_ms() - self._paused_ms
            self._paused_ms = None
            self._tell_in_time()
        self._sink.resume()

    def on_playback_started(self, *, created_at: float) -> None:
        """The first frame of the segment is being played."""
        if self._started_ms is None:
            self._started_ms = self._clock.ms_at(created_at)
            self._tell_in_time()
        super().on_playback_started(created_at=created_at)

    def on_playback_finished(
        self,
        *,
        playback_position: float,
        interrupted: bool,
        synchronized_transcript: str | None = None,
    ) -> None:
        """The segment is over, played to its end or interrupted."""
        self._stop_telling()
        self._begin_segment()
        super().on_playback_finished(
            playback_position=playback_position,
            interrupted=interrupted,
            synchronized_transcript=synchronized_transcript,
        )

    def _listen(self, frame: rtc.AudioFrame) -> None:
        mono = np.frombuffer(frame.data, dtype=np.int16)[:: frame.num_channels]
        samples = np.concatenate((self._rest, mono))
        levels = levels_dbfs(samples, frame.sample_rate)
        self._rest = samples[len(levels) * frame.sample_rate * FRAME_MS // 1000 :]
        for level in levels:
            self._ear.hear(float(level), self._captured_ms)
            self._captured_ms += FRAME_MS
            if self._ear.sound is not None:
                self._audible_after_ms = self._ear.sound.start_ms
                self._captured_at_ms = self._clock.now_ms()
                self._tell_in_time()
                return

    def _tell_in_time(self) -> None:
        if self._started_ms is None or self._audible_after_ms is None:
            return
        # A voice that is slower than it is played has left a silence of its own.
        at_ms = max(self._started_ms + self._audible_after_ms, self._captured_at_ms)
        self._telling = asyncio.get_running_loop().call_later(
            max(0.0, at_ms - self._clock.now_ms()) / 1000, self._tell, at_ms
        )

    def _tell(self, at_ms: float) -> None:
        self._telling, self.heard = None, True
        self._on_audible(at_ms, self._speech)

    def _stop_telling(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
