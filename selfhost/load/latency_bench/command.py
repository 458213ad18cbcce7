"""`python -m selfhost bench`: this worker and the stock pipeline on the same calls, in one run."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
from selfhost.load.caller import CallError, Line
from selfhost.load.command import play, speak_turns
from selfhost.load.display import machine_line
from selfhost.load.latency_bench import providers
from selfhost.load.latency_bench.contestants import STOCK, Contestant, ours, stock
from selfhost.load.latency_bench.figures import figures
from selfhost.load.latency_bench.own_stack import OwnStack, Worker, own_stack, worker
from selfhost.load.latency_bench.picture import draw
from selfhost.load.latency_bench.providers import ALL_SELFHOSTED, SELFHOSTED, ProviderSet
from selfhost.load.latency_bench.schedule import alternate
from selfhost.load.latency_bench.stock_delays import stages
from selfhost.load.latency_bench.turns import BenchCall, bench_turns, failed_turns
from selfhost.load.machine import Machine, MachineWatch, tree_cpu_s
from selfhost.load.patience import Patience
from selfhost.load.script import Script, load_script
from selfhost.ports import free_port

OURS = "ours"
REPORT = Path("reports/bench.json")
CALLS = Path(__file__).parent / "calls"
WARM_UP = "warm-up"  # the call that each side takes first and that is not counted
SETTLE_S = 2.0  # between calls, for the last one's process to end
PATIENCE = Patience(answer_s=15.0, monologue_s=20.0)
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
                [ours(one.name, one, port=free_port()) for one in sets]
                if chosen
                else [ours(OURS, ALL_SELFHOSTED, port=free_port()), _stock(stack)]
            )
            with _workers(stack, contestants) as workers:
                calls, machine = _hold(stack, workers, scripts, rounds, wav, console)
    sides = {one.name: [c for c in calls if c.contestant == one.name] for one in contestants}
    found = _tell(console, sides, machine)
    write(report, found, machine)
    _write_calls(report.with_suffix(".calls.json"), calls)
    picture = report.with_suffix(".png")
    draw(picture, sides, f"{len(calls)} calls; {machine_line(machine)}")
    console.print(f"The same figures as JSON: {report}; as a picture: {picture}")
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
            console.print(reason, style="yellow")
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
    found = {script.name: script for script in map(load_script, sorted(CALLS.glob("*.yaml")))}
    names = [name.strip() for name in only.split(",") if name.strip()] or [
        name for name in found if name != WARM_UP
    ]
    for name in names:
        if name not in found:
            raise SetupError(f"--only {name}: expected one or more of: {', '.join(found)}")
    return [found[WARM_UP], *(found[name] for name in names)]


def _stock(stack: OwnStack) -> Contestant:
    return stock(
        port=free_port(),
        models_url=stack.models_url,
        generation_url=stack.generation_url,
        transcription_model=stack.transcription_model,
        model=stack.language_model(),
    )


@contextmanager
def _workers(stack: OwnStack, contestants: Sequence[Contestant]) -> Iterator[dict[str, Worker]]:
    """Start all of them; gives them by their names."""
    with ExitStack() as running:
        yield {
            one.name: running.enter_context(worker(stack, one.name, one.command, one.environment))
            for one in contestants
        }


def _hold(
    stack: OwnStack,
    workers: Mapping[str, Worker],
    scripts: Sequence[Script],
    rounds: int,
    wav: Path | None,
    console: Console,
) -> tuple[list[BenchCall], Machine]:
    """Hold all calls, the first script only to warm up; also says how busy the machine was."""
    endpoint = stack.models_url, stack.environment.get("MODEL_SERVER_API_KEY", "")
    spoken = [speak_turns(script, CALLS, endpoint) for script in scripts]
    for name, taker in workers.items():
        console.print(f"warming up: {name}")
        _call(stack, name, taker, scripts[0], spoken[0], 0, None)
    watch = MachineWatch()
    calls = []
    slots = alternate(rounds, len(scripts) - 1, list(workers))
    for number, slot in enumerate(slots, start=1):
        script, lines = scripts[slot.call + 1], spoken[slot.call + 1]
        name = slot.contestant
        file = wav / f"{script.name}-{slot.round + 1}-{name}.wav" if wav else None
        call = _call(stack, name, workers[name], script, lines, slot.round, file)
        calls.append(call)
        console.print(f"{number} of {len(slots)}: {script.name}, {name}: {_said_of(call)}")
    return calls, watch.stop()


def _call(
    stack: OwnStack,
    name: str,
    taker: Worker,
    script: Script,
    lines: Sequence[Line],
    round_number: int,
    wav: Path | None,
) -> BenchCall:
    """Hold one call and wait until its process has ended, whose time belongs to it."""
    room = replace(stack.room, agent_name=name)
    room_name = f"bench-{script.name}-{secrets.token_hex(4)}"
    before_s, before = tree_cpu_s((stack.pid, taker.pid)), len(taker.said())
    try:
        report = asyncio.run(play(script, lines, room, room_name, PATIENCE, wav, lambda _: None))
    except CallError as error:
        return BenchCall(name, script.name, round_number, failed_turns(script), failed=str(error))
    finally:
        time.sleep(SETTLE_S)
    return BenchCall(
        name,
        script.name,
        round_number,
        bench_turns(script, report),
        greeting_ms=report.greeting_ms,
        cpu_s=tree_cpu_s((stack.pid, taker.pid)) - before_s,
        stages=stages(taker.said()[before:]),
        report=report.to_dict(),
    )


def _said_of(call: BenchCall) -> str:
    if call.failed:
        return call.failed
    gaps = [turn.uncut_gap_ms for turn in call.turns]
    shown = " ".join("–" if gap is None else f"{gap / 1000:.2f}" for gap in gaps)
    return f"gaps {shown} s"


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
