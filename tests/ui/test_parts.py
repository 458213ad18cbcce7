"""Each part of the stack as its own endpoints describe it; what it does not say is unknown."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from selfhost.ports import free_port
from tests.stack import Stack
from tests.ui.endpoints import answering, hanging
from ui.parts import (
    ANSWER_WITHIN_S,
    Metrics,
    Model,
    State,
    look_at_generation,
    look_at_model_server,
    look_at_room_server,
    look_at_worker,
    looks,
)
from ui.settings import Settings, StackSettings


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # away from a developer's own .env


async def test_a_running_stack_tells_each_parts_state_and_load(stack: Stack) -> None:
    settings = Settings.model_validate({"livekit_url": stack.livekit_url})
    ports = ("model_server_port", "generation_port", "worker_port", "desk_port")
    addresses = StackSettings.model_validate(
        {name: stack.environment[name.upper()] for name in ports}
    )
    parts = {name: await look() for name, look in looks(settings, addresses).items()}
    assert {name: part.state for name, part in parts.items()} == dict.fromkeys(parts, State.READY)
    assert [name for name, part in parts.items() if part.load is None] == []
    models = parts["Model server"].models
    assert any(model.state == "loaded" and model.memory_bytes for model in models)
    assert all(model.state for model in models)


READY = {"/health": (200, "{}"), "/ready": (200, "{}")}


async def test_a_models_state_and_bytes_are_those_that_the_server_tells() -> None:
    listed = {
        "data": [
            {"id": "whisper-base", "state": "loaded", "memory_bytes": 290_000_000, "in_use": 1},
            {"id": "piper", "state": "not loaded", "memory_bytes": None, "expected_bytes": 8e7},
            {"id": "broken", "state": 7, "memory_bytes": "many", "failure": "its test failed"},
            {"id": "embedder"},
            "no model",
        ]
    }
    metrics = (
        "model_server_budget_bytes 4e9\n"
        'model_server_resident_bytes{model="embedder"} 110000000\n'
        'model_server_in_flight{endpoint="speech"} 1\n'
        'model_server_in_flight{endpoint="realtime"} 2\n'
    )
    answers = {**READY, "/v1/models": (200, json.dumps(listed)), "/metrics": (200, metrics)}
    with answering(answers) as port:
        part = await look_at_model_server(StackSettings(model_server_port=port))
    assert part.state is State.READY
    assert part.models == (
        Model("whisper-base", "loaded", 290_000_000, in_use=1),
        Model("piper", "not loaded", None, expected_bytes=80_000_000),
        Model("broken", failure="its test failed"),
        Model("embedder", None, 110_000_000),
    )
    assert (part.memory_bytes, part.memory_limit_bytes) == (400_000_000, 4_000_000_000)
    assert part.load == "3 requests and sessions open"


async def test_a_server_that_is_not_ready_gives_its_reason() -> None:
    reason = json.dumps({"status": "not ready", "reason": "whisper-base is loading"})
    with answering({"/health": (200, "{}"), "/ready": (503, reason)}) as port:
        part = await look_at_model_server(StackSettings(model_server_port=port))
    assert (part.state, part.detail) == (State.NOT_READY, "whisper-base is loading")


async def test_what_a_part_does_not_say_is_unknown_and_not_zero() -> None:
    with answering(READY) as port:
        part = await look_at_model_server(StackSettings(model_server_port=port))
    assert part.state is State.READY
    assert (part.load, part.memory_bytes, part.memory_limit_bytes) == (None, None, None)


@pytest.mark.parametrize(
    ("metrics", "load"),
    [
        (
            "llamacpp:requests_processing 1\nllamacpp:requests_deferred 2\n",
            "1 running, 2 waiting",
        ),
        (
            'vllm:num_requests_running{model_name="m"} 3\n'
            'vllm:num_requests_waiting{model_name="m"} 0\n'
            'vllm:kv_cache_usage_perc{model_name="m"} 0.25\n',
            "3 running, 0 waiting, KV cache 25 % full",
        ),
        ("this is { no metric", None),
        ("vllm:num_requests_running NaN\n", None),
    ],
)
async def test_both_generation_engines_tell_their_load(metrics: str, load: str | None) -> None:
    with answering({"/health": (200, "{}"), "/metrics": (200, metrics)}) as port:
        part = await look_at_generation(StackSettings(generation_port=port))
    assert (part.state, part.load) == (State.READY, load)


async def test_the_worker_tells_its_calls_and_load() -> None:
    said = {"worker_type": "JT_ROOM", "active_jobs": 1.0, "worker_load": 0.25}
    idle = {"worker_type": "JT_ROOM"}  # as Protobuf's JSON says 0
    answers = {"/": (200, "OK")}
    with answering(answers) as port:
        stack = StackSettings(worker_port=port)
        assert (await look_at_worker(Settings(), stack)).load is None
        answers["/worker"] = (200, json.dumps(said))
        part = await look_at_worker(Settings(), stack)
        answers["/worker"] = (200, json.dumps(idle))
        assert (await look_at_worker(Settings(), stack)).load == "0 calls, load 0 %"
    assert (part.state, part.load, part.memory_bytes) == (State.READY, "1 call, load 25 %", None)


async def test_a_part_that_hangs_is_given_up_in_time() -> None:
    with hanging() as port:
        stack = StackSettings(model_server_port=port, generation_port=port, worker_port=port)
        settings = Settings(livekit_url=f"ws://127.0.0.1:{port}")
        began_s = time.monotonic()
        part = await look_at_model_server(stack)
        assert time.monotonic() - began_s < 10 * ANSWER_WITHIN_S
        assert (part.state, part.detail) == (State.SILENT, "no answer within 2 s")
        assert (await look_at_room_server(settings)).state is State.SILENT


async def test_a_part_that_is_not_there_cannot_be_reached() -> None:
    port = free_port()
    stack = StackSettings(model_server_port=port, generation_port=port, worker_port=port)
    settings = Settings(livekit_url=f"ws://127.0.0.1:{port}")
    assert (await look_at_model_server(stack)).state is State.UNREACHABLE
    assert (await look_at_generation(stack)).state is State.UNREACHABLE
    assert (await look_at_worker(settings, stack)).state is State.UNREACHABLE
    assert (await look_at_room_server(settings)).state is State.UNREACHABLE


async def test_a_cloud_and_what_cannot_be_known_are_not_asked() -> None:
    stack = StackSettings(stt_provider="livekit", llm_provider="openrouter")
    assert (await look_at_model_server(stack)).state is State.ELSEWHERE
    assert (await look_at_generation(stack)).state is State.ELSEWHERE
    assert (await look_at_room_server(None)).state is State.UNKNOWN


async def test_an_address_is_shown_without_its_password() -> None:
    stack = StackSettings(stt_base_url=f"http://user:word@127.0.0.1:{free_port()}/v1")
    part = await look_at_model_server(stack)
    assert "word" not in repr(part)


def test_metrics_of_several_labels_are_summed() -> None:
    assert Metrics.parse('a{b="1"} 2\na{b="2"} 3\n').total("none", "a") == 5
    assert Metrics.parse("").total("a") is None
