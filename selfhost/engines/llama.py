"""llama.cpp on the CPU: the generation engine of a machine without a GPU."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import httpx
import psutil
import uvicorn

from selfhost.engines.front import create_app
from selfhost.errors import SetupError

MODEL = "qwen2.5-coder-1.5b-instruct"
MEMORY_BYTES = 2_500 << 20

SLOTS = 4
CONTEXT_TOKENS_PER_SLOT = 4096
# How many tokens of prompts are read before the engine looks up: for a request that was given up,
# and for the next word of the other calls, which all wait meanwhile. 64 take about a second.
BATCH_TOKENS = 64
GRACE_S = 1


def threads() -> int:
    """Physical cores that this process may use; two threads on one only wait for each other."""
    physical = psutil.cpu_count(logical=False) or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


def serve(weights: Path, host: str, port: int, api_key: str | None) -> None:
    """Load the model and serve OpenAI's endpoints until SIGTERM or SIGINT.

    Args:
        weights: a GGUF file.
        host: the address to listen on.
        port: the port to listen on.
        api_key: what clients must send as their bearer token; None asks for none.

    Raises:
        SetupError: the address cannot be listened on.
    """
    with tempfile.TemporaryDirectory(prefix="hotel-voice-slots-") as folder:
        engine = _load(weights, Path(folder), api_key)
        client = httpx.AsyncClient(
            base_url=engine.listening_address,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
            timeout=None,
            trust_env=False,
        )
        config = uvicorn.Config(
            create_app(client, SLOTS, Path(folder)),
            host=host,
            port=port,
            log_level="warning",
            timeout_graceful_shutdown=GRACE_S,
        )
        server = uvicorn.Server(config)
        server.run()
        del engine  # ends its threads; without it the process would hang at exit
    if not server.started:
        raise SetupError(f"The generation engine could not listen on {host} port {port}.")


def _load(weights: Path, slot_folder: Path, api_key: str | None) -> Any:
    """The engine, with an HTTP server of its own on a free port of the loopback interface."""
    # OpenMP's threads otherwise spin while they wait, which starves the recogniser and the voice
    # that share the cores, and each other: on two cores beside one busy process, 7 tokens/s
    # instead of 16, against 25 instead of 20 with nothing else running. libgomp reads
    # it when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT_TOKENS_PER_SLOT
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
    params.slot_save_path = f"{slot_folder}/"
    params.endpoint_metrics = True
    params.offline = True
    params.ui = False
    if api_key:
        params.api_keys = [api_key]
    return xllamacpp.Server(params)
