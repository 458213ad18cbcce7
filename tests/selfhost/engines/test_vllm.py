"""The architecture that a GPU machine serves, by the real vLLM on the CPU: small random weights of
it go the same way, through the same command, to the tokens that transformers finds in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfhost.engines import dequantised
from selfhost.engines.choice import SMALL_MODEL
from tests.random_weights import made_by
from tests.selfhost.engines.generating import Generation, generating

pytestmark = pytest.mark.timeout(600)

START_S = 500.0
LOGPROB_TOLERANCE = 0.15  # both compute in bfloat16, in different orders


@pytest.fixture(scope="module")
def weights() -> Path:
    tokenizer = dequantised.ensure(SMALL_MODEL)
    return made_by(Path(__file__).with_name("tiny_qwen3.py"), str(tokenizer))


@pytest.fixture(scope="module")
def generation(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generation]:
    folder = tmp_path_factory.mktemp("tiny-qwen3")
    options = ("--engine", "vllm", "--device", "cpu", "--model", str(weights))
    with generating(folder, *options, timeout_s=START_S) as running:
        yield running


def test_it_finds_the_same_likeliest_tokens_as_transformers(
    weights: Path, generation: Generation
) -> None:
    expected = json.loads((weights / "expected.json").read_text())
    answer = generation.ask(
        expected["question"],
        max_tokens=1,
        logprobs=True,
        top_logprobs=len(expected["ids"]),
    )
    assert answer.status_code == 200, answer.text
    (first,) = answer.json()["choices"][0]["logprobs"]["content"]
    found = sorted((one["logprob"] for one in first["top_logprobs"]), reverse=True)
    assert found == pytest.approx(sorted(expected["logprobs"], reverse=True), abs=LOGPROB_TOLERANCE)
    clear_cut = expected["logprobs"][0] - expected["logprobs"][1] > 2 * LOGPROB_TOLERANCE
    assert not clear_cut or first["token"] == expected["tokens"][0]


def test_it_generates_as_many_tokens_as_it_was_asked_for_and_counts_them(
    generation: Generation,
) -> None:
    written = generation.metric("vllm:generation_tokens_total")
    answer = generation.ask(max_tokens=24, ignore_eos=True)
    assert answer.json()["usage"]["completion_tokens"] == 24
    assert generation.metric("vllm:generation_tokens_total") == written + 24
    assert "Resolved architecture: Qwen3ForCausalLM" in generation.log.read_text()
