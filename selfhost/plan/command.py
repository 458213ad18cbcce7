"""`python -m selfhost plan`: what models take on a card, before anything is started."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from selfhost import command_line
from selfhost.errors import SetupError, told_plainly
from selfhost.plan import as_data, cards, product, table
from selfhost.plan.architecture import Architecture
from selfhost.plan.check import check
from selfhost.plan.estimate import GIB
from selfhost.plan.find import find
from selfhost.plan.plan import plan
from selfhost.plan.wanted import Engine, Wanted

OPTIONS_OF_ONE = "context, sequences, precision, kv_dtype, ranks, engine, activations_gib"


@told_plainly
def plan_memory(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Paths to a config.json, its folder or a GGUF file, names of the catalogue, or "
            "hub names. One may have options of its own: NAME,context=8192,precision=int4. "
            "Without any: what this product runs.",
            show_default=False,
        ),
    ] = None,
    card: Annotated[
        str,
        typer.Option(help='A card\'s name ("RTX 4090"), its memory ("24GiB"), cpu, or found.'),
    ] = "found",
    context: Annotated[
        int, typer.Option(help="Longest sequence, in tokens.")
    ] = product.CONTEXT_TOKENS,
    sequences: Annotated[
        int | None,
        typer.Option(
            help=f"Sequences at once. Usually {product.SEQUENCES_ON_GPU}, and on a CPU "
            f"{product.SEQUENCES_ON_CPU}.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(help="Of the weights: bf16, fp8, int8, int4. Usually the checkpoint's own."),
    ] = None,
    kv_dtype: Annotated[
        str, typer.Option("--kv-dtype", help="Of the KV cache: auto (16 bits) or fp8.")
    ] = "auto",
    tensor_parallel: Annotated[int, typer.Option(help="Cards that share each generator.")] = 1,
    gpu_memory_utilization: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=1.0, help="vLLM's share of the card. Usually what the others leave."
        ),
    ] = None,
    enforce_eager: Annotated[
        bool, typer.Option("--enforce-eager", help="vLLM captures no graphs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For tools; sizes in bytes.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write the plan as a picture (.png, .svg or .pdf).")
    ] = None,
    check_log: Annotated[
        Path | None,
        typer.Option("--check", help="A start-up log of vLLM's to hold the plan against."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="With --check: the log's model, where its own name says nothing here."),
    ] = None,
) -> None:
    """Plan the memory of a card: weights, KV cache, activations and overhead of every model."""
    if check_log is not None:
        _check(check_log, model, as_json)
        return
    one_card = cards.found() if card == "found" else cards.parse(card)
    defaults = Wanted(
        model=_Unknown,
        context_tokens=context,
        sequences=product.sequences(one_card) if sequences is None else sequences,
        precision=precision,
        kv_dtype=kv_dtype,
        ranks=tensor_parallel,
        utilisation=gpu_memory_utilization,
        enforce_eager=enforce_eager,
    )
    wanted = [_wanted(text, defaults) for text in models or product.models(one_card)]
    others = [product.REST_OF_THE_STACK] if one_card.is_cpu and not models else []
    made = plan(one_card, wanted, others=others)
    if plot is not None:
        from selfhost.plan.picture import draw

        draw(made, plot)
    if as_json:
        print(json.dumps(as_data.plan_data(made), indent=2))
        return
    table.print_plan(made, Console())
    if plot is not None:
        print(f"The picture is in {plot}.")


_Unknown = Architecture("", "", 1, 1, 1, 1, 1, None, (), ())


def _wanted(text: str, defaults: Wanted) -> Wanted:
    """A model with its own options, as `NAME,context=8192`.

    Raises:
        SetupError: there is no such model or option, or it is no number.
    """
    name, *options = text.split(",")
    wanted = replace(defaults, model=find(name))
    for option in options:
        key, separator, value = (part.strip() for part in option.partition("="))
        if not separator:
            raise SetupError(f"{name}: expected NAME=VALUE for each option, got {option!r}.")
        wanted = _with_option(wanted, name, key, value)
    return wanted


def _with_option(wanted: Wanted, name: str, key: str, value: str) -> Wanted:
    try:
        match key:
            case "context":
                return replace(wanted, context_tokens=int(value))
            case "sequences":
                return replace(wanted, sequences=int(value))
            case "ranks":
                return replace(wanted, ranks=int(value))
            case "precision":
                return replace(wanted, precision=value)
            case "kv_dtype":
                return replace(wanted, kv_dtype=value)
            case "engine":
                return replace(wanted, engine=Engine(value))
            case "activations_gib":
                return replace(wanted, activations_bytes=int(float(value) * GIB))
    except ValueError:
        raise SetupError(f"{name}: {value!r} is not a value for {key}.") from None
    raise SetupError(f"{name} has no option {key!r}; there are {OPTIONS_OF_ONE}.")


def _check(log: Path, model: str | None, as_json: bool) -> None:
    try:
        text = log.read_text("utf-8", errors="replace")
    except OSError as error:
        raise SetupError(f"Could not read the log {log}: {error.strerror}.") from None
    result = check(text, _generator, model)
    if as_json:
        print(json.dumps(as_data.check_data(result), indent=2))
    else:
        table.print_check(result, Console())
    if not result.holds:
        raise typer.Exit(1)


def _generator(name: str) -> Architecture:
    found = find(name)
    if not isinstance(found, Architecture):
        raise SetupError(f"{name} is no language model, and vLLM's log is of one.")
    return found


def main() -> None:
    command_line.run(plan_memory, "plan")
