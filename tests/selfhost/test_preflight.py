"""What is said before anything is started."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfhost import preflight
from selfhost.errors import SetupError
from selfhost.parts import Part, Port

GB = 1_000_000_000


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def part(
    name: str = "page", port: int = 0, memory_bytes: int = 0, models: tuple[str, ...] = ()
) -> Part:
    ports = (Port(port, "PAGE_PORT"),) if port else ()
    return Part(name, ("true",), "http://127.0.0.1/", ports, memory_bytes, models=models)


def problems(*parts: Part, available_bytes: int = 8 * GB, missing: str = "") -> list[str]:
    def require_model(name: str) -> None:
        if name == missing:
            raise SetupError(f"the model {name} is not there; fetch it: …")

    return preflight.problems(
        parts,
        "127.0.0.1",
        available_bytes=available_bytes,
        owner=preflight.owner,
        require_model=require_model,
    )


def test_nothing_is_said_when_all_is_well(free: int) -> None:
    assert problems(part(port=free, memory_bytes=GB, models=("whisper-base",))) == []


def test_a_port_in_use_names_the_part_the_process_and_the_setting(taken: int) -> None:
    (message,) = problems(part("page", port=taken))
    assert f"Port {taken}" in message
    assert "page" in message
    assert f"pid {os.getpid()}" in message
    assert "PAGE_PORT" in message


def test_one_port_for_two_parts_is_said_as_that(free: int) -> None:
    (message,) = problems(part("page", port=free), part("worker", port=free))
    assert "both page and worker" in message


def test_a_udp_port_in_use_is_seen() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        port = Port(listener.getsockname()[1], "LIVEKIT_PORT", "udp")
        assert not preflight.is_free("127.0.0.1", port)
        assert f"pid {os.getpid()}" in (preflight.owner(port) or "")


def test_a_missing_model_names_the_part_that_loads_it() -> None:
    (message,) = problems(part("generation", models=("qwen",)), missing="qwen")
    assert message.startswith("generation: the model qwen is not there")


def test_too_little_memory_says_how_much_is_needed_and_free() -> None:
    (message,) = problems(
        part("generation", memory_bytes=2 * GB),
        part("worker", memory_bytes=1 * GB),
        available_bytes=2 * GB,
    )
    assert "3.0 GB are needed" in message
    assert "generation 2.0" in message
    assert "2.0 GB are free" in message


def test_every_problem_is_told_at_once(taken: int) -> None:
    bad = part("page", port=taken, memory_bytes=9 * GB, models=("qwen",))
    assert len(problems(bad, missing="qwen")) == 3


def test_a_containers_limit_counts_and_not_the_machines_memory(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000000")
    (tmp_path / "memory.current").write_text("900000")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 200000\n")
    assert preflight.available_bytes(tmp_path) == 300_000


def test_a_container_without_a_limit_leaves_the_machines_memory(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max")
    assert preflight.available_bytes(tmp_path) > 300_000
