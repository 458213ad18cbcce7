"""`python -m selfhost status`: what each part of a running stack is doing."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from selfhost import board, command_line, state
from selfhost.errors import told_plainly
from selfhost.folders import state_root

READY, NOT_READY, NOT_RUNNING = 0, 1, 3
STATE_FILE = "stack.json"


@told_plainly
def show(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for scripts.")
    ] = False,
) -> None:
    """What each part of the stack is doing.

    The exit status is 0 when all are ready, 1 when some are not, 3 when no stack runs.
    """
    found = state.read(state_root() / STATE_FILE)
    status = found or state.StackStatus(parts=(), page=None, supervisor_pid=None)
    if as_json:
        print(json.dumps(status.to_dict(), indent=2))
    elif status.supervisor_pid is None:
        print("No stack runs. Start one: python -m selfhost up")
    else:
        Console().print(board.table(status))
        if status.page:
            print(f"Page: {status.page}")
    if status.supervisor_pid is None:
        raise typer.Exit(NOT_RUNNING)
    raise typer.Exit(READY if status.is_ready else NOT_READY)


def main() -> None:
    command_line.run(show, "status")
