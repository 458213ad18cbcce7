"""Plays a spoken call of this folder against a running stack, as a user does from a shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.stack import PROJECT, Stack

CALLS = Path(__file__).parent
CALL_S = 180.0


def command(name: str, report: Path) -> list[str]:
    """What plays the call `name`, to be run in the project with a stack's environment."""
    script = str(CALLS / f"{name}.yaml")
    return [sys.executable, "-m", "selfhost", "call", script, "--json", str(report)]


def play(stack: Stack, name: str, folder: Path) -> dict[str, Any]:
    """Play a call to its end.

    Returns:
        The call's report.

    Raises:
        AssertionError: it did not come out as its file expects; holds what was said.
    """
    report = folder / f"{Path(name).name}.json"
    run = subprocess.run(
        command(name, report),
        cwd=PROJECT,
        env=stack.environment,
        capture_output=True,
        text=True,
        timeout=CALL_S,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    return dict(json.loads(report.read_text()))
