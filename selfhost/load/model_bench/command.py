"""`python -m selfhost bench-models`: the models served, beside the same models run directly."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import tempfile
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import httpx
import numpy as np
import typer
from rich.console import Console

from selfhost import command_line, models
from selfhost.engines.llama import THREADS_WAIT
from selfhost.errors import SetupError, told_plainly
from selfhost.load.bench_figures import BenchFigure, at_least, at_most, missed, write
from selfhost.load.bench_table import show
from selfhost.load.machine import MachineWatch
from selfhost.load.model_bench import hearing, pipeline, speaking
from selfhost.load.model_bench.lateness import Step, climb, served_at_once
from selfhost.load.model_bench.process import model_server
from selfhost.load.model_bench.storm import Storm, counts, storm
from selfhost.load.model_bench.task import EMBEDDING, EXTRACTION, GENERATION, question
from selfhost.load.voice import SAMPLE_RATE, BuiltInVoice, to_pcm, trimmed_and_levelled

REPORT = Path("reports/bench-models.json")
PARTS = ("pipeline", "storm", "streams")
WARM_IS_FASTER_BY = 10.0
WARM_RUNS = 8
TIGHT_RUNS = 3
# The generator fits, and some of the others: not all four at once.
TIGHT_BYTES = 1_000_000_000
LIGHTEST = "piper"  # a server is ready with some model; this one is no part of the pipeline
# The reranker is made of the embedder's files.
NEEDED = ("whisper-base", "whisper-tiny", "piper-joe", EMBEDDING, EXTRACTION, GENERATION)
UTTERANCES = (
    "I would like a double room from October sixteenth to October twentieth.",
    "There will be two adults and one child.",
    "My name is Sarah Johnson, and my reference is seven four two nine.",
)


@told_plainly
def bench_models(
    rounds: Annotated[
        int, typer.Option(min=1, help="How often each way of the pipeline is started afresh.")
    ] = 5,
    requests: Annotated[int, typer.Option(min=1, help="Requests of the storm.")] = 1000,
    only: Annotated[
        str, typer.Option(metavar="PART[,PART]", help=f"Only these of: {', '.join(PARTS)}.")
    ] = ",".join(PARTS),
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a goal is missed.")
    ] = False,
    report: Annotated[Path, typer.Option(help="Where the figures go as JSON.")] = REPORT,
) -> None:
    """Measure the four-model pipeline, a storm of evictions, and streams at once."""
    chosen = _parts(only)
    console = Console()
    for name in NEEDED:
        models.ensure(name)
    watch = MachineWatch()
    figures: list[BenchFigure] = []
    with tempfile.TemporaryDirectory(prefix="bench-models-") as folder:
        if "pipeline" in chosen:
            figures += _pipeline(rounds, Path(folder), console)
        if "storm" in chosen:
            figures += _storm(requests, Path(folder), console)
        if "streams" in chosen:
            figures += _streams(Path(folder), console)
    machine = watch.stop()
    show(console, figures, machine)
    write(report, figures, machine)
    console.print(f"The same figures as JSON: {report}")
    if check and missed(figures):
        raise typer.Exit(1)


def _pipeline(rounds: int, folder: Path, console: Console) -> list[BenchFigure]:
    """Direct, cold and warm in turn, so that a busy moment of the machine meets all three."""
    direct_s: list[float] = []
    loading_s: list[float] = []
    cold_s: list[float] = []
    warm_s: list[float] = []
    tight_s: list[float] = []
    loads = evictions = number = 0
    for turn in range(rounds):
        console.print(f"pipeline: round {turn + 1} of {rounds}")
        direct = _run_directly(number)
        direct_s.append(direct["total_s"])
        loading_s.append(direct["load_s"])
        with model_server(folder / f"server-{turn}.log", preload=LIGHTEST) as server:
            times = asyncio.run(_run_served(server.url, number + 1, 1 + WARM_RUNS))
        cold_s.append(times[0])
        warm_s += times[1:]
        number += 2 + WARM_RUNS
        log = folder / f"tight-{turn}.log"
        with model_server(log, preload=LIGHTEST, memory_bytes=str(TIGHT_BYTES)) as server:
            before = asyncio.run(counts(server.root))
            tight_s += asyncio.run(_run_served(server.url, number, TIGHT_RUNS))
            after = asyncio.run(counts(server.root))
        loads += after.loads - before.loads
        evictions += after.evictions - before.evictions
        number += TIGHT_RUNS
    direct_p50 = float(np.percentile(direct_s, 50))
    warm_p50 = float(np.percentile(warm_s, 50))
    figures = []
    for percent in (50, 95):
        for name, values in (("cold", cold_s), ("warm", warm_s), ("too small a budget", tight_s)):
            figures.append(
                BenchFigure(
                    f"pipeline through the server, {name}, p{percent}",
                    "s",
                    round(float(np.percentile(values, percent)), 3),
                    len(values),
                    baseline=round(float(np.percentile(direct_s, percent)), 3),
                    baseline_n=len(direct_s),
                )
            )
    figures.append(
        BenchFigure(
            "of the direct run, loading, p50",
            "s",
            round(float(np.percentile(loading_s, 50)), 3),
            len(loading_s),
        )
    )
    for name, value in (("loads", loads), ("evictions", evictions)):
        figures.append(BenchFigure(f"{name}, with too small a budget", name, value, len(tight_s)))
    faster = BenchFigure(
        "warm, times as fast as direct with loading, p50",
        "×",
        round(direct_p50 / warm_p50, 1),
        len(warm_s),
        baseline=1.0,
        baseline_n=len(direct_s),
    )
    return [*figures, at_least(faster, WARM_IS_FASTER_BY)]


def _run_directly(number: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "selfhost.load.model_bench.direct", str(number)],
        # As the served engine has it: threads that spin while they wait would only slow this side.
        env=os.environ | THREADS_WAIT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SetupError(f"the models cannot be run directly:\n{done.stderr[-2000:]}")
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


async def _run_served(url: str, first: int, runs: int) -> list[float]:
    async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as client:
        return [await pipeline.run(client, question(first + run)) for run in range(runs)]


def _storm(requests: int, folder: Path, console: Console) -> list[BenchFigure]:
    console.print(f"storm: {requests} requests over more models than fit")
    sound = _wav(_spoken(UTTERANCES[1]))
    results: dict[str, Storm] = {}
    for name, settings in (
        ("all models fit", {}),
        ("evictions forced", {"memory_bytes": str(TIGHT_BYTES)}),
    ):
        with model_server(
            folder / f"storm-{len(results)}.log", preload=LIGHTEST, **settings
        ) as one:
            results[name] = asyncio.run(storm(one.root, requests, sound=sound))
    fits, forced = results["all models fit"], results["evictions forced"]
    for failure in [*fits.failures, *forced.failures][:10]:
        console.print(f"failed: {failure}", style="red", markup=False)
    figures = [
        at_most(
            BenchFigure(
                "requests failed under evictions",
                "requests",
                len(forced.failures),
                requests,
                baseline=len(fits.failures),
                baseline_n=requests,
            ),
            0,
        ),
        at_least(
            BenchFigure(
                "evictions", "evictions", forced.evictions, requests, fits.evictions, requests
            ),
            1,
        ),
        BenchFigure("loads", "loads", forced.loads, requests, fits.loads, requests),
    ]
    for percent in (50, 95):
        figures.append(
            BenchFigure(
                f"a request under evictions, p{percent}",
                "s",
                _percentile(forced.latencies_s, percent),
                len(forced.latencies_s),
                baseline=_percentile(fits.latencies_s, percent),
                baseline_n=len(fits.latencies_s),
            )
        )
    return figures


def _streams(folder: Path, console: Console) -> list[BenchFigure]:
    utterances = [_spoken(text) for text in UTTERANCES]
    console.print("streams: callers who speak at once, then answers spoken at once")
    with model_server(folder / "streams.log") as server:
        heard = climb(lambda streams: hearing.served(server.realtime_url, utterances, streams))
        spoken = climb(lambda streams: speaking.served(server.url, streams))
    heard_directly = climb(lambda streams: hearing.direct(utterances, streams))
    spoken_directly = climb(speaking.direct)
    return [
        *_compared("callers heard at once, no partial late", heard, heard_directly, "partial"),
        *_compared("answers spoken at once, none late", spoken, spoken_directly, "sound"),
    ]


def _compared(
    name: str, ours: Sequence[Step], baseline: Sequence[Step], first: str
) -> list[BenchFigure]:
    most, most_baseline = served_at_once(ours), served_at_once(baseline)
    figures = [
        at_least(
            BenchFigure(name, "streams", most, ours[-1].n, most_baseline, baseline[-1].n),
            most_baseline,
        )
    ]
    by_streams = {one.streams: one for one in baseline}
    for one in ours:
        other = by_streams.get(one.streams)
        figures.append(
            BenchFigure(
                f"  {one.streams} at once: first {first}, p95",
                "s",
                one.first_p95_s,
                one.n,
                baseline=other.first_p95_s if other else None,
                baseline_n=other.n if other else None,
            )
        )
    return figures


def _spoken(text: str) -> hearing.Pcm:
    return to_pcm(trimmed_and_levelled(BuiltInVoice().speak(text, 1.0)))


def _wav(pcm: hearing.Pcm) -> bytes:
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(pcm.astype("<i2").tobytes())
    return target.getvalue()


def _percentile(values: Sequence[float], percent: float) -> float | None:
    return round(float(np.percentile(values, percent)), 3) if values else None


def _parts(only: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in only.split(",") if part.strip())
    for part in chosen:
        if part not in PARTS:
            raise SetupError(f"--only {part}: expected one or more of: {', '.join(PARTS)}")
    return chosen


def main() -> None:
    command_line.run(bench_models, "bench-models")
