"""Each call's process writes its share; the worker's page adds them up, and forgets the dead."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from prometheus_client import CollectorRegistry

from agent.settings import BadSettings
from agent.telemetry.exposition import FolderCollector, served
from agent.telemetry.metrics_folder import VARIABLE, metrics_folder
from selfhost.ports import free_port
from tests.stack import PROJECT

# A call with one turn of 0.7 s, which then waits to be told to end.
CALL = """
from agent.telemetry.call import CallTelemetry
from agent.timeline.clock import CallClock
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline

timeline = Timeline(CallClock())
CallTelemetry.load().listen(timeline)
providers = {"stt": "selfhosted/default", "llm": "selfhosted/default", "tts": "livekit/default"}
timeline.emit(EventType.CALL_STARTED, call_id="c", providers=providers)
timeline.turn = 1
timeline.emit(EventType.FINAL_TRANSCRIPT, text="hello", silence_to_final_ms=250.0)
timeline.emit(EventType.AGENT_SPEAKING, gap_ms=700.0, waterfall=None)
print("in progress", flush=True)
input()
timeline.emit(EventType.CALL_ENDED, reason="user_initiated")
"""
PROVIDERS = {"stt": "selfhosted/default", "llm": "selfhosted/default", "tts": "livekit/default"}


@pytest.fixture
def start_call(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts calls as processes that share the folder `tmp_path`; each is in progress."""
    processes: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", CALL],
            cwd=PROJECT,
            env={**os.environ, VARIABLE: str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "in progress\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def hang_up(call: subprocess.Popen[str]) -> None:
    call.communicate("\n")
    assert call.returncode == 0


def test_calls_in_several_processes_add_up_and_what_a_dead_one_counted_stays(
    start_call: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    registry = CollectorRegistry()
    registry.register(FolderCollector(tmp_path))

    def figure(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"hotel_voice_{name}", labels)

    killed, ended = start_call(), start_call()
    assert figure("calls_in_progress") == 2
    assert figure("gap_seconds_count", **PROVIDERS) == 2
    assert figure("turns_total", **PROVIDERS) == 2

    killed.kill()  # it cannot say that its call is over, and is not reaped yet
    while psutil.Process(killed.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert figure("calls_in_progress") == 1
    killed.wait()

    hang_up(ended)
    assert figure("calls_in_progress") == 0
    assert figure("calls_total", reason="user_initiated", **PROVIDERS) == 1

    hang_up(start_call())
    for _ in range(2):  # what was added up once is not added again
        assert figure("gap_seconds_count", **PROVIDERS) == 3
        assert figure("gap_seconds_sum", **PROVIDERS) == pytest.approx(3 * 0.7)
        assert figure("gap_seconds_bucket", le="0.6", **PROVIDERS) == 0
        assert figure("gap_seconds_bucket", le="0.75", **PROVIDERS) == 3
        assert figure("silence_to_final_seconds_sum", **PROVIDERS) == pytest.approx(3 * 0.25)
    assert {file.name for file in tmp_path.iterdir()} == {
        "counter_retired.db",
        "histogram_retired.db",
    }


def test_the_page_is_served_where_it_was_told_and_a_taken_port_is_named(tmp_path: Path) -> None:
    port = free_port()
    with served(tmp_path, "127.0.0.1", port):
        page = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False)
        assert page.status_code == 200
        with (
            pytest.raises(BadSettings, match=f"WORKER_METRICS_PORT={port}: .* already"),
            served(tmp_path, "127.0.0.1", port),
        ):
            pass
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False)


def test_a_worker_has_a_folder_of_its_own_and_leaves_another_programs_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with metrics_folder(wanted=False) as folder:
        assert folder is None
        assert VARIABLE not in os.environ
    with metrics_folder(wanted=True) as folder:
        assert folder is not None
        assert os.environ[VARIABLE] == str(folder)
        assert folder != tmp_path
        assert folder.stat().st_mode & 0o77 == 0
    assert not folder.exists()


def test_the_folder_of_a_killed_worker_is_removed_and_a_running_ones_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    left = tmp_path / "hotel-voice-metrics-left"
    left.mkdir()
    (left / "counter_1.db").touch()
    with metrics_folder(wanted=True) as running, metrics_folder(wanted=True) as second:
        assert running is not None
        assert second is not None
        assert running.exists()
        assert second.exists()
        assert not left.exists()
