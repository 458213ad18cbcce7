"""The real stack, as a script and as an operator see it."""

from __future__ import annotations

import stat
import time

import httpx
import psutil

from tests.stack import Stack

PARTS = ["room-server", "model-server", "generation", "worker", "desk", "page"]


def test_status_names_every_part_as_ready(stack: Stack) -> None:
    stack.wait_ready()
    status = stack.status()
    assert [part["name"] for part in status["parts"]] == PARTS
    for part in status["parts"]:
        assert part["state"] == "ready"
        assert psutil.pid_exists(part["pid"])
        assert part["memory_bytes"] > 1_000_000
    assert status["page"] == stack.page_url


def test_everything_listens_on_loopback_only(stack: Stack) -> None:
    pids = {part["pid"] for part in stack.parts().values()}
    listening = [
        connection.laddr.ip
        for pid in pids
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert set(listening) <= {"127.0.0.1", "::1"}


def test_the_room_servers_keys_are_readable_by_its_user_alone(stack: Stack) -> None:
    mode = stat.S_IMODE((stack.state_dir / "room-server.yaml").stat().st_mode)
    assert mode == 0o600


def test_generation_streams_and_a_client_that_leaves_frees_its_slot(stack: Stack) -> None:
    question = {
        "model": "qwen2.5-coder-1.5b-instruct",
        "messages": [{"role": "user", "content": "Count from one to three hundred in words."}],
        "max_tokens": 900,
        "stream": True,
    }
    with (
        httpx.Client(trust_env=False, timeout=60) as client,
        client.stream("POST", f"{stack.generation_url}/chat/completions", json=question) as reply,
    ):
        assert reply.status_code == 200
        assert next(line for line in reply.iter_lines() if "content" in line)
    # Left to run, this reply would keep the engine busy for more than half a minute.
    slots = f"{stack.generation_url.removesuffix('/v1')}/slots"
    deadline = time.monotonic() + 15.0
    while busy := [s for s in httpx.get(slots, trust_env=False).json() if s["is_processing"]]:
        assert time.monotonic() < deadline, f"still generating for nobody: {len(busy)} slots"
        time.sleep(0.2)
