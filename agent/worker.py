"""The LiveKit worker: takes a call, builds its parts, and never leaves a caller in silence."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import logging
import uuid
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from livekit.agents import AgentServer, AgentSession, JobContext, JobProcess, room_io, tokenize
from livekit.agents.worker import ServerEnvOption

from agent import notice
from agent.booking.hotel import Hotel, load_hotel
from agent.booking.keywords import keywords
from agent.booking.store import BookingStore, open_store
from agent.faults import Apologist
from agent.foresight import greeting, of_every_call
from agent.receptionist import Receptionist
from agent.session import Models, build_session
from agent.settings import Settings
from agent.speech.prepared import Shelf
from agent.speech.sentences import split
from agent.speech.sound_folder import SoundFolder
from agent.telemetry.call import CallTelemetry
from agent.timeline.caller_line import CallerLine
from agent.timeline.clock import CallClock
from agent.timeline.events import EventType
from agent.timeline.observer import SessionObserver
from agent.timeline.publisher import Publisher
from agent.timeline.recording import Recorder
from agent.timeline.timeline import Timeline
from agent.turns.silence import Patience
from agent.warm_up import WarmUp, load_slow_code

logger = logging.getLogger("agent.worker")


def create_server(settings: Settings) -> AgentServer:
    """The worker, not yet connected.

    Args:
        settings: valid settings of this process; jobs are processes of their own and read the
            same environment again.
    """
    sounds = TemporaryDirectory(prefix="hotel-voice-sounds-")
    atexit.register(sounds.cleanup)
    server = AgentServer(
        ws_url=settings.livekit_url,
        api_key=settings.livekit_api_key,
        api_secret=settings.livekit_api_secret.get_secret_value(),
        host=settings.worker_host,
        # In development a worker runs beside the stack's own, which has the port already.
        port=ServerEnvOption(dev_default=0, prod_default=settings.worker_port),
        # The default measure is CPU load: on two cores one call looks like a full worker.
        load_fnc=_CallLoad(settings.max_calls),
        load_threshold=0.99,
        num_idle_processes=1,
        initialize_process_timeout=30.0,
        setup_fnc=partial(prepare, sounds=Path(sounds.name)),
    )
    server.rtc_session()(answer_call)
    return server


class _CallLoad:
    """The share of this worker's calls that are taken; picklable, unlike a closure."""

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls

    def __call__(self, server: AgentServer) -> float:
        return len(server.active_jobs) / self._max_calls


@dataclass(frozen=True)
class Parts:
    """What a call is made of, loaded before there is a call."""

    settings: Settings
    hotel: Hotel
    store: BookingStore
    models: Models
    warm_up: WarmUp | None
    sounds: SoundFolder | None

    @classmethod
    def load(cls, sounds: Path | None) -> Parts:
        settings = Settings.load()
        hotel = load_hotel(settings.hotel, name_override=settings.hotel_name)
        # All are loaded on first use otherwise, and would hold up the loop in mid-call.
        importlib.import_module("openai.lib.streaming.chat")
        importlib.import_module("openai.resources.chat.completions.completions")
        tokenize.basic.hyphenate_word("reception")
        load_slow_code()
        folder = SoundFolder(sounds) if sounds and settings.makes_common_speech_ahead else None
        return cls(
            settings=settings,
            hotel=hotel,
            store=open_store(settings.database_url),
            models=Models.load(settings, keywords(frozenset(), hotel)),
            sounds=folder,
            warm_up=WarmUp(settings, folder) if folder is not None else None,
        )

    def warm_up_for_call(self) -> None:
        """Make the greeting now, and what else calls share while no call comes."""
        if self.warm_up is not None:
            self.warm_up.make_now(split(greeting(self.hotel)))
            self.warm_up.make_meanwhile(of_every_call(self.hotel))

    def shelf(self) -> Shelf:
        """The sound that is there when a call begins; reads files."""
        shelf = Shelf()
        if self.sounds is not None:
            for sentence in of_every_call(self.hotel):
                shelf.put(sentence, self.sounds.load(sentence))
        return shelf


def prepare(process: JobProcess, sounds: Path | None = None) -> None:
    """Load a job process's parts; what cannot be loaded is told to the caller who comes.

    Args:
        process: the one that this runs in.
        sounds: the folder in which one worker's job processes keep sentences' sound; None to make
            none beforehand.
    """
    process.userdata["telemetry"] = CallTelemetry.load()
    try:
        parts = process.userdata["parts"] = Parts.load(sounds)
        parts.warm_up_for_call()
    except Exception as error:
        logger.exception("a call's parts could not be loaded")
        process.userdata["parts"] = error


async def answer_call(ctx: JobContext) -> None:
    """One call, from the room's first moment to its last."""
    timeline = Timeline(CallClock())
    telemetry: CallTelemetry = ctx.proc.userdata["telemetry"]
    telemetry.listen(timeline)
    ctx.add_shutdown_callback(telemetry.aclose)
    publisher: Publisher | None = None
    in_room = not ctx.is_fake_job()
    if in_room:
        await ctx.connect()
        publisher = Publisher(timeline, ctx.room)
        publisher.start()
        ctx.add_shutdown_callback(publisher.aclose)
    try:
        await _hold_call(ctx, timeline)
    except Exception as error:
        logger.exception("the call could not be held")
        timeline.emit(
            EventType.COMPONENT_ERROR,
            component="session",
            message=f"the call could not be held ({type(error).__name__}); see the worker's log",
            recoverable=False,
        )
        if in_room:
            await notice.play(ctx.room)
        timeline.emit(EventType.CALL_ENDED, reason="error")
        ctx.shutdown("the call could not be held")


async def _hold_call(ctx: JobContext, timeline: Timeline) -> None:
    parts = ctx.proc.userdata["parts"]
    if isinstance(parts, Exception):
        raise parts
    assert isinstance(parts, Parts)
    if parts.warm_up is not None:
        parts.warm_up.stop()
    call_id = ctx.job.room.sid or f"console-{uuid.uuid4().hex[:12]}"
    ctx.log_context_fields = {"call_id": call_id}
    providers = parts.settings.describe_providers()
    timeline.emit(EventType.CALL_STARTED, call_id=call_id, providers=providers)
    if parts.settings.record_calls:
        Recorder(timeline, parts.settings.recordings).start(call_id)
    settings = parts.settings
    session = build_session(parts.models, barge_in=settings.barge_in)
    receptionist = Receptionist(
        call_id=call_id,
        hotel=parts.hotel,
        store=parts.store,
        timeline=timeline,
        today=date.today,
        reply_deadline_s=settings.reply_deadline_s,
        request=await asyncio.to_thread(parts.store.load, call_id),
        voice=parts.models.voice(await asyncio.to_thread(parts.shelf)),
        patience=Patience(settings.silence_prompt_s),
        hang_up=None if ctx.is_fake_job() else partial(_hang_up, ctx, session),
    )
    if ctx.is_fake_job():
        SessionObserver(timeline).attach(session)
        await session.start(receptionist)
        return
    caller = await ctx.wait_for_participant()
    line = CallerLine(timeline.clock, ctx.room, caller.identity)
    ctx.add_shutdown_callback(line.aclose)
    SessionObserver(timeline, line).attach(session)
    Apologist(session, ctx.room)
    await session.start(
        receptionist,
        room=ctx.room,
        # Only the caller's leaving ends the call, whoever else listens.
        room_options=room_io.RoomOptions(participant_identity=caller.identity),
    )


async def _hang_up(ctx: JobContext, session: AgentSession[None]) -> None:
    """End the call for the caller too: a telephone's line stays open as long as the room does."""
    await session.aclose()
    await ctx.delete_room()
    ctx.shutdown("the caller was silent")
