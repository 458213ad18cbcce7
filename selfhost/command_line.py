"""How each command of `python -m selfhost` becomes a command line."""

from __future__ import annotations

from collections.abc import Callable

import typer


def run(command: Callable[..., object], name: str) -> None:
    """Run a function as the command `name`, with the arguments of this process.

    Args:
        command: its parameters are the options.
        name: as the user typed it, for the usage line.
    """
    app = typer.Typer(add_completion=False)
    app.command()(command)
    app(prog_name=f"python -m selfhost {name}")
