"""Errors that a person reads: one message that says what was expected, what came, what to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

Arguments = ParamSpec("Arguments")


class SetupError(Exception):
    """Something outside the code is not as it must be. The message is complete by itself."""


def told_plainly(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Let a typer command end with a message and a status, and never with a traceback.

    A `SetupError` is printed and ends the command with status 1, Ctrl-C with 130.
    """

    @wraps(command)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except SetupError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    return run
