"""`python -m selfhost up`, as a person runs it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from tests.stack import PROJECT, consecutive_free_ports, free_ports

PATIENCE_S = 60.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Free ports and a state folder of the test's own."""
    worker, page = free_ports(2)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("LIVEKIT_")},
        "HOTEL_VOICE_STATE": str(tmp_path / "state"),
        "LIVEKIT_PORT": str(consecutive_free_ports(3)),
        "WORKER_PORT": str(worker),
        "WORKER_METRICS_PORT": "0",
        "PAGE_PORT": str(page),
    }


def up(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "selfhost", "up", "--no-browser", *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def status(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "selfhost", "status"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def running(environment: dict[str, str], only: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "selfhost", "up", "--no-browser", "--only", only],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until_ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "All parts are ready" in line:
            return said
    raise AssertionError(f"it ended before it was ready:\n{said}")


def test_it_ends_by_saying_where_the_page_is_and_ctrl_c_ends_everything(
    environment: dict[str, str],
) -> None:
    with running(environment, "room-server,page") as process:
        said = until_ready(process)
        assert f"http://127.0.0.1:{environment['PAGE_PORT']}" in said
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 3  # two parts and the sentinel
        assert status(environment).returncode == 0
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        assert not any(child.is_running() for child in children)
    after = status(environment)
    assert after.returncode == 3
    assert "No stack runs" in after.stdout


def test_killed_the_hard_way_it_leaves_no_process_behind(environment: dict[str, str]) -> None:
    with running(environment, "room-server") as process:
        until_ready(process)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
        assert alive == []
    assert status(environment).returncode == 3


def test_a_second_one_in_the_same_place_is_refused_and_the_first_goes_on(
    environment: dict[str, str],
) -> None:
    with running(environment, "room-server") as process:
        until_ready(process)
        second = up(environment, "--only", "room-server")
        assert second.returncode == 1
        assert f"already running (pid {process.pid})" in second.stderr
        assert status(environment).returncode == 0


def test_a_port_in_use_is_one_message_and_nothing_is_started(environment: dict[str, str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", int(environment["PAGE_PORT"])))
        listener.listen()
        refused = up(environment, "--only", "room-server,page")
    assert refused.returncode == 1
    assert f"Port {environment['PAGE_PORT']} (tcp), which page needs, is in use" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (Path(environment["HOTEL_VOICE_STATE"]) / "stack.json").exists()


def test_missing_models_and_room_server_name_the_commands_that_fetch_them(
    environment: dict[str, str], tmp_path: Path
) -> None:
    environment |= {"HOTEL_VOICE_CACHE": str(tmp_path / "empty"), "PATH": "/usr/bin:/bin"}
    refused = up(environment, "--profile", "cpu", "--only", "room-server,generation")
    assert refused.returncode == 1
    assert "python -m selfhost models room-server" in refused.stderr
    assert "python -m selfhost models qwen2.5-coder-1.5b-instruct" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--only", "kitchen"), "expected one or more of: room-server"),
        (("--host", "0.0.0.0"), "set LIVEKIT_API_KEY and LIVEKIT_API_SECRET"),
        (("--host", "nowhere"), "expected an address such as 127.0.0.1"),
    ],
)
def test_what_cannot_be_done_is_said_plainly(
    environment: dict[str, str], arguments: tuple[str, ...], expected: str
) -> None:
    refused = up(environment, *arguments)
    assert refused.returncode == 1
    assert expected in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_lock_that_a_dead_stack_left_behind_is_no_obstacle(environment: dict[str, str]) -> None:
    folder = Path(environment["HOTEL_VOICE_STATE"])
    folder.mkdir(parents=True)
    with FileLock(folder / "stack.lock"):
        pass
    with running(environment, "room-server") as process:
        until_ready(process)


def test_a_part_that_cannot_start_is_shown_with_the_end_of_its_log(
    environment: dict[str, str], tmp_path: Path
) -> None:
    # A room server that is there and runs, and cannot serve: its log says why.
    program = tmp_path / "bin" / "livekit-server"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "version 1.13.5" && exit\n'
        'echo "no such device"; exit 7\n'
    )
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    with running(environment, "room-server") as process:
        assert process.stdout is not None
        said = ""
        deadline = time.monotonic() + PATIENCE_S
        while "no such device" not in said and time.monotonic() < deadline:
            said += process.stdout.readline()
        assert "room-server failed: ended with status 7" in said
        assert "room-server.log" in said
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 1
