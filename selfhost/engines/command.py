"""`python -m selfhost generate`: the generation engine as a process."""

from __future__ import annotations

import os
import shlex
from typing import Annotated, Literal

import typer

from selfhost import command_line
from selfhost.engines import gpu, llama, vllm
from selfhost.errors import SetupError, told_plainly


@told_plainly
def generate(
    profile: Annotated[
        Literal["auto", "cpu", "gpu"],
        typer.Option(help="cpu: llama.cpp. gpu: vLLM. auto: gpu where there is one."),
    ] = "auto",
    host: Annotated[
        str, typer.Option(envvar="SELFHOST_HOST", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(envvar="GENERATION_PORT", help="Port to listen on.")] = 8200,
    model: Annotated[
        str,
        typer.Option(envvar="GENERATION_GPU_MODEL", help="With vLLM: a hub name or a folder."),
    ] = "Qwen/Qwen3-4B-Instruct-2507",
    gpu_memory_utilization: Annotated[
        float,
        typer.Option(
            envvar="GENERATION_GPU_MEMORY_UTILIZATION",
            min=0.01,
            max=1.0,
            help="With vLLM: its share of the card's memory.",
        ),
    ] = 0.6,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and end.")
    ] = False,
) -> None:
    """Serve the language model over OpenAI's endpoints."""
    if profile == "auto":
        profile = "gpu" if gpu.count() else "cpu"
    if profile == "gpu":
        command = vllm.command(
            model,
            host=host,
            port=port,
            served_name=llama.MODEL,
            gpu_memory_utilization=gpu_memory_utilization,
        )
        if dry_run:
            print(shlex.join(command))
            return
        if not vllm.is_installed():
            raise SetupError("vLLM is not installed. Install it: uv sync --extra gpu")
        if key := os.environ.get("MODEL_SERVER_API_KEY"):
            os.environ["VLLM_API_KEY"] = key
        os.execv(command[0], command)
    if dry_run:
        print(f"llama.cpp: {llama.MODEL} on {host} port {port}, {llama.threads()} threads")
        return
    from selfhost import models

    llama.serve(models.weights(llama.MODEL), host, port, os.environ.get("MODEL_SERVER_API_KEY"))


def main() -> None:
    command_line.run(generate, "generate")
