"""`python -m selfhost bench`: this worker and the stock pipeline on the same calls, in one run."""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from dotenv import dotenv_values
from rich.console import Console

from selfhost import command_line
from selfhost.errors import SetupError, told_plainly
from selfhost.load.bench_figures import BenchFigure, missed, write
from selfhost.load.bench_table import show
from selfhost.load.display import machine_line
from selfhost.load.latency_bench import providers
from selfhost.load.latency_bench.contestants import STOCK, Contestant, ours, stock
from selfhost.load.latency_bench.figures import figures
from selfhost.load.latency_bench.holding import CALLS, hold, workers
from selfhost.load.latency_bench.own_stack import OwnStack, own_stack
from selfhost.load.latency_bench.picture import draw
from selfhost.load.latency_bench.providers import ALL_SELFHOSTED, SELFHOSTED, ProviderSet
from selfhost.load.latency_bench.turns import BenchCall
from selfhost.load.machine import Machine
from selfhost.load.script import Script, load_script
from selfhost.ports import free_port

OURS = "ours"
REPORT = Path("reports/bench.json")
WARM_UP = "warm-up"  # the call that each side takes first and that is not counted
# Settings that would have one side, or both, use other models than the ones that are started here.
OTHER_MODELS = tuple(
    f"{part}_{what}" for part in ("STT", "LLM", "TTS") for what in ("BASE_URL", "MODEL")
)


@told_plainly
def bench(
    rounds: Annotated[int, typer.Option(min=1, help="How often each side takes each call.")] = 3,
    only: Annotated[
        str, typer.Option(metavar="CALL[,CALL]", help="Only these of the calls, by name.")
    ] = "",
    chosen: Annotated[
        str,
        typer.Option(
            "--providers",
            metavar="SET[,SET]",
            help="Compare sets of providers instead, such as selfhosted,livekit+openrouter: "
            "A for all three parts, A+B for A to hear and speak and B to word.",
        ),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a goal is missed.")
    ] = False,
    report: Annotated[
        Path, typer.Option(help="Where the figures go as JSON; the picture goes beside it.")
    ] = REPORT,
    wav: Annotated[
        Path | None, typer.Option(help="A folder for each call's sound: caller left, agent right.")
    ] = None,
) -> None:
    """Play spoken calls to this product's worker and to the stock pipeline, alternating.

    It starts all that it needs on free ports, beside any stack that runs, and ends it.
    """
    if check and chosen:
        raise SetupError("--check: the goals are held against the stock pipeline, not --providers")
    _be_quiet()
    console = Console(highlight=False)
    environment = {name: value for name, value in dotenv_values().items() if value} | os.environ
    sets = _sets(chosen, environment, console) if chosen else [ALL_SELFHOSTED]
    if not chosen:
        _refuse_other_models(environment)
    scripts = _scripts(only)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        console.print("Starting the room server and the models.")
        with own_stack(Path(folder), environment, _run_here(sets)) as stack:
            contestants = (
                [_ours(one.name, one) for one in sets]
                if chosen
                else [_ours(OURS, ALL_SELFHOSTED), _stock(stack)]
            )
            with workers(stack, contestants) as takers:
                run = hold(stack, takers, scripts, rounds, wav, console)
    sides = {one.name: [c for c in run.calls if c.contestant == one.name] for one in contestants}
    found = _tell(console, sides, run.machine)
    write(report, found, run.machine)
    _write_calls(report.with_suffix(".calls.json"), run.calls)
    picture = report.with_suffix(".png")
    draw(picture, sides, f"{len(run.calls)} calls; {machine_line(run.machine)}")
    console.print(f"The same figures as JSON: {report}; as a picture: {picture}")
    if run.stopped:
        raise KeyboardInterrupt
    if check and missed(found):
        raise typer.Exit(1)


def _sets(chosen: str, environment: Mapping[str, str], console: Console) -> list[ProviderSet]:
    """The sets that can be measured; the others are told of.

    Raises:
        SetupError: there is none.
    """
    measured = []
    for one in providers.parse(chosen):
        if reason := providers.skipped(one, environment):
            console.print(reason, style="yellow", soft_wrap=True)
        else:
            measured.append(one)
    if not measured:
        raise SetupError("No set of providers can be measured.")
    return measured


def _refuse_other_models(environment: Mapping[str, str]) -> None:
    if found := [name for name in OTHER_MODELS if environment.get(name)]:
        raise SetupError(
            f"{', '.join(found)}: both sides are measured on the models that the benchmark starts "
            "here. Unset it, in .env too, or measure your own endpoints with --providers openai."
        )


def _run_here(sets: Sequence[ProviderSet]) -> dict[str, str]:
    """The provider settings with which the stack starts what any of the sets needs."""
    needed: dict[str, str] = {}
    for one in sets:
        for name, provider in one.settings().items():
            if needed.get(name) != SELFHOSTED:
                needed[name] = provider
    return needed


def _scripts(only: str) -> list[Script]:
    """The calls to be held, the one to warm up first."""
    found = {script.name: script for script in map(load_script, sorted(CALLS.glob("*.yaml")))}
    names = [name.strip() for name in only.split(",") if name.strip()] or [
        name for name in found if name != WARM_UP
    ]
    for name in names:
        if name not in found:
            raise SetupError(f"--only {name}: expected one or more of: {', '.join(found)}")
    return [found[WARM_UP], *(found[name] for name in names)]


def _ours(name: str, chosen: ProviderSet) -> Contestant:
    return ours(name, chosen, port=free_port(), metrics_port=free_port())


def _stock(stack: OwnStack) -> Contestant:
    return stock(
        port=free_port(),
        models_url=stack.models_url,
        generation_url=stack.generation_url,
        transcription_model=stack.transcription_model,
        model=stack.language_model(),
    )


def _tell(
    console: Console, sides: Mapping[str, Sequence[BenchCall]], machine: Machine
) -> list[BenchFigure]:
    """Show a table, or one for each set of providers beside the first; returns all figures."""
    (first, calls), *others = sides.items()
    if STOCK in sides:
        found = figures(calls, sides[STOCK])
        show(console, found, machine, ours=first, baseline=STOCK)
        return found
    every = []
    for name, own in [(first, calls), *others]:
        found = [
            replace(one, goal=None, met=None)
            for one in figures(own, [] if name == first else calls)
        ]
        show(console, found, machine, ours=name, baseline="" if name == first else first)
        every += [replace(one, name=f"{name}: {one.name}") for one in found]
    return every


def _write_calls(path: Path, calls: Sequence[BenchCall]) -> None:
    """Every call with its turns and its whole report, to look into."""
    data = [
        {
            **asdict(replace(call, turns=())),
            "turns": [{**asdict(turn), "kind": turn.kind.value} for turn in call.turns],
        }
        for call in calls
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _be_quiet() -> None:
    """Hear of no one but the benchmark, and end on SIGTERM as on Ctrl-C."""
    # The room server's well-known development secret is short; it is used on loopback only.
    warnings.filterwarnings("ignore", message="The HMAC key is")
    logging.getLogger("livekit").setLevel(logging.CRITICAL)

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def main() -> None:
    command_line.run(bench, "bench")
