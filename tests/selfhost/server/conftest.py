"""One real model server for all tests here: a child process with the real models."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from selfhost import models
from selfhost.ports import free_port

KEY = "test-key"
ROOT = Path(__file__).parents[3]
RATE_HZ = 24_000

Pcm = NDArray[np.int16]
Say = Callable[..., Pcm]


@dataclass(frozen=True)
class ModelServer:
    port: int
    process: subprocess.Popen[bytes]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    @property
    def realtime_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/realtime?intent=transcription"


def start_server(port: int, **settings: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "selfhost", "server", "--port", str(port)],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@contextmanager
def ready_server(timeout_s: float, **settings: str) -> Iterator[ModelServer]:
    """A server with settings of its own, without a key, once it is ready."""
    port = free_port()
    process = start_server(port, **settings)
    server = ModelServer(port, process)
    try:
        deadline = time.monotonic() + timeout_s
        while not _is_ready(server):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    for name in ("whisper-base", "whisper-tiny", "piper-joe", "minilm", "en-core-web-sm"):
        models.ensure(name)
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "selfhost", "server", "--port", str(port)],
            cwd=ROOT,
            env=os.environ | {"MODEL_SERVER_API_KEY": KEY},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = ModelServer(port, process)
    deadline = time.monotonic() + 60
    while not _is_ready(server):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"the model server did not become ready:\n{log.read_text()}")
        time.sleep(0.1)
    yield server
    process.terminate()
    process.wait(20)


def _is_ready(server: ModelServer) -> bool:
    try:
        return httpx.get(f"{server.root}/ready").status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="session")
def client(server: ModelServer) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=server.root, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def say(client: httpx.Client) -> Say:
    """Speech for the tests to listen to: samples at 24 kHz of a text in a voice."""
    spoken: dict[tuple[str, str], Pcm] = {}

    def speak(text: str, voice: str = "hibari") -> Pcm:
        if (text, voice) not in spoken:
            body = {"model": "tts-1", "voice": voice, "input": text, "response_format": "pcm"}
            answer = client.post("/v1/audio/speech", json=body)
            assert answer.status_code == 200, answer.text
            spoken[text, voice] = np.frombuffer(answer.content, "<i2").astype(np.int16)
        return spoken[text, voice]

    return speak


def wait_until_idle(client: httpx.Client, endpoint: str) -> None:
    """Wait until the server works on nothing at `endpoint`."""
    deadline = time.monotonic() + 10
    while f'in_flight{{endpoint="{endpoint}"}} 0.0' not in client.get("/metrics").text:
        assert time.monotonic() < deadline, f"{endpoint}: abandoned work is still being done"
        time.sleep(0.05)


def quiet(seconds: float, level: int = 20, seed: int = 0) -> Pcm:
    """What a microphone hears when nobody speaks: faint noise."""
    noise = np.random.default_rng(seed).standard_normal(int(seconds * RATE_HZ)) * level
    return noise.astype(np.int16)


def appends(pcm: Pcm, chunk_s: float = 0.05) -> Iterator[dict[str, str]]:
    """The sound as the realtime events that carry it."""
    step = int(chunk_s * RATE_HZ)
    for start in range(0, len(pcm), step):
        data = pcm[start : start + step].astype("<i2").tobytes()
        yield {"type": "input_audio_buffer.append", "audio": base64.b64encode(data).decode()}
