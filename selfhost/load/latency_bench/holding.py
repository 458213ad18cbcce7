"""Holds the benchmark's calls: one after another, each side in turn, by the simulated caller."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from selfhost.errors import SetupError
from selfhost.load.caller import CallError, Line
from selfhost.load.command import play, speak_turns
from selfhost.load.latency_bench.contestants import Contestant
from selfhost.load.latency_bench.own_stack import OwnStack, Worker, worker
from selfhost.load.latency_bench.schedule import alternate
from selfhost.load.latency_bench.stock_delays import stages
from selfhost.load.latency_bench.turns import BenchCall, bench_turns, failed_turns
from selfhost.load.machine import Machine, MachineWatch, tree_cpu_s
from selfhost.load.patience import Patience
from selfhost.load.script import Script

CALLS = Path(__file__).parent / "calls"
SETTLE_S = 2.0  # between calls, for the last one's process to end
PATIENCE = Patience(answer_s=15.0, monologue_s=20.0)


@contextmanager
def workers(stack: OwnStack, contestants: Sequence[Contestant]) -> Iterator[dict[str, Worker]]:
    """Start all of them; gives them by their names."""
    with ExitStack() as running:
        yield {
            one.name: running.enter_context(worker(stack, one.name, one.command, one.environment))
            for one in contestants
        }


@dataclass(frozen=True)
class Run:
    """What was held.

    Args:
        machine: how busy it was, the warming up left out.
        stopped: whether the user ended it before its end.
    """

    calls: list[BenchCall]
    machine: Machine
    stopped: bool


def hold(
    stack: OwnStack,
    takers: Mapping[str, Worker],
    scripts: Sequence[Script],
    rounds: int,
    wav: Path | None,
    console: Console,
) -> Run:
    """Hold all calls, alternating.

    Args:
        stack: what the workers run on.
        takers: the workers by their names.
        scripts: the calls; the first one warms each worker up, and is not counted.
        rounds: how often each worker takes each of the others.
        wav: a folder for their sound, if it is wanted.
        console: where progress is told.

    Returns:
        The calls; those so far if Ctrl-C ends it, unless not every worker has taken one.

    Raises:
        SetupError: a worker does not answer at all.
    """
    endpoint = stack.models_url, stack.environment.get("MODEL_SERVER_API_KEY", "")
    spoken = [speak_turns(script, CALLS, endpoint) for script in scripts]
    for name, taker in takers.items():
        console.print(f"warming up: {name}")
        if failed := _call(stack, name, taker, scripts[0], spoken[0], 0, None).failed:
            raise SetupError(f"{name} takes no call: {failed}")
    watch = MachineWatch()
    calls: list[BenchCall] = []
    slots = alternate(rounds, len(scripts) - 1, list(takers))
    try:
        for number, slot in enumerate(slots, start=1):
            script, lines = scripts[slot.call + 1], spoken[slot.call + 1]
            name = slot.contestant
            file = wav / f"{script.name}-{slot.round + 1}-{name}.wav" if wav else None
            call = _call(stack, name, takers[name], script, lines, slot.round, file)
            calls.append(call)
            console.print(f"{number} of {len(slots)}: {script.name}, {name}: {_said_of(call)}")
    except KeyboardInterrupt:
        if len({call.contestant for call in calls}) < len(takers):
            raise
        return Run(calls, watch.stop(), stopped=True)
    return Run(calls, watch.stop(), stopped=False)


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
