"""An engine that will not start, and one that must end while it starts: with llama.cpp itself."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest

from selfhost import models
from selfhost.engines.choice import SMALL_MODEL
from selfhost.engines.llama import LlamaCpp
from selfhost.engines.process import EngineEndedError, EngineProcess
from selfhost.plan.flags import LlamaCppFlags
from selfhost.restarts import RestartPolicy

FLAGS = LlamaCppFlags(slots=4, context_tokens_per_slot=4096)


def engines(folder: Path) -> list[psutil.Process]:
    """The engines that keep what they have read in `folder`; other tests may have theirs."""
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if str(folder) in process.cmdline()
    ]


def test_an_engine_that_never_starts_is_given_up_and_whoever_waits_is_told(tmp_path: Path) -> None:
    weights = tmp_path / "weights.gguf"
    weights.write_bytes(b"GGUF and nothing else")
    failures: list[str] = []
    process = EngineProcess(
        LlamaCpp(weights, "a-name", tmp_path, FLAGS),
        policy=RestartPolicy(first_delay_s=0.05, max_failures=2),
        on_failure=failures.append,
    )
    waiting = process.next_life()
    process.start()
    with pytest.raises(EngineEndedError, match="given up after 2 failures"):
        waiting.result(60)
    with pytest.raises(EngineEndedError):  # who comes later need not wait
        process.next_life().result(0)
    process.close()
    assert len(failures) == 1
    assert process.ended is not None
    assert not engines(tmp_path)


def test_an_engine_is_ended_at_any_time_and_nothing_is_left(tmp_path: Path) -> None:
    weights = models.ensure(SMALL_MODEL) / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    process = EngineProcess(LlamaCpp(weights, SMALL_MODEL, tmp_path, FLAGS))
    waiting = process.next_life()
    process.start()
    deadline = time.monotonic() + 20
    while not engines(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.close()
    with pytest.raises(EngineEndedError):
        waiting.result(0)
    assert not engines(tmp_path)


def test_who_waits_no_longer_is_not_in_the_way_of_others(tmp_path: Path) -> None:
    weights = models.ensure(SMALL_MODEL) / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    process = EngineProcess(LlamaCpp(weights, SMALL_MODEL, tmp_path, FLAGS))
    gone, waiting = process.next_life(), process.next_life()
    gone.cancel()
    process.start()
    try:
        assert waiting.result(120) == process.life
    finally:
        process.close()
