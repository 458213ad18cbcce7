"""One realtime session: events in, sound through the voice detector, decodes out and back."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from fastapi import WebSocket, WebSocketDisconnect
from numpy.typing import NDArray

from selfhost.server.errors import ApiError
from selfhost.server.metrics import Metrics
from selfhost.server.realtime import events
from selfhost.server.realtime.buffer import SoundBuffer
from selfhost.server.realtime.config import SessionConfig, updated
from selfhost.server.realtime.lag import Lag
from selfhost.server.realtime.utterances import DecodeRequest, Kind, Utterances
from selfhost.server.residency.entry import Job
from selfhost.server.residency.pool import Pool
from selfhost.server.scheduling import Priority
from selfhost.server.transcription.activity import VoiceDetector
from selfhost.server.transcription.audio import Resampler
from selfhost.server.transcription.model import TranscriptionModel
from selfhost.server.transcription.whisper import SAMPLE_RATE_HZ, Audio, Hints

log = logging.getLogger(__name__)

PRIORITIES = {
    Kind.FINAL: Priority.FINAL,
    Kind.SPECULATIVE: Priority.SPECULATIVE,
    Kind.PARTIAL: Priority.BACKGROUND,
}
# Of sound that is heard at once, without the executor: it takes less than a millisecond, and on a
# crowded machine the ways there and back, fifty times a second, would take longer than the sound.
SHORT_S = 0.1
MAX_UNDECODED_S = 120  # of sound; beyond it the client is read no faster than it is decoded
MAX_UNSENT = 256  # events that a client may leave unread before it is given up


class Connection:
    """Serves one WebSocket until its client leaves. Holds its model for as long as it is open.

    Args:
        socket: accepted before it is served.
        executor: runs the resampler and the voice detector where much sound comes at once, so
            that it does not hold up the event loop.
    """

    def __init__(
        self,
        socket: WebSocket,
        pool: Pool,
        metrics: Metrics,
        executor: Executor,
        config: SessionConfig,
    ) -> None:
        self._socket = socket
        self._pool = pool
        self._held = AsyncExitStack()
        self._metrics = metrics
        self._executor = executor
        self._config = config
        self._id = f"sess_{uuid.uuid4().hex[:20]}"
        self._sound = SoundBuffer()
        self._resampler = Resampler(config.rate_hz)
        self._detector = VoiceDetector()
        self._utterances = Utterances(events.new_item_id, config.vad)
        self._outbox: asyncio.Queue[events.Event] = asyncio.Queue(MAX_UNSENT)
        self._tasks: dict[asyncio.Task[None], DecodeRequest] = {}
        self._decoded = asyncio.Event()
        self._stalled = asyncio.Event()
        self._committed_at: dict[str, float] = {}
        self._lag = Lag()
        self._language: str | None = None

    async def hold(self, model: str) -> TranscriptionModel:
        """Keep `model` loaded, and let go of the one before.

        Raises:
            ApiError: there is no such model, or it cannot be loaded in time.
        """
        async with AsyncExitStack() as fresh:
            loaded: TranscriptionModel = await fresh.enter_async_context(
                self._pool.use(model, Job.TRANSCRIPTION)
            )
            await self._held.aclose()
            self._held = fresh.pop_all()
        return loaded

    async def release(self) -> None:
        """Let go of the model."""
        await self._held.aclose()

    async def serve(self) -> None:
        """Answer events until the client leaves; its unfinished work goes with it."""
        self._send(events.session("session.created", self._id, self._settings()))
        writer = asyncio.create_task(self._write())
        reader = asyncio.create_task(self._read())
        stalled = asyncio.create_task(self._stalled.wait())
        try:
            await asyncio.wait((writer, reader, stalled), return_when=asyncio.FIRST_COMPLETED)
        finally:
            pending = [writer, reader, stalled, *self._tasks]
            for task in pending:
                task.cancel()
            for outcome in await asyncio.gather(*pending, return_exceptions=True):
                if isinstance(outcome, Exception) and not isinstance(outcome, WebSocketDisconnect):
                    log.error("realtime session ended by a fault", exc_info=outcome)
            for name, count in self._utterances.speculations.items():
                self._metrics.speculations.labels(name).inc(count)
        if self._stalled.is_set():
            log.warning("realtime session ended: its client left %d events unread", MAX_UNSENT)
            await self._socket.close(1008, "events are not read")

    # -- in --------------------------------------------------------------------------------------

    async def _read(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            event: events.Event = {}
            try:
                text = message.get("text")
                if text is None:
                    raise ApiError(400, "Events are JSON text, not binary.", code="invalid_event")
                event = events.parse(text)
                await self._handle(event)
            except ApiError as problem:
                self._send(events.error(problem, event.get("event_id")))
            self._pump()

    async def _handle(self, event: events.Event) -> None:
        match event["type"]:
            case "input_audio_buffer.append":
                await self._hear(events.sound(event))
            case "input_audio_buffer.commit":
                self._send_all(self._utterances.commit())
            case "input_audio_buffer.clear":
                self._send_all(self._utterances.clear())
            case "session.update":
                await self._update(event.get("session"))
            case kind:
                raise ApiError(
                    400,
                    f"Unknown event {kind[:80]!r}; expected session.update or "
                    "input_audio_buffer.append, .commit or .clear.",
                    code="unknown_event",
                    param="type",
                )

    async def _update(self, session: Any) -> None:
        if not isinstance(session, dict):
            raise ApiError(
                400, "session: expected an object.", code="invalid_value", param="session"
            )
        config = updated(
            self._config, session, lambda name: self._pool.resolve(name, Job.TRANSCRIPTION)
        )
        model = await self.hold(config.model)
        model.check_language(config.hints.language)
        if config.rate_hz != self._config.rate_hz:
            self._resampler = Resampler(config.rate_hz)
        self._config = config
        self._utterances.set_vad(config.vad)
        self._send(events.session("session.updated", self._id, self._settings()))

    async def _hear(self, samples: NDArray[np.int16]) -> None:
        if len(samples) <= SHORT_S * self._config.rate_hz:
            probabilities = self._listen(samples)
        else:
            loop = asyncio.get_running_loop()
            probabilities = await loop.run_in_executor(self._executor, self._listen, samples)
        self._metrics.audio_seconds.labels("in").inc(len(samples) / self._config.rate_hz)
        self._lag.heard(self._sound.end, time.perf_counter())
        self._send_all(self._utterances.heard(probabilities))
        self._sound.forget_before(self._utterances.needed_from)
        self._lag.forget_before(self._utterances.needed_from)
        while len(self._sound) > MAX_UNDECODED_S * SAMPLE_RATE_HZ:
            self._pump()
            if not self._tasks:
                break
            self._decoded.clear()
            await self._decoded.wait()
            self._sound.forget_before(self._utterances.needed_from)

    def _listen(self, samples: NDArray[np.int16]) -> list[float]:
        resampled = self._resampler.push(samples)
        self._sound.append(resampled)
        return self._detector.push(resampled)

    # -- decodes ---------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Start the decode that is wanted next, and give up those that nobody needs any more."""
        while (wanted := self._utterances.next_request()) is not None:
            task = asyncio.create_task(self._decode(wanted))
            self._tasks[task] = wanted
            task.add_done_callback(lambda done: self._tasks.pop(done, None))
        for task, request in list(self._tasks.items()):
            if self._utterances.is_outdated(request):
                del self._tasks[task]
                self._utterances.abandoned(request)
                task.cancel()

    async def _decode(self, request: DecodeRequest) -> None:
        read_to = request.start

        def read() -> Audio:
            nonlocal read_to
            read_to = self._sound.end if request.end is None else request.end
            return self._sound.read(request.start, read_to)

        try:
            # Used, though the session holds it already: it may have changed its model meanwhile.
            async with self._pool.use(self._config.model, Job.TRANSCRIPTION) as model:
                decoded = await model.transcribe(
                    read,
                    self._hints(),
                    owner=self._id,
                    priority=PRIORITIES[request.kind],
                    kind=request.kind.value,
                    voiced_ms=request.voiced_ms,
                    draft=request.kind is Kind.PARTIAL,
                    prefix=request.prefix,
                    may_refuse=request.kind is not Kind.FINAL,
                )
            if request.kind is not Kind.PARTIAL and decoded.text:
                self._language = self._language or decoded.language
            if (lag_s := self._lag.decoded(read_to, time.perf_counter())) is not None:
                self._metrics.realtime_lag_seconds.observe(lag_s)
            told = self._utterances.decoded(request, decoded.text, read_to, decoded.avg_logprob)
        except ApiError as problem:
            told = self._utterances.failed(request, problem.message)
        except Exception:
            log.exception("a %s decode failed", request.kind)
            told = self._utterances.failed(request, "The model failed; the server's log says why.")
        self._decoded.set()
        self._send_all(told)
        self._pump()

    def _hints(self) -> Hints:
        """What the client told; and where it named no language, the one it spoke first: a short
        answer alone is too little to tell a language by."""
        hints = self._config.hints
        return hints if hints.language else replace(hints, language=self._language)

    # -- out -------------------------------------------------------------------------------------

    def _send(self, event: events.Event) -> None:
        try:
            self._outbox.put_nowait(event)
        except asyncio.QueueFull:
            self._stalled.set()

    def _send_all(self, told: list[events.Event]) -> None:
        for event in told:
            self._measure(event)
            if event["type"] == events.COMPLETED and not self._config.hints.language:
                event["languages"] = [{"code": self._language}] if self._language else []
            self._send(event)

    def _measure(self, event: events.Event) -> None:
        now = time.perf_counter()
        if event["type"] == events.COMMITTED:
            self._committed_at[event["item_id"]] = now
        elif event["type"] in (events.COMPLETED, events.FAILED):
            self._metrics.final_seconds.observe(now - self._committed_at.pop(event["item_id"]))
        elif event["type"] == events.DELTA and (waited_s := self._utterances.first_delta_s):
            self._metrics.first_partial_seconds.observe(waited_s)

    async def _write(self) -> None:
        while True:
            await self._socket.send_json(await self._outbox.get())

    def _settings(self) -> dict[str, Any]:
        config = self._config
        vad = None if config.vad is None else {"type": "server_vad"} | asdict(config.vad)
        transcription = {
            "model": config.model,
            "language": config.hints.language,
            "prompt": config.hints.prompt,
            "keywords": list(config.hints.keywords),
        }
        audio_input = {
            "format": {"type": "audio/pcm", "rate": config.rate_hz},
            "transcription": transcription,
            "turn_detection": vad,
        }
        return {"type": "transcription", "audio": {"input": audio_input}}
