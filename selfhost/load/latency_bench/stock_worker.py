"""What a LiveKit user writes by the framework's guide: the baseline of the benchmark.

`python -m selfhost.load.latency_bench.stock_worker start`. The same endpoints and models as ours, a
plain prompt for the same hotel and the same job, and the plugins' defaults: the recogniser gets a
turn's sound once it is over, the model words the whole reply, and speech follows sentence by
sentence. It is given what the guide advises: the models are loaded before a call, a turn detector,
a reply prepared before the turn is surely over, and no booking to keep.

Turn detection and interruption are pinned to the local models, which the framework takes itself
under `start`.
"""

from __future__ import annotations

import logging
import os

from livekit.agents import (
    Agent,
    AgentServer,
    AgentSession,
    ConversationItemAddedEvent,
    JobContext,
    JobProcess,
    cli,
    inference,
)
from livekit.agents.llm import ChatMessage
from livekit.plugins import openai, silero

from selfhost.load.latency_bench.contestants import STOCK
from selfhost.load.latency_bench.stock_delays import DELAYS

INSTRUCTIONS = """\
You are the receptionist of Harbour View Hotel, on the phone, and take a booking request. Find out
the arrival and departure dates, the number of guests, the room type (single, double, twin, suite
or family) and the guest's name, one after another, asking only for what is still missing. Then
read the request back and ask whether it is right. The front desk confirms every request later, so
never say that anything is booked. Your answers are spoken: one short, plain sentence, two at most
when you read the request back, with no lists or symbols.
The hotel is at 12 Quay Street, on the harbour, five minutes' walk from the central station.
Check-in is from 3 p.m. Check-out is by 11 a.m.
Breakfast is served from 7 to 10:30 and is included.
Parking is in the garage under the hotel, for hotel guests, and cannot be reserved.
Wi-Fi is free in all rooms. Small dogs are welcome; other pets are not."""

logger = logging.getLogger("stock")


def prewarm(process: JobProcess) -> None:
    """Load the voice activity detector before a call, as the guide does."""
    process.userdata["vad"] = silero.VAD.load()


def load(server: AgentServer) -> float:
    """None: by the default measure, two busy cores are a full worker that takes no call."""
    return 0.0


server = AgentServer(
    setup_fnc=prewarm,
    load_fnc=load,
    host="127.0.0.1",
    port=int(os.environ.get("STOCK_WORKER_PORT", "8081")),
    initialize_process_timeout=30.0,
)


@server.rtc_session(agent_name=STOCK)
async def answer_call(ctx: JobContext) -> None:
    """One call."""
    models_url = os.environ["STOCK_MODELS_URL"]
    models_key = os.environ.get("MODEL_SERVER_API_KEY") or "local"
    session: AgentSession[None] = AgentSession(
        vad=ctx.proc.userdata["vad"],
        stt=openai.STT(
            model=os.environ["STOCK_STT_MODEL"], base_url=models_url, api_key=models_key
        ),
        llm=openai.LLM(
            model=os.environ["STOCK_LLM_MODEL"],
            base_url=os.environ["STOCK_LLM_URL"],
            api_key=os.environ.get("LLM_API_KEY") or "local",
        ),
        tts=openai.TTS(
            model=os.environ["STOCK_TTS_MODEL"],
            voice=os.environ["STOCK_TTS_VOICE"],
            base_url=models_url,
            api_key=models_key,
        ),
        turn_handling={
            "turn_detection": inference.TurnDetector(version="v1-mini"),
            "interruption": {"mode": "vad"},
        },
    )
    session.on("conversation_item_added", log_delays)
    await session.start(agent=Agent(instructions=INSTRUCTIONS), room=ctx.room)
    await ctx.connect()
    await session.generate_reply(instructions="Greet the caller and offer your assistance.")


def log_delays(event: ConversationItemAddedEvent) -> None:
    """Write down what the framework itself measured of a turn, as its guide shows."""
    if isinstance(event.item, ChatMessage):
        logger.info(DELAYS, extra={"role": event.item.role, "metrics": dict(event.item.metrics)})


if __name__ == "__main__":
    cli.run_app(server)
