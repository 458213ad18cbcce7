"""A model whose weights are no numbers is never served: real servers, real weights, spoilt on the
disk or in memory."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest

from selfhost import models
from selfhost.ports import free_port
from tests.selfhost.server.conftest import RATE_HZ, ROOT
from tests.selfhost.server.health.corrupted import corrupted_copy, float_weights, stretches
from tests.selfhost.server.test_transcriptions import error_of

EVERY_S = 5.0
SPOILT_SERVER = "tests.selfhost.server.health.spoilt_server"
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reaches memory through /proc")


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    client: httpx.Client
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            try:
                if self.client.get("/ready").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)

    def speak(self) -> httpx.Response:
        body = {"model": "piper", "input": "Two guests, please.", "response_format": "pcm"}
        return self.client.post("/v1/audio/speech", json=body)

    def embed(self) -> httpx.Response:
        return self.client.post("/v1/embeddings", json={"model": "minilm", "input": "A twin room."})


@contextmanager
def running(tmp_path: Path, *module: str, **settings: str) -> Iterator[Server]:
    port = free_port()
    log = tmp_path / "log"
    spoilt = module[0] == SPOILT_SERVER
    command = [module[0], str(port), *module[1:]] if spoilt else [*module, "--port", str(port)]
    with (
        log.open("wb") as output,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield Server(process, client, log)
        finally:
            process.kill()
            process.wait()


def corrupted(name: str, weights: str, to: Path) -> Path:
    real = models.ensure(name)
    file = next(real.glob(weights))
    where = float_weights(file) if name == "minilm" else stretches(file, [0.5])
    return corrupted_copy(real, to / name, file.name, where)


@pytest.mark.parametrize(
    ("name", "model", "weights"),
    [("piper-joe", "piper", "*.onnx"), ("whisper-tiny", "whisper-tiny", "model.bin")],
)
def test_a_server_does_not_start_on_weights_that_are_no_numbers(
    tmp_path: Path, name: str, model: str, weights: str
) -> None:
    folder = corrupted(name, weights, tmp_path)
    with running(
        tmp_path,
        "selfhost",
        "server",
        MODEL_SERVER_PRELOAD=model,
        MODEL_SERVER_MODEL_FOLDERS=f"{name}={folder}",
    ) as server:
        seen = set()
        while server.process.poll() is None:
            try:
                seen.add(server.client.get("/ready").status_code)
                seen.add(server.speak().status_code)
            except httpx.TransportError:
                pass
        assert seen <= {503}
        assert server.process.wait() == 1
        assert f"{model} cannot serve: it failed its test" in server.log
        assert "not numbers" in server.log


def test_a_spoilt_model_that_is_asked_for_later_is_refused_and_the_others_serve(
    tmp_path: Path,
) -> None:
    whisper = corrupted("whisper-tiny", "model.bin", tmp_path)
    minilm = corrupted("minilm", "model.onnx", tmp_path)
    with running(
        tmp_path,
        "selfhost",
        "server",
        MODEL_SERVER_PRELOAD="piper",
        MODEL_SERVER_MODEL_FOLDERS=f"whisper-tiny={whisper},minilm={minilm}",
    ) as server:
        server.wait_ready()
        sound = server.client.post(
            "/v1/audio/speech",
            json={"model": "piper", "input": "Two guests.", "response_format": "wav"},
        ).content
        for _ in range(2):
            refused = server.client.post(
                "/v1/audio/transcriptions",
                files={"file": ("sound", sound)},
                data={"model": "whisper-tiny"},
            )
            assert "failed its test" in error_of(refused, 503)["message"]
            assert int(refused.headers["retry-after"]) >= 1
            assert "failed its test" in error_of(server.embed(), 503)["message"]
        assert "test" in server.client.get("/ready/minilm").json()["reason"]
        assert server.client.get("/ready/piper").status_code == 200
        assert server.speak().status_code == 200


@needs_proc
def test_a_voice_that_goes_bad_in_memory_ends_the_server_within_one_interval(
    tmp_path: Path,
) -> None:
    models.ensure("piper-joe")
    flag = tmp_path / "flag"
    with running(
        tmp_path,
        SPOILT_SERVER,
        str(flag),
        "piper",
        MODEL_SERVER_PRELOAD="piper",
        MODEL_SERVER_SELF_TEST_EVERY_S=str(EVERY_S),
    ) as server:
        server.wait_ready()
        assert server.speak().status_code == 200
        flag.touch()  # and nobody asks for anything any more
        spoilt_at = time.monotonic()
        while "failed its test" not in server.log:
            assert time.monotonic() - spoilt_at < EVERY_S + 2, server.log  # 2 s to spoil it
            time.sleep(0.05)
        assert server.process.wait(20) == 1
        assert "The model server ended: piper failed its test" in server.log


@needs_proc
@pytest.mark.parametrize("model", ["piper", "minilm"])
def test_whoever_asks_while_a_model_goes_bad_gets_an_error_and_never_garbage(
    tmp_path: Path, model: str
) -> None:
    models.ensure("piper-joe")
    models.ensure("minilm")
    flag = tmp_path / "flag"
    with running(
        tmp_path,
        SPOILT_SERVER,
        str(flag),
        model,
        MODEL_SERVER_PRELOAD="piper,minilm",
        MODEL_SERVER_SELF_TEST_EVERY_S="600",
    ) as server:
        server.wait_ready()
        ask = server.speak if model == "piper" else server.embed
        right = ask()
        assert right.status_code == 200
        flag.touch()
        statuses = []
        while server.process.poll() is None:
            try:
                answer = ask()
            except httpx.TransportError:  # broken off in the middle, or not listening any more
                continue
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                assert_sound(answer) if model == "piper" else assert_same(answer, right)
            else:
                assert answer.status_code in (500, 503), answer.text
        assert server.process.wait() == 1, server.log
        assert statuses[-1] != 200
        assert f"The model server ended: {model} failed its test" in server.log


def assert_sound(answer: httpx.Response) -> None:
    pcm = np.frombuffer(answer.content, "<i2").astype(float)
    assert len(pcm) > RATE_HZ / 2
    assert 100 < np.sqrt(np.mean(pcm**2)) < 20_000


def assert_same(answer: httpx.Response, right: httpx.Response) -> None:
    vector, expected = (one.json()["data"][0]["embedding"] for one in (answer, right))
    assert all(math.isfinite(value) for value in vector)
    assert np.dot(vector, expected) > 0.99
