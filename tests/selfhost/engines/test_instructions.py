"""What an engine reads before anybody calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from selfhost import models
from selfhost.engines.choice import SMALL_MODEL
from tests.selfhost.engines.generating import generating
from tests.stack import PROJECT

LLAMA = ("--engine", "llama", "--device", "cpu", "--model", SMALL_MODEL)


def test_the_first_call_finds_the_agents_instructions_read(tmp_path: Path) -> None:
    models.ensure(SMALL_MODEL)
    said = subprocess.run(
        [sys.executable, "-m", "agent", "instructions"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    file = tmp_path / "instructions.json"
    file.write_text(said)
    caller = {"role": "user", "content": "A double room, please."}
    question = {"messages": [*json.loads(said), caller], "max_tokens": 1}
    with (
        generating(tmp_path, *LLAMA, "--instructions", str(file)) as generation,
        generation.client() as client,
    ):
        usage = client.post("/v1/chat/completions", json=question).json()["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    assert usage["prompt_tokens"] > 200
    assert usage["prompt_tokens"] - cached < 20  # the caller's own words, and how they begin


@pytest.mark.parametrize("content", ["", "{}", '[{"role": 1}]', '["words"]'])
def test_a_file_that_holds_no_messages_is_refused_with_what_was_expected(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "instructions.json"
    file.write_text(content)
    ended = subprocess.run(
        [sys.executable, "-m", "selfhost", "generate", *LLAMA, "--instructions", str(file)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "expected a JSON list of chat messages" in ended.stderr
