"""What becomes of requests when llama.cpp dies, hangs, or is busy: with the small real model."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from selfhost import models
from selfhost.engines.choice import SMALL_MODEL
from tests.selfhost.engines.generating import LONG, Generation, events, generating, has_words

CLEAR_ERROR_S = 2.0
HUNG_AFTER_S = 10.0  # a step takes a second, and on a crowded machine several
ENGINE = "llama_server"


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generation]:
    models.ensure(SMALL_MODEL)
    folder = tmp_path_factory.mktemp("generation")
    options = ("--engine", "llama", "--device", "cpu", "--model", SMALL_MODEL)
    with generating(folder, *options, "--hung-after-s", str(HUNG_AFTER_S)) as running:
        yield running


def restarted(generation: Generation, killed: psutil.Process) -> bool:
    return generation.is_ready() and generation.engine(ENGINE).pid != killed.pid


def test_a_stream_that_breaks_off_ends_with_a_clear_error_at_once(generation: Generation) -> None:
    engine = generation.engine(ENGINE)
    with (
        generation.client() as client,
        client.stream("POST", "/v1/chat/completions", json=LONG) as answer,
    ):
        lines = answer.iter_lines()
        assert any(has_words(event) for event in events(lines))
        engine.kill()
        killed_at = time.monotonic()
        rest = list(lines)
        assert time.monotonic() - killed_at < CLEAR_ERROR_S
    (error,) = [event["error"] for event in events(iter(rest)) if "error" in event]
    assert error["type"] == "server_error"
    assert "ask again" in error["message"]
    assert [line for line in rest if line][-1] == "data: [DONE]"
    generation.wait(lambda: restarted(generation, engine), 60, "the engine is not back")
    assert generation.ask().status_code == 200


def test_a_whole_answer_that_will_not_come_is_a_502(generation: Generation) -> None:
    engine = generation.engine(ENGINE)
    killed_at: list[float] = []

    def kill() -> None:
        generation.wait(lambda: generation.metric("llamacpp:requests_processing") > 0, 20, "idle")
        engine.kill()
        killed_at.append(time.monotonic())

    killer = threading.Thread(target=kill)
    killer.start()
    answer = generation.ask(**(LONG | {"stream": False}))
    killer.join()
    assert time.monotonic() - killed_at[0] < CLEAR_ERROR_S
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "engine_failed"
    assert answer.headers["retry-after"]


def test_a_request_that_comes_while_it_restarts_is_held_and_answered(
    generation: Generation,
) -> None:
    generation.wait(generation.is_ready, 60, "the engine is not back")
    engine = generation.engine(ENGINE)
    engine.kill()
    engine.wait()
    assert generation.ask().status_code == 200
    assert generation.engine(ENGINE).pid != engine.pid


def test_an_engine_that_hangs_with_work_in_hand_is_ended_and_started_again(
    generation: Generation,
) -> None:
    generation.wait(generation.is_ready, 60, "the engine is not back")
    engine = generation.engine(ENGINE)
    with (
        generation.client() as client,
        client.stream("POST", "/v1/chat/completions", json=LONG) as answer,
    ):
        lines = answer.iter_lines()
        assert any(has_words(event) for event in events(lines))
        os.kill(engine.pid, signal.SIGSTOP)
        assert any("error" in event for event in events(lines))
    generation.wait(lambda: restarted(generation, engine), 90, "the hung engine is not back")
    assert "no progress" in generation.log.read_text()
    assert generation.ask().status_code == 200


def test_an_engine_that_is_busy_for_longer_than_that_is_left_alone(generation: Generation) -> None:
    generation.wait(generation.is_ready, 60, "the engine is not back")
    engine = generation.engine(ENGINE)
    # It reads for long before its first word, and goes on writing until it has been busy for longer
    # than it may stand still; a quick machine gets more to do.
    read = {"role": "system", "content": "The garden has many old trees. " * 250}
    body = LONG | {"messages": [read, *LONG["messages"]]}
    busy_until = time.monotonic() + HUNG_AFTER_S + 1
    with generation.client() as client:
        while time.monotonic() < busy_until:
            with client.stream("POST", "/v1/chat/completions", json=body) as answer:
                assert answer.status_code == 200
                for event in events(answer.iter_lines()):
                    assert "error" not in event
                    if time.monotonic() >= busy_until:
                        break
    assert generation.engine(ENGINE).pid == engine.pid


def test_a_client_that_leaves_frees_its_place(generation: Generation) -> None:
    generation.wait(generation.is_ready, 60, "the engine is not back")
    with (
        generation.client() as client,
        client.stream("POST", "/v1/chat/completions", json=LONG) as answer,
    ):
        lines = answer.iter_lines()
        assert any(has_words(event) for event in events(lines))
        assert generation.metric("llamacpp:requests_processing") == 1

    def is_idle() -> bool:
        time.sleep(1.5)  # asking more often would keep the engine from noticing
        return generation.metric("llamacpp:requests_processing") == 0

    generation.wait(is_idle, 20, "it still generates for nobody")


def test_an_engine_without_its_model_is_not_started_and_says_how_to_get_it(tmp_path: Path) -> None:
    broken = tmp_path / "cache" / "models" / SMALL_MODEL
    broken.mkdir(parents=True)
    with (
        pytest.raises(AssertionError, match="is not there"),
        generating(
            tmp_path,
            *("--engine", "llama", "--device", "cpu", "--model", SMALL_MODEL),
            HOTEL_VOICE_CACHE=str(tmp_path / "cache"),
        ),
    ):
        pass


def test_nobody_uses_the_engine_without_the_fronts_key(generation: Generation) -> None:
    generation.wait(generation.is_ready, 60, "the engine is not back")
    (port,) = {
        connection.laddr.port
        for connection in generation.engine(ENGINE).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    answer = httpx.post(
        f"http://127.0.0.1:{port}/v1/chat/completions", json=LONG, trust_env=False, timeout=20
    )
    assert answer.status_code == 401


def test_the_engine_does_not_outlive_a_front_that_is_killed(generation: Generation) -> None:
    # The last of these tests: it ends what they share.
    generation.wait(generation.is_ready, 60, "the engine is not back")
    engine = generation.engine(ENGINE)
    generation.process.kill()
    assert engine.wait(10) is None  # not a child of this process: its status is not known
    assert not engine.is_running()
