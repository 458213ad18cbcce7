"""`python -m selfhost generate`: what would run."""

from __future__ import annotations

import itertools
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from selfhost.engines import choice, llama, vllm
from selfhost.engines.llama import LlamaCpp
from selfhost.engines.vllm import Vllm
from selfhost.plan import cards, product
from selfhost.plan.flags import LlamaCppFlags, VllmFlags


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "selfhost", "generate", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("device", ["gpu", "cpu"])
def test_vllm_listens_on_loopback_only_and_takes_what_it_is_given(device: vllm.Device) -> None:
    flags = VllmFlags(
        max_model_len=4096, max_num_seqs=8, max_num_batched_tokens=512, gpu_memory_utilization=0.6
    )
    engine = Vllm(Path("/opt/bin/vllm"), "Qwen/Qwen3-4B-Instruct-2507", "a-name", device, flags)
    command = engine.command(8300)
    assert command[:3] == ("/opt/bin/vllm", "serve", "Qwen/Qwen3-4B-Instruct-2507")
    options = dict(itertools.pairwise(command))
    assert options["--host"] == "127.0.0.1"
    assert options["--port"] == "8300"
    assert options["--served-model-name"] == "a-name"
    assert options["--gpu-memory-utilization"] == "0.6"
    assert options["--max-model-len"] == "4096"


def test_no_key_is_in_what_is_printed_or_on_a_command_line(tmp_path: Path) -> None:
    flags = VllmFlags(max_model_len=1, max_num_seqs=1, max_num_batched_tokens=1)
    engines = (
        Vllm(Path("/opt/bin/vllm"), "a/model", "a-name", "cpu", flags),
        LlamaCpp(tmp_path / "weights", "a-name", tmp_path, LlamaCppFlags(4, 4096)),
    )
    for engine in engines:
        assert "concealed" in engine.key_environment("concealed").values()
        assert not set(engine.key_environment("concealed")) & set(engine.environment())


def test_a_dry_run_prints_the_gpu_command_and_runs_nothing() -> None:
    said = generate("--profile", "gpu", "--dry-run", "--port", "9999", "--card", "RTX 4090")
    assert said.returncode == 0
    assert "vllm serve Qwen/Qwen3-4B-Instruct-2507" in said.stdout
    assert "port 9999" in said.stdout
    assert llama.MODEL in said.stdout  # clients ask for the same name on either profile


def share(*arguments: str) -> float:
    """vLLM's share of an RTX 4090, as a dry run prints it."""
    said = generate("--profile", "gpu", "--dry-run", "--card", "RTX 4090", *arguments)
    assert said.returncode == 0, said.stderr
    words = shlex.split(said.stdout)
    return float(words[words.index("--gpu-memory-utilization") + 1])


def test_vllm_takes_of_a_card_what_the_plan_gives_it() -> None:
    card = cards.named("RTX 4090")
    for shares_card, arguments in ((False, ()), (True, ("--shares-card",))):
        planned = product.vllm_flags(choice.GPU_MODEL, card, shares_card=shares_card)
        assert share(*arguments) == planned.gpu_memory_utilization
    assert share("--shares-card") < share()


def test_a_share_that_the_user_set_stands_also_for_a_model_that_the_plan_does_not_know() -> None:
    assert share("--gpu-memory-utilization", "0.5") == 0.5
    assert share("--gpu-memory-utilization", "0.5", "--model", "some/model") == 0.5


@pytest.mark.parametrize(
    "arguments",
    [("--model", "some/model", "--card", "RTX 4090"), ("--card", "8GiB"), ("--card", "cpu")],
    ids=["unknown model", "too small a card", "no card"],
)
def test_without_a_plan_the_user_is_told_how_to_start_nevertheless(
    arguments: tuple[str, ...],
) -> None:
    said = generate("--profile", "gpu", "--dry-run", *arguments)
    assert said.returncode == 1
    assert "GENERATION_GPU_MEMORY_UTILIZATION" in said.stderr


def test_a_dry_run_prints_the_command_and_the_environment_of_each_engine() -> None:
    llama_said = generate("--device", "cpu", "--dry-run").stdout
    assert "selfhost.engines.llama_server" in llama_said
    assert "OMP_WAIT_POLICY=passive" in llama_said
    vllm_said = generate("--engine", "vllm", "--device", "cpu", "--kv-cache-gib", "3", "--dry-run")
    assert "vllm serve" in vllm_said.stdout
    assert "VLLM_CPU_KVCACHE_SPACE=3" in vllm_said.stdout


def test_an_engine_on_a_device_that_it_does_not_run_on_is_refused() -> None:
    said = generate("--engine", "llama", "--device", "gpu", "--dry-run")
    assert said.returncode == 1
    assert "--engine vllm" in said.stderr


def test_a_folder_without_a_model_is_said(tmp_path: Path) -> None:
    said = generate("--engine", "vllm", "--device", "cpu", "--model", str(tmp_path))
    assert said.returncode == 1
    assert "config.json" in said.stderr


@pytest.mark.skipif(vllm.is_installed(), reason="vLLM is installed here")
def test_a_missing_vllm_is_said_with_the_command_that_installs_it() -> None:
    said = generate("--device", "gpu")
    assert said.returncode == 1
    assert "uv sync --extra gpu" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_models_folder_is_there_and_a_hub_name_that_was_never_fetched_is_not(
    tmp_path: Path,
) -> None:
    assert vllm.has_model(str(tmp_path))
    assert not vllm.has_model("no-such-owner/no-such-model")
    assert not vllm.has_model("not a name")
