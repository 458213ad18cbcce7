"""llama.cpp on the CPU: the generation engine of a machine without a GPU."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import psutil

MODEL = "qwen2.5-coder-1.5b-instruct"
MEMORY_BYTES = 2_200 << 20

SLOTS = 4
CONTEXT_TOKENS_PER_SLOT = 4096


def threads() -> int:
    """Physical cores that this process may use; two threads on one only wait for each other."""
    physical = psutil.cpu_count(logical=False) or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


def serve(weights: Path, host: str, port: int) -> None:
    """Load the model and serve OpenAI's endpoints until SIGTERM or SIGINT.

    Args:
        weights: a GGUF file.
        host: the address to listen on.
        port: the port to listen on.
    """
    # OpenMP's threads otherwise spin while they wait, which starves the recogniser and the voice
    # that share the cores: beside another busy process, 3 tokens/s instead of 16. libgomp reads
    # it when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {MODEL}
    params.hostnames = [host]
    params.port = port
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT_TOKENS_PER_SLOT
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
    params.endpoint_metrics = True
    params.offline = True
    params.ui = False

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}", flush=True)
    ended.wait()
    del server  # ends its threads; without it the process would hang at exit
