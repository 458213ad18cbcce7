"""A room server and workers of the test's own, for calls that must go wrong.

The shared stack's worker would take these calls first, so they have a room server to themselves.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
import pytest
import yaml
from livekit import api, rtc

from agent.timeline.events import TOPIC, Event, EventType
from selfhost import room_server
from selfhost.ports import ROOM_SERVER_PORTS, consecutive_free_ports, free_port

REPOSITORY = Path(__file__).parents[2]
KEY, SECRET = "devkey", "secret"
START_S = 60.0


def wait_until(ready: Callable[[], bool], what: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while not ready():
        assert process.poll() is None, f"{what} ended with status {process.returncode}"
        assert time.monotonic() < deadline, f"{what} was not ready within {START_S} s"
        time.sleep(0.1)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all of its own; job processes are the worker's children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=1.0).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def lonely_room_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real room server without a worker."""
    port = consecutive_free_ports(ROOM_SERVER_PORTS)
    folder = tmp_path_factory.mktemp("room-server")
    config = folder / "livekit.yaml"
    config.write_text(yaml.safe_dump(room_server.configuration("127.0.0.1", port, KEY, SECRET)))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [room_server.path(), "--config", config],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}"), "the room server", process)
        yield f"ws://127.0.0.1:{port}"
    finally:
        end(process)


@dataclass
class Worker:
    """A running worker process and where its log is."""

    process: subprocess.Popen[bytes]
    log: Path


@pytest.fixture
def start_worker(lonely_room_server: str, tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    """Starts real workers with the settings given, and ends them."""
    workers: list[Worker] = []

    def start(*, module: str = "agent", **settings: str) -> Worker:
        log = tmp_path / f"worker-{len(workers)}.log"
        port = free_port()
        environment = {
            **os.environ,
            "LIVEKIT_URL": lonely_room_server,
            "LIVEKIT_API_KEY": KEY,
            "LIVEKIT_API_SECRET": SECRET,
            "WORKER_PORT": str(port),
            "DATABASE_URL": f"sqlite:///{tmp_path}/requests.sqlite3",
            "RECORDINGS": str(tmp_path / "recordings"),
            "HF_HUB_OFFLINE": "1",
            **settings,
        }
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", module, "start"],
                cwd=REPOSITORY,
                env=environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        worker = Worker(process, log)
        workers.append(worker)
        wait_until(lambda: b"registered worker" in log.read_bytes(), "the worker", process)
        return worker

    yield start
    for worker in workers:
        end(worker.process)


@dataclass
class Listener:
    """A caller who only listens: the events that came, and how loud the agent has been."""

    room: rtc.Room
    events: list[Event] = field(default_factory=list)
    loudest: int = 0

    async def until(self, happened: Callable[[], bool], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not happened():
            assert time.monotonic() < deadline, [event.type.value for event in self.events]
            await asyncio.sleep(0.05)

    def errors(self) -> list[Event]:
        return [event for event in self.events if event.type is EventType.COMPONENT_ERROR]


@pytest.fixture
async def listener(lonely_room_server: str) -> AsyncIterator[Callable[[], AsyncIterator[Listener]]]:
    """Joins a new room of the lonely room server, with a live but silent microphone."""
    rooms: list[rtc.Room] = []
    tasks: list[asyncio.Task[None]] = []

    async def join() -> Listener:
        room = rtc.Room()
        listener = Listener(room)

        @room.on("data_received")
        def on_data(packet: rtc.DataPacket) -> None:
            if packet.topic == TOPIC:
                listener.events.append(Event.from_json(packet.data))

        @room.on("track_subscribed")
        def on_track(track: rtc.Track, *_: object) -> None:
            tasks.append(asyncio.create_task(listen(track)))

        async def listen(track: rtc.Track) -> None:
            async for audio in rtc.AudioStream(track):
                samples = np.frombuffer(audio.frame.data, dtype=np.int16).astype(np.int32)
                listener.loudest = max(listener.loudest, int(np.abs(samples).max(initial=0)))

        token = (
            api.AccessToken(KEY, SECRET)
            .with_identity("caller")
            .with_grants(api.VideoGrants(room_join=True, room=f"test-{time.monotonic_ns()}"))
            .to_jwt()
        )
        await room.connect(lonely_room_server, token)
        rooms.append(room)
        source = rtc.AudioSource(24_000, 1)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        await room.local_participant.publish_track(
            track, rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        )
        tasks.append(asyncio.create_task(keep_quiet(source)))
        return listener

    async def keep_quiet(source: rtc.AudioSource) -> None:
        silence = rtc.AudioFrame.create(24_000, 1, 240)
        while True:
            await source.capture_frame(silence)

    yield join  # type: ignore[misc]
    for task in tasks:
        task.cancel()
    for room in rooms:
        await room.disconnect()
