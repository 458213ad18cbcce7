"""`python -m selfhost generate`: what would run."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from selfhost.engines import llama, vllm


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "selfhost", "generate", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_vllm_listens_where_it_is_told_and_leaves_room_on_the_card() -> None:
    command = vllm.command(
        "Qwen/Qwen3-4B-Instruct-2507",
        host="127.0.0.1",
        port=8200,
        served_name="a-name",
        gpu_memory_utilization=0.6,
    )
    assert command[0].endswith("/vllm")
    assert command[1:3] == ["serve", "Qwen/Qwen3-4B-Instruct-2507"]
    options = dict(itertools.pairwise(command))
    assert options["--host"] == "127.0.0.1"
    assert options["--port"] == "8200"
    assert options["--served-model-name"] == "a-name"
    assert options["--gpu-memory-utilization"] == "0.6"


def test_a_dry_run_prints_the_gpu_command_and_runs_nothing() -> None:
    said = generate("--profile", "gpu", "--dry-run", "--port", "9999", "--model", "some/model")
    assert said.returncode == 0
    assert "vllm serve some/model" in said.stdout
    assert "--port 9999" in said.stdout
    assert llama.MODEL in said.stdout  # clients ask for the same name on either profile


@pytest.mark.skipif(vllm.is_installed(), reason="vLLM is installed here")
def test_a_missing_vllm_is_said_with_the_command_that_installs_it() -> None:
    said = generate("--profile", "gpu")
    assert said.returncode == 1
    assert "uv sync --extra gpu" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_models_folder_is_there_and_a_hub_name_that_was_never_fetched_is_not(
    tmp_path: Path,
) -> None:
    assert vllm.has_model(str(tmp_path))
    assert not vllm.has_model("no-such-owner/no-such-model")
    assert not vllm.has_model("not a name")
