"""Reading vLLM's start-up logs, and holding the plan against them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selfhost.errors import SetupError
from selfhost.plan.architecture import Architecture
from selfhost.plan.boot_log import parse
from selfhost.plan.check import check
from selfhost.plan.estimate import GIB
from selfhost.plan.find import find
from selfhost.plan.public_models import PUBLIC_MODELS
from tests.selfhost.plan.foretold import assert_the_plan_foretold

CPU_LOG = (Path(__file__).parent / "logs" / "vllm-0.32-cpu.log").read_text("utf-8")
# The coder model of half a billion, with an output layer of its own, as it was served there.
CPU_CONFIG = {**PUBLIC_MODELS["qwen2.5-0.5b"].config, "tie_word_embeddings": False}


def generator(name: str) -> Architecture:
    found = find(name)
    assert isinstance(found, Architecture)
    return found


def gib(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else round(size_bytes / GIB, 2)


def test_vllm_on_cpu_as_it_was_started_here() -> None:
    log = parse(CPU_LOG)
    assert (log.version, log.on_cpu, log.max_model_len) == ("0.32.0", True, 4096)
    assert log.model == "models/qwen2.5-coder-0.5b-bf16"
    assert (log.cache_bytes, log.cache_tokens, log.concurrency) == ((GIB,), 87_296, 21.31)
    assert gib(log.checkpoint_bytes) == 1.17
    assert log.weights_bytes is None  # vLLM on CPU does not print it
    assert log.enforce_eager


def test_the_plan_says_the_engines_own_tokens_to_the_last_one(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CPU_CONFIG))
    result = assert_the_plan_foretold(CPU_LOG, tmp_path)
    assert [one.predicted for one in result.comparisons if one.unit == "tokens"] == [87_296]


def test_a_context_that_is_no_whole_number_of_blocks(tmp_path: Path) -> None:
    # As the same model printed it for 3,000 tokens: 24 blocks a sequence, the last not full.
    log = CPU_LOG.replace("4096", "3000").replace("4,096", "3,000")
    log = log.replace("87,296", "85,250").replace("21.31x", "28.42x")
    (tmp_path / "config.json").write_text(json.dumps(CPU_CONFIG))
    assert_the_plan_foretold(log, tmp_path)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "Loading model weights took 14.9888 GB\n# GPU blocks: 27895, # CPU blocks: 2048",
            {"weights_bytes": 14.99, "blocks": 27895},
        ),
        (
            "the current vLLM instance can use total_gpu_memory (79.25GiB) x "
            "gpu_memory_utilization (0.15) = 11.89GiB\nmodel weights take 8.51GiB; "
            "non_torch_memory takes 0.26GiB; PyTorch activation peak memory takes 0.94GiB; the "
            "rest of the memory reserved for KV Cache is 2.18GiB.\n# cuda blocks: 715, # CPU "
            "blocks: 1310\nMaximum concurrency for 2048 tokens per request: 5.59x",
            {
                "total_bytes": 79.25,
                "utilisation": 0.15,
                "weights_bytes": 8.51,
                "non_torch_bytes": 0.26,
                "activations_bytes": 0.94,
                "cache_bytes": 2.18,
                "blocks": 715,
                "concurrency": 5.59,
                "max_model_len": 2048,
            },
        ),
        (
            "Model loading took 14.2717 GiB memory and 9.1 seconds\nAvailable KV cache memory: "
            "12.26 GiB\nGPU KV cache size: 377,456 tokens, Maximum concurrency for 32,768 tokens "
            "per request: 11.52x\nGraph capturing finished in 4 secs, took 0.09 GiB\nFree memory "
            "on device (30.27/31.4 GiB) on startup. Desired GPU memory utilization is (0.92, "
            "28.88 GiB). Actual usage is 15.03 GiB for consumed memory (weights + non-torch), "
            "1.59 GiB for peak activation, and 0.09 GiB for CUDAGraph memory.",
            {
                "weights_bytes": 14.27,
                "cache_bytes": 12.26,
                "cache_tokens": 377_456,
                "total_bytes": 31.4,
                "utilisation": 0.92,
                "consumed_bytes": 15.03,
                "activations_bytes": 1.59,
                "graphs_bytes": 0.09,
                "concurrency": 11.52,
            },
        ),
        (
            "Free memory on device cuda:1 (77.78/79.33 GiB) on startup. Desired GPU memory "
            "utilization is (0.85, 67.43 GiB). Actual usage is 16.92 GiB for weight, 5.66 GiB for "
            "peak activation, 0.13 GiB for non-torch memory, and 1.34 GiB for CUDAGraph memory.",
            {
                "total_bytes": 79.33,
                "utilisation": 0.85,
                "weights_bytes": 16.92,
                "activations_bytes": 5.66,
                "non_torch_bytes": 0.13,
                "graphs_bytes": 1.34,
            },
        ),
        (
            "model weights take 6.59GiB; non_torch_memory takes 8.29GiB; PyTorch activation peak "
            "memory takes 4.93GiB; the rest of the memory reserved for KV Cache is -7.83GiB.",
            {"cache_bytes": -7.83, "non_torch_bytes": 8.29},
        ),
        (
            "Initial free memory 138.5 GiB, reserved 20.0 GiB memory for KV Cache as specified by "
            "kv_cache_memory_bytes config and skipped memory profiling.",
            {"cache_bytes": 20.0},
        ),
    ],
)
def test_each_versions_wording_is_read(lines: str, expected: dict[str, float]) -> None:
    log = parse(lines)
    for name, value in expected.items():
        found = log.least_cache_bytes if name == "cache_bytes" else getattr(log, name)
        assert found is not None, name
        shown = round(found / GIB, 2) if name.endswith("_bytes") else found
        assert shown == pytest.approx(value, abs=0.006), name


def test_what_a_log_does_not_say_is_not_zero() -> None:
    log = parse("Model loading took 2.89 GiB and 1.0 seconds")
    assert (log.cache_tokens, log.activations_bytes, log.total_bytes) == (None, None, None)
    result = check("Model loading took 2.89 GiB and 1.0 seconds", generator, "Qwen2.5-1.5B")
    assert len(result.comparisons) == 1
    assert len(result.not_found) == 2


def test_the_cache_follows_from_what_a_newer_version_consumed() -> None:
    log = (
        "Available KV cache memory: 5.48 GiB\nFree memory on device (23.1/23.6 GiB) on startup. "
        "Desired GPU memory utilization is (0.6, 14.16 GiB). Actual usage is 7.9 GiB for consumed "
        "memory (weights + non-torch), 0.78 GiB for peak activation, and 0.2 GiB for CUDAGraph "
        "memory. GPU KV cache size: 39,900 tokens"
    )
    result = check(log, generator, "Qwen3-4B")
    assert {one.unit: one.holds for one in result.comparisons if one.tolerance} == {
        "bytes": True,
        "tokens": True,
    }


def test_the_cache_of_a_published_log_of_two_cards_follows_from_its_parts() -> None:
    # What a card's share leaves does not depend on the model; its tokens do, and are not given.
    log = (
        "tensor_parallel_size=2,\nAvailable KV cache memory: 12.26 GiB\nFree memory on device "
        "(30.27/31.4 GiB) on startup. Desired GPU memory utilization is (0.92, 28.88 GiB). Actual "
        "usage is 15.03 GiB for consumed memory (weights + non-torch), 1.59 GiB for peak "
        "activation, and 0.09 GiB for CUDAGraph memory."
    )
    result = check(log, generator, "Qwen3-30B-A3B")
    cache = next(one for one in result.comparisons if one.what == "KV cache on each card")
    assert cache.predicted / GIB == pytest.approx(12.26, abs=0.02)
    assert cache.holds


def test_a_cache_that_is_far_off_is_called_so() -> None:
    log = "Available KV cache memory: 8.11 GiB\nGPU KV cache size: 367,404 tokens"
    result = check(log, generator, "Qwen3-4B")
    assert not result.holds


@pytest.mark.parametrize("text", ["", "hello\nworld", "INFO: Application startup complete."])
def test_a_file_that_is_no_start_up_log_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="says nothing of weights"):
        check(text, generator)


def test_a_log_whose_model_is_not_known_asks_for_its_name() -> None:
    with pytest.raises(SetupError, match=r"The log's model is models/qwen.*--model NAME"):
        check(CPU_LOG, generator)
    with pytest.raises(SetupError, match="does not name its model"):
        check("GPU KV cache size: 1,000 tokens", generator)
