"""A whole spoken call with generation by vLLM on the CPU, and what becomes of requests when vLLM's
engine dies behind its server. vLLM takes long to start, so that all of it shares one stack."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from selfhost.engines import dequantised, environment, scrape
from selfhost.engines.choice import SMALL_MODEL
from tests.calls.playing import play
from tests.selfhost.engines.generating import LONG, events, has_words
from tests.selfhost.plan.foretold import assert_the_plan_foretold
from tests.stack import Stack, running_stack

CLEAR_ERROR_S = 2.0
START_S = 400.0
FIRST_GREETING_TOKENS = 100  # more than the neutral words that every start is tried with

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def vllm_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    environment.ensure()
    dequantised.ensure(SMALL_MODEL)
    folder = tmp_path_factory.mktemp("vllm-stack")
    settings = {
        "GENERATION_ENGINE": "vllm",
        # Two cores hear, speak, and generate: the model gets the time to say something.
        "REPLY_DEADLINE_S": "3",
    }
    with running_stack(folder, settings=settings, timeout_s=START_S) as running:
        yield running


def metric(stack: Stack, name: str) -> float:
    page = httpx.get(f"{stack.generation_url.removesuffix('/v1')}/metrics", trust_env=False)
    return scrape.value(scrape.samples(page.text), name)


def processes(stack: Stack) -> dict[str, psutil.Process]:
    """vLLM's own processes, by the names that they give themselves."""
    found = {}
    for process in psutil.Process(stack.part("generation")["pid"]).children(recursive=True):
        found[" ".join(process.cmdline()).split(" ")[0]] = process
    return found


def test_a_call_comes_out_as_its_file_expects_and_vllm_did_the_wording(
    vllm_stack: Stack, tmp_path: Path
) -> None:
    written = metric(vllm_stack, "vllm:generation_tokens_total")
    finished = metric(vllm_stack, "vllm:request_success_total")
    report = play(vllm_stack, "simple-booking", tmp_path)
    assert not [turn for turn in report["turns"] if turn["missed"]]
    assert metric(vllm_stack, "vllm:generation_tokens_total") >= written + 20
    assert metric(vllm_stack, "vllm:request_success_total") > finished


def test_the_plan_foretold_what_vllm_made_of_its_memory(vllm_stack: Stack) -> None:
    assert_the_plan_foretold(vllm_stack.log("generation"), dequantised.folder(SMALL_MODEL))


def test_a_client_that_leaves_frees_its_place(vllm_stack: Stack) -> None:
    with (
        httpx.Client(base_url=vllm_stack.generation_url, trust_env=False, timeout=60) as client,
        client.stream("POST", "/chat/completions", json=LONG) as answer,
    ):
        lines = answer.iter_lines()
        assert any(has_words(event) for event in events(lines))
        assert metric(vllm_stack, "vllm:num_requests_running") == 1
    deadline = time.monotonic() + 10
    while metric(vllm_stack, "vllm:num_requests_running"):
        assert time.monotonic() < deadline, "it still generates for nobody"
        time.sleep(0.2)


def test_what_computes_dies_alone_and_the_client_is_told_at_once_and_vllm_comes_back(
    vllm_stack: Stack,
) -> None:
    core = processes(vllm_stack)["VLLM::EngineCore"]
    front = vllm_stack.part("generation")["pid"]
    with (
        httpx.Client(base_url=vllm_stack.generation_url, trust_env=False, timeout=60) as client,
        client.stream("POST", "/chat/completions", json=LONG) as answer,
    ):
        lines = answer.iter_lines()
        assert any(has_words(event) for event in events(lines))
        core.kill()
        killed_at = time.monotonic()
        rest = list(events(lines))
        assert time.monotonic() - killed_at < CLEAR_ERROR_S
    (error,) = [event["error"] for event in rest if "error" in event]
    assert error["message"]
    for name in ("room-server", "model-server", "worker", "page"):
        assert vllm_stack.part(name)["state"] == "ready"
    deadline = time.monotonic() + START_S
    health = f"{vllm_stack.generation_url.removesuffix('/v1')}/health"
    while httpx.get(health, trust_env=False).status_code != 200:
        assert time.monotonic() < deadline, vllm_stack.log("generation")[-5000:]
        time.sleep(0.5)
    assert vllm_stack.part("generation")["pid"] == front
    assert processes(vllm_stack)["VLLM::EngineCore"].pid != core.pid
    # The call's instructions were read to it again before it was called ready.
    assert metric(vllm_stack, "vllm:prompt_tokens_total") > FIRST_GREETING_TOKENS
    with httpx.Client(base_url=vllm_stack.generation_url, trust_env=False, timeout=60) as client:
        assert client.post("/chat/completions", json=LONG | {"stream": False, "max_tokens": 4})
