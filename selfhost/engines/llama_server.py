"""llama.cpp's own HTTP server as a process, until SIGTERM or SIGINT. Run by `engines.process`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import Any

from selfhost.engines.llama import KEY_VARIABLE

# How many tokens of prompts are read before the engine looks up: for a request that was given up,
# and for the next word of the other calls, which all wait meanwhile. 64 take about a second.
BATCH_TOKENS = 64


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    for text in ("weights", "alias", "slot-folder"):
        parser.add_argument(f"--{text}", required=True)
    for number in ("port", "slots", "context-tokens", "threads"):
        parser.add_argument(f"--{number}", type=int, required=True)
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # before there are threads, so for all
    engine = _load(parser.parse_args(arguments))
    signal.sigwait(signals)
    del engine  # ends its threads; without it the process would hang at exit


def _load(given: argparse.Namespace) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = given.weights
    params.model_alias = {given.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = given.port
    params.n_parallel = given.slots
    params.n_ctx = given.slots * given.context_tokens
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.slot_save_path = f"{given.slot_folder}/"
    params.endpoint_metrics = True
    params.offline = True
    params.ui = False
    if key := os.environ.get(KEY_VARIABLE):
        params.api_keys = [key]
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main(sys.argv[1:])
