"""The server as a service: keys, health, metrics, how it starts and how it ends."""

from __future__ import annotations

import signal
import socket
import time

import httpx
import pytest
from websockets.sync.client import connect

from selfhost.ports import free_port
from tests.selfhost.server.conftest import ModelServer, start_server, wait_until_idle
from tests.selfhost.server.test_transcriptions import error_of


def test_models_are_listed(client: httpx.Client) -> None:
    body = client.get("/v1/models").json()
    ids = {model["id"] for model in body["data"]}
    assert {"whisper-base", "whisper-tiny", "piper"} <= ids
    assert body["object"] == "list"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("POST", "/v1/audio/speech"),
        ("POST", "/v1/audio/transcriptions"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "x"}])
def test_a_key_is_asked_for(
    server: ModelServer, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = httpx.request(method, server.root + path, headers=headers)
    error = error_of(answer, 401)
    assert error["code"] == "invalid_api_key"
    assert "wrong" not in error["message"]


def test_health_and_metrics_need_no_key(server: ModelServer) -> None:
    assert httpx.get(f"{server.root}/health").json()["status"] == "alive"
    assert httpx.get(f"{server.root}/ready").json() == {"status": "ready"}
    assert httpx.get(f"{server.root}/metrics").status_code == 200


def test_unknown_paths_and_methods_are_errors_of_the_same_shape(client: httpx.Client) -> None:
    error_of(client.get("/v1/dance"), 404)
    error_of(client.get("/v1/audio/speech"), 405)


def test_metrics_keep_waiting_apart_from_computing(client: httpx.Client) -> None:
    body = {"model": "piper", "input": "Good evening.", "response_format": "pcm"}
    assert client.post("/v1/audio/speech", json=body).status_code == 200
    wait_until_idle(client, "speech")  # it is counted once all of it has been sent
    page = client.get("/metrics").text
    for name in (
        'model_server_requests_total{endpoint="speech",status="200"}',
        'model_server_queue_seconds_count{kind="speech",model="piper"}',
        'model_server_compute_seconds_count{kind="speech",model="piper"}',
        'model_server_first_audio_seconds_count{voice="joe"}',
        'model_server_audio_seconds_total{direction="out"}',
    ):
        value = next(line.split()[-1] for line in page.splitlines() if line.startswith(name))
        assert float(value) > 0, name


def test_the_server_is_alive_before_it_is_ready_and_ends_at_a_signal(server: ModelServer) -> None:
    port = free_port()
    process = start_server(port)
    root = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                health = httpx.get(f"{root}/health")
                break
            except httpx.TransportError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
        assert health.status_code == 200
        ready = httpx.get(f"{root}/ready")
        if ready.status_code == 503:  # a fast machine may be ready already
            assert ready.json()["reason"]
            speech = httpx.post(f"{root}/v1/audio/speech", json={"model": "piper", "input": "Hi."})
            if speech.status_code != 200:
                assert error_of(speech, 503)["code"] == "not_ready"
        while httpx.get(f"{root}/ready").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with connect(f"ws://127.0.0.1:{port}/v1/realtime") as call:  # must not hold it up
            call.recv()
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) in (0, -signal.SIGTERM)
    finally:
        process.kill()


def ended(process_port: int, **settings: str) -> tuple[int, str]:
    process = start_server(process_port, **settings)
    output, _ = process.communicate(timeout=60)
    return process.returncode, output.decode()


def test_a_missing_model_is_said_before_anything_starts(tmp_path: object) -> None:
    status, output = ended(free_port(), HOTEL_VOICE_CACHE=str(tmp_path))
    assert status == 1
    assert "whisper-base" in output
    assert "Traceback" not in output


def test_a_port_in_use_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, output = ended(port)
    assert status == 1
    assert str(port) in output
    assert "Traceback" not in output


def test_an_open_address_needs_a_key() -> None:
    process = start_server(free_port(), SELFHOST_HOST="0.0.0.0", MODEL_SERVER_API_KEY="")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"MODEL_SERVER_API_KEY" in output
