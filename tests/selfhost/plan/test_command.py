"""`python -m selfhost plan` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from selfhost.plan.command import plan_memory
from selfhost.plan.public_models import PUBLIC_MODELS

LOG = Path(__file__).parent / "logs" / "vllm-0.32-cpu.log"

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    app = Typer()
    app.command()(plan_memory)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})

    return run


def data(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


def test_without_arguments_it_plans_what_the_product_runs_here() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "selfhost", "plan"], capture_output=True, text=True, check=True
    )
    for text in ("qwen", "whisper", "together", "The models fit", "The workload fits", "flags"):
        assert text in done.stdout, done.stdout
    assert done.stderr == ""


def test_the_products_set_for_a_card(run: Run) -> None:
    plan = data(run("--card", "RTX 4090", "--json"))
    names = [model["name"] for model in plan["models"]]
    assert names[0] == "Qwen3-4B-Instruct-2507"
    assert {"bge-m3", "gliner-medium-v2.1", "whisper-large-v3-turbo"} < set(names)
    server = next(step for step in plan["start_order"] if step["name"] == "model server")
    assert server["waits_for"] == ["vLLM (Qwen3-4B-Instruct-2507)"]


def test_json_says_all_that_the_table_says(run: Run) -> None:
    arguments = ("Llama-3.1-8B", "bge-m3", "--card", "A6000", "--context", "32768")
    plan = data(run(*arguments, "--sequences", "4", "--json"))
    assert plan["workload_fits"] == "yes"
    first = plan["models"][0]
    assert first["weights"]["bytes"] == 2 * 8_030_261_248
    generation = first["generation"]
    assert generation["sequences_fit"] >= 4
    assert "--gpu-memory-utilization" in generation["flags"]["arguments"]
    assert [saving["precision"] for saving in generation["savings"]] == ["int8", "int4"]
    told = run(*arguments, "--sequences", "4").stdout
    assert f"{generation['sequences_fit']:,} of them" in told
    assert "would free" in told
    assert "Start order" in told


def test_a_model_may_have_options_of_its_own(run: Run) -> None:
    plan = data(
        run(
            *("Qwen3-4B,context=2048,sequences=2,precision=int4", "Qwen3-8B"),
            *("--card", "RTX 5090", "--json"),
        )
    )
    first, second = (model["generation"] for model in plan["models"])
    assert (first["context_tokens"], first["sequences"], first["precision"]) == (2048, 2, "int4")
    assert (second["context_tokens"], second["precision"]) == (4096, "16 bits")


def test_the_log_of_vllm_on_cpu_is_what_the_plan_said(run: Run, tmp_path: Path) -> None:
    config = {**PUBLIC_MODELS["qwen2.5-0.5b"].config, "tie_word_embeddings": False}
    (tmp_path / "config.json").write_text(json.dumps(config))
    arguments = ("--check", str(LOG), "--model", str(tmp_path))
    check = data(run(*arguments, "--json"))
    tokens = [one for one in check["comparisons"] if one["unit"] == "tokens"]
    assert [(one["predicted"], one["actual"]) for one in tokens] == [(87_296, 87_296)]
    told = run(*arguments).stdout
    assert "87,296 tokens" in told
    assert "+0.0%" in told
    assert "as promised" in told


def test_a_log_that_is_far_off_ends_with_a_status_of_its_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "vllm.log").write_text(
        "Available KV cache memory: 8.11 GiB\nGPU KV cache size: 367,404 tokens\n"
    )
    result = run("--check", str(tmp_path / "vllm.log"), "--model", "Qwen3-4B")
    assert result.exit_code == 1
    assert "off by more than 2%" in result.stdout
    assert "Not in the log" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Llama-9-8B",), "knows no model named 'Llama-9-8B'"),
        (("Qwen3-4B", "--card", "GTX 9"), "does not know a card named 'GTX 9'"),
        (("Qwen3-4B", "--context", "-1"), "a context of 1 or more tokens, got -1"),
        (("Qwen3-4B,context=many",), "'many' is not a value for context"),
        (("Qwen3-4B,colour=red",), "has no option 'colour'"),
        (("Qwen3-4B,fast",), "expected NAME=VALUE for each option"),
        (("Qwen/Qwen3.8-27B",), "is a hybrid model"),
        (("--check", "nowhere.log"), "Could not read the log nowhere.log"),
        (("Qwen3-4B", "--plot", "plan.bmp"), "a picture ending in .png"),
    ],
)
def test_each_mistake_is_told_in_one_message(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_picture_names_every_model_and_the_limit(run: Run, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"plan.{suffix}"
    result = run("Qwen3-4B", "bge-m3", "--card", "RTX 4090", "--plot", str(file))
    assert result.exit_code == 0, result.output
    content = file.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert len(content) > 5_000


def test_the_picture_shows_the_plans_own_figures() -> None:
    from selfhost.plan import cards, picture
    from selfhost.plan.find import find
    from selfhost.plan.plan import plan
    from selfhost.plan.wanted import Wanted

    made = plan(cards.named("RTX 4090"), [Wanted(find("Qwen3-4B")), Wanted(find("bge-m3"))])
    axes = picture.figure(made).axes[0]
    words = {text.get_text() for text in axes.texts}
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [row.name for row in made.rows] + ["Together"]
    for row in made.rows:
        assert f"{row.all.bytes / 2**30:.2f}" in words
    bars = [bar.get_width() for bar in axes.patches]
    together = sum(width for index, width in enumerate(bars) if index % len(labels) == 3)
    assert together == pytest.approx(made.all.bytes / 2**30)
