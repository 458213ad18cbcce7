"""`python -m selfhost generate`: the generation engine as a process."""

from __future__ import annotations

import logging
import os
import secrets
import shlex
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
import uvicorn
from pydantic import TypeAdapter, ValidationError

from selfhost import command_line, descendants
from selfhost.engines import choice, gpu
from selfhost.engines.engine import Engine
from selfhost.engines.front import create_app
from selfhost.engines.gate import Gate
from selfhost.engines.placement import placements
from selfhost.engines.process import HUNG_AFTER_S, EngineProcess
from selfhost.errors import SetupError, told_plainly
from selfhost.sentinel import Sentinel

GRACE_S = 1
_MESSAGES = TypeAdapter(list[dict[str, str]])


@told_plainly
def generate(
    engine: Annotated[
        Literal["auto", "llama", "vllm"],
        typer.Option(
            envvar="GENERATION_ENGINE", help="auto: vllm on a GPU, llama (llama.cpp) on the CPU."
        ),
    ] = "auto",
    device: Annotated[
        Literal["auto", "cpu", "gpu"],
        typer.Option("--device", "--profile", help="auto: gpu where there is one."),
    ] = "auto",
    host: Annotated[
        str, typer.Option(envvar="SELFHOST_HOST", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(envvar="GENERATION_PORT", help="Port to listen on.")] = 8200,
    model: Annotated[
        str | None,
        typer.Option(
            help="On a GPU a hub name or a folder, GENERATION_GPU_MODEL by default; on the CPU a "
            "name that `python -m selfhost models` lists, or with vllm a folder."
        ),
    ] = None,
    gpu_memory_utilization: Annotated[
        float | None,
        typer.Option(
            envvar="GENERATION_GPU_MEMORY_UTILIZATION",
            min=0.01,
            max=1.0,
            help="With vllm on a GPU: its share of the card's memory, instead of the plan's.",
        ),
    ] = None,
    card: Annotated[
        str | None,
        typer.Option(help="With --dry-run: a card to plan for, by name, instead of the one here."),
    ] = None,
    shares_card: Annotated[
        bool,
        typer.Option(
            "--shares-card",
            help="The model server's models lie on the card too (MODEL_SERVER_DEVICE).",
        ),
    ] = False,
    kv_cache_gib: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With vllm on the CPU: GiB for what it has read, instead of the plan's.",
        ),
    ] = None,
    hung_after_s: Annotated[
        float,
        typer.Option(min=1.0, help="An engine with work and no progress for so long is restarted."),
    ] = HUNG_AFTER_S,
    instructions: Annotated[
        Path | None,
        typer.Option(
            envvar="GENERATION_INSTRUCTIONS",
            help="JSON, as `python -m agent instructions` prints it: chat messages to be read "
            "before the engine is called healthy.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and end.")
    ] = False,
) -> None:
    """Serve the language model over OpenAI's endpoints, and keep the engine behind them up."""
    wanted = choice.Wanted(
        engine=engine,
        device=device,
        model=model,
        gpu_memory_utilization=gpu_memory_utilization,
        card=card,
        shares_card=shares_card,
        kv_cache_gib=kv_cache_gib,
    ).settled(gpu_count=gpu.count)
    first = _messages(instructions) if instructions else []
    with tempfile.TemporaryDirectory(prefix="hotel-voice-slots-") as folder:
        if dry_run:
            chosen = choice.build(wanted, Path(folder), must_exist=False)
            print(f"on {host} port {port}, and behind it, on a free port:")
            print(_shown(chosen))
            return
        chosen = choice.build(wanted, Path(folder), must_exist=True)
        with _swept():
            _serve(chosen, Path(folder), host, port, hung_after_s, first)


def _shown(engine: Engine) -> str:
    """The command as a shell would take it."""
    environment = [f"{name}={shlex.quote(value)}" for name, value in engine.environment().items()]
    # The port is free at the time of the start; 0 stands for it.
    return " ".join([*environment, shlex.join(engine.command(0))])


def _messages(path: Path) -> list[dict[str, str]]:
    """
    Raises:
        SetupError: the file does not hold chat messages.
    """
    try:
        return _MESSAGES.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise SetupError(
            f"{path}: expected a JSON list of chat messages, as `python -m agent instructions` "
            f"prints it ({type(error).__name__})"
        ) from None


def _serve(
    engine: Engine,
    folder: Path,
    host: str,
    port: int,
    hung_after_s: float,
    instructions: Sequence[dict[str, str]],
) -> None:
    """
    Raises:
        SetupError: the address cannot be listened on, or the engine was given up.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    failures: list[str] = []

    def give_up(reason: str) -> None:
        failures.append(reason)
        server.should_exit = True

    process = EngineProcess(engine, hung_after_s=hung_after_s, on_failure=give_up)
    gate = Gate(process, placements(engine, folder))
    config = uvicorn.Config(
        create_app(process, gate, os.environ.get("MODEL_SERVER_API_KEY") or None, instructions),
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_S,
    )
    server = uvicorn.Server(config)
    # Once it has shut down, uvicorn sends itself the signal that it was ended by, which would end
    # this process before the engine.
    signal.signal(signal.SIGTERM, lambda *_: None)
    process.start()
    try:
        server.run()
    finally:
        process.close()
    if failures:
        raise SetupError(f"The generation engine was given up: {failures[0]}")
    if not server.started:
        raise SetupError(f"The generation engine could not listen on {host} port {port}.")


@contextmanager
def _swept() -> Iterator[None]:
    """Leave no process behind, whatever this one dies of. In the stack, the stack sees to it."""
    if descendants.MARK in os.environ:
        yield
        return
    own = secrets.token_hex(8)
    sentinel = Sentinel(own)  # before the mark is set, by which it would find and end itself
    os.environ |= descendants.mark(own, "engine")
    try:
        yield
    finally:
        sentinel.dismiss()


def main() -> None:
    command_line.run(generate, "generate")
