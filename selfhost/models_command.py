"""`python -m selfhost models`: list the models, or fetch those that are named."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from selfhost import command_line, hub_models, model_folders, models, room_server
from selfhost.catalogue import CATALOGUE
from selfhost.errors import told_plainly
from selfhost.folders import cache_root

ROOM_SERVER = "room-server"


def _table() -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("here")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("for")
    table.add_column("licence")
    for model in CATALOGUE.values():
        size = f"{model.size_bytes / 1e6:,.0f} MB"
        table.add_row(model.name, _here(model.name), size, model.job, model.licence)
    here = "yes" if room_server.find() else "no"
    table.add_row(ROOM_SERVER, here, "51 MB", f"rooms: {room_server.MODULE}", "Apache-2.0")
    table.add_section()
    for hub_model in hub_models.HUB_MODELS.values():
        table.add_row(
            hub_model.name,
            _here(hub_model.name),
            hub_model.size_text,
            f"{hub_model.job}, GPU",
            hub_model.licence,
        )
    return table


def _here(name: str) -> str:
    if name in model_folders.given():
        return "yours"
    return "yes" if models.is_present(name) else "no"


def main() -> None:
    """`python -m selfhost models`: list what is there, or fetch what is named."""
    command_line.run(_command, "models")


@told_plainly
def _command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="What to fetch; with none, list what there is."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Fetch what the stack needs: its models and the room server."),
    ] = False,
) -> None:
    """Fetch model files and check them, or list what there is."""
    first = [name for name, model in CATALOGUE.items() if not model.is_on_demand]
    wanted = [*first, ROOM_SERVER] if everything else names or []
    if not wanted:
        Console().print(_table())
        return
    for name in wanted:
        found = room_server.ensure() if name == ROOM_SERVER else models.ensure(name)
        if not everything:
            print(f"{name}: {found}")
    if everything:
        print(f"models and room server: ready in {cache_root()}")
