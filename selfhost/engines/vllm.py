"""vLLM: the generation engine of a machine with a GPU. Only the command is built here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

MAX_MODEL_LEN = 8192


def is_installed() -> bool:
    return importlib.util.find_spec("vllm") is not None


def has_model(model: str) -> bool:
    """Whether a model is on this machine: a folder, or whole in the hub's cache."""
    if Path(model).is_dir():
        return True
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        snapshot_download(model, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError):
        return False
    return True


def command(
    model: str, *, host: str, port: int, served_name: str, gpu_memory_utilization: float
) -> list[str]:
    """`vllm serve` for one model.

    Args:
        model: a hub name or a folder.
        host: the address to listen on.
        port: the port to listen on.
        served_name: what clients ask for; the same as on the CPU, so that they need no change.
        gpu_memory_utilization: the share of the card's memory that vLLM may take, in (0, 1]; the
            model server's models share the card.
    """
    return [
        str(Path(sys.executable).parent / "vllm"),
        "serve",
        model,
        *("--host", host),
        *("--port", str(port)),
        *("--served-model-name", served_name, model),
        *("--gpu-memory-utilization", f"{gpu_memory_utilization:g}"),
        *("--max-model-len", str(MAX_MODEL_LEN)),
        "--enable-prefix-caching",
    ]
