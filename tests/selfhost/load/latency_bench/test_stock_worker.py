"""The stock pipeline, on the stack that the tests share: a baseline must work to be one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from selfhost.load.command import play, speak_turns
from selfhost.load.latency_bench.contestants import STOCK, stock
from selfhost.load.latency_bench.own_stack import OwnStack, worker
from selfhost.load.latency_bench.stock_delays import stages
from selfhost.load.patience import Patience
from selfhost.load.rooms import RoomServer
from selfhost.load.script import Script
from selfhost.ports import free_port
from tests.stack import Stack

QUESTION = Script.model_validate({"name": "question", "turns": [{"say": "Is breakfast included?"}]})


def test_the_stock_worker_takes_the_call_that_asks_for_it(stack: Stack, tmp_path: Path) -> None:
    room = RoomServer(stack.livekit_url, stack.api_key, stack.api_secret, STOCK)
    keys = {"LIVEKIT_API_KEY": room.api_key, "LIVEKIT_API_SECRET": room.api_secret}
    environment = {**stack.environment, **keys, "LIVEKIT_URL": room.url}
    own = OwnStack(room, environment, tmp_path, stack.supervisor_pid, "test", "whisper-base")
    contestant = stock(
        port=free_port(),
        models_url=own.models_url,
        generation_url=own.generation_url,
        transcription_model=own.transcription_model,
        model=own.language_model(),
    )
    lines = speak_turns(QUESTION, tmp_path, (own.models_url, ""))
    with worker(own, STOCK, contestant.command, contestant.environment) as taker:
        report = asyncio.run(
            play(QUESTION, lines, room, "for-stock", Patience(), None, lambda _: None)
        )
        said = taker.said()
    (turn,) = report.turns
    assert report.timeline == []  # our own worker, which takes every other call, has one
    assert report.greeting
    assert "breakfast" in turn.heard.lower()
    assert turn.answered
    assert turn.uncut_gap_ms is not None
    assert any("final_transcript" in stage for stage in stages(said))
