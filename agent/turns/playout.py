"""The agent's sound on its way out, which can be held for a moment and goes on without a loss.

The room's own output can pause too, but then forgets what waited in its queue: a fifth of a second,
which may be half a date. So the sound is handed over here at the pace of speech, and what was
handed over but not yet heard is handed over again after a pause.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from livekit import rtc
from livekit.agents import utils
from livekit.agents.voice import io

# So much sound waits in the room's output, so that a busy loop is not heard.
LEAD_S = 0.15
PIECES_PER_SECOND = 20  # the room's output moves whole pieces of 50 ms
FRAMEWORK, FLOOR = "framework", "floor"


class Playout(io.AudioOutput):
    """An audio output in front of another one.

    Args:
        sink: the output that plays.
        clock: monotonic seconds.
    """

    def __init__(
        self, sink: io.AudioOutput, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(
            label="Playout",
            next_in_chain=sink,
            capabilities=io.AudioOutputCapabilities(pause=sink.can_pause),
        )
        assert self.next_in_chain is not None
        self._sink = self.next_in_chain  # which may stand before the one that was given
        self._clock = clock
        self._stream: utils.audio.AudioByteStream | None = None
        self._waiting: deque[rtc.AudioFrame] = deque()
        self._unheard: deque[rtc.AudioFrame] = deque()  # handed over, perhaps not played yet
        self._begun = False  # the sink has sound of this segment
        self._complete = False  # all of this segment's sound is here
        self._ended = True  # the sink knows that it is
        self._cut = False  # the rest of this segment is not wanted
        self._until_s = 0.0  # when the sink will have played what it was given
        self._held_by: set[str] = set()
        self._to_drop: rtc.AudioFrame | None = None
        self._handing_over = False
        self._clear_after = False
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def sample_rate(self) -> int | None:
        """The rate at which the sink wants its sound."""
        return self._sink.sample_rate

    @property
    def sounding(self) -> bool:
        """Whether the caller is hearing a reply, or would be if it were not held."""
        return self._begun and (bool(self._waiting) or not self._ended or self._queued_s() > 0)

    @property
    def remaining_s(self) -> float | None:
        """How much of the reply is still to be heard, in seconds; None while it is being made."""
        if not self._complete:
            return None
        return sum(frame.duration for frame in self._waiting) + self._queued_s()

    def hold(self) -> None:
        """Fall silent at once, until `release`."""
        if self.sounding:
            self._hold(FLOOR)

    def release(self) -> None:
        """Go on from where the caller stopped hearing."""
        self._release(FLOOR)

    def cut(self) -> None:
        """Let no more of this reply be heard; the framework, which gives it up, clears it soon."""
        self._cut = True
        self._waiting.clear()
        self._unheard.clear()

    # --- what the framework calls ---

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Take a frame of the reply, made faster than it is heard."""
        await super().capture_frame(frame)
        if self._stream is None:
            self._stream = utils.audio.AudioByteStream(
                frame.sample_rate, frame.num_channels, frame.sample_rate // PIECES_PER_SECOND
            )
        if self._complete or not self._begun:
            self._complete = self._ended = False
        if not self._cut:
            self._waiting.extend(self._stream.push(frame.data))
            self._wake()

    def flush(self) -> None:
        """The reply is whole."""
        super().flush()
        if self._stream is not None and not self._cut:
            self._waiting.extend(self._stream.flush())
        self._complete = True
        if self._ended:
            self._sink.flush()  # a reply without sound
        else:
            self._wake()

    def clear_buffer(self) -> None:
        """Fall silent for good: the rest of the reply is not wanted."""
        self.cut()
        if self._stream is not None:
            self._stream.clear()
        if self._handing_over:
            self._clear_after = True
        else:
            self._clear_sink()

    def pause(self) -> None:
        """Fall silent, for the framework."""
        self._hold(FRAMEWORK)

    def resume(self) -> None:
        """Go on, for the framework."""
        self._release(FRAMEWORK)

    def on_playback_finished(
        self,
        *,
        playback_position: float,
        interrupted: bool,
        synchronized_transcript: str | None = None,
    ) -> None:
        """The sink is done with the reply."""
        self._begun = self._cut = False
        self._until_s = 0.0
        self._unheard.clear()
        super().on_playback_finished(
            playback_position=playback_position,
            interrupted=interrupted,
            synchronized_transcript=synchronized_transcript,
        )

    def on_detached(self) -> None:
        """The session is over."""
        super().on_detached()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    # --- handing over ---

    def _queued_s(self) -> float:
        return max(0.0, self._until_s - self._clock())

    def _wake(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._hand_over())
        self._changed.set()

    async def _hand_over(self) -> None:
        while True:
            if self._to_drop is not None:
                frame, self._to_drop = self._to_drop, None
                await self._give(frame)
            elif self._held_by or not (self._waiting or (self._complete and not self._ended)):
                self._changed.clear()
                await self._changed.wait()
            elif self._waiting and (spare_s := self._queued_s() - LEAD_S) > 0:
                await asyncio.sleep(spare_s)
            elif self._waiting:
                frame = self._waiting.popleft()
                if await self._give(frame):
                    self._until_s = max(self._until_s, self._clock()) + frame.duration
                    self._unheard.append(frame)
                    while len(self._unheard) > PIECES_PER_SECOND:
                        self._unheard.popleft()
            elif (queued_s := self._queued_s()) > 1 / PIECES_PER_SECOND:
                # A reply that the sink takes for ended can no longer be held.
                await asyncio.sleep(queued_s - 1 / PIECES_PER_SECOND)
            else:
                self._ended = True
                self._sink.flush()

    async def _give(self, frame: rtc.AudioFrame) -> bool:
        """Hand a frame to the sink; returns whether it is still wanted."""
        self._handing_over = self._begun = True
        try:
            await self._sink.capture_frame(frame)
        finally:
            self._handing_over = False
        if self._clear_after:
            self._clear_after = False
            self._clear_sink()
            return False
        return True

    def _clear_sink(self) -> None:
        self._to_drop = None
        self._complete = True
        if self._begun:
            if not self._ended:
                self._ended = True
                self._sink.flush()
            self._sink.clear_buffer()
        elif not self._ended:
            self._ended = True
            self.on_playback_finished(playback_position=0.0, interrupted=True)
        else:
            self._cut = False

    # --- holding ---

    def _hold(self, by: str) -> None:
        already = bool(self._held_by)
        self._held_by.add(by)
        if already:
            return
        self._sink.pause()
        queued_s = self._queued_s()
        if not (self._begun and self._unheard) or self._ended or queued_s <= 0:
            return
        while self._unheard and queued_s > 0:
            frame = self._unheard.pop()
            queued_s -= frame.duration
            self._waiting.appendleft(frame)
        self._until_s = self._clock()
        # The room's output forgets its queue when the next frame finds it paused.
        self._to_drop = _silence_like(frame)
        self._wake()

    def _release(self, by: str) -> None:
        self._held_by.discard(by)
        if not self._held_by:
            self._sink.resume()
            self._changed.set()


def _silence_like(frame: rtc.AudioFrame) -> rtc.AudioFrame:
    samples = frame.sample_rate // PIECES_PER_SECOND
    return rtc.AudioFrame(
        bytes(2 * samples * frame.num_channels), frame.sample_rate, frame.num_channels, samples
    )
