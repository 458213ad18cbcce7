"""llama.cpp on the CPU: the generation engine of a machine without a GPU. Pure: what to run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from selfhost.engines import scrape
from selfhost.engines.progress import Reading
from selfhost.plan.flags import LlamaCppFlags

MODEL = "qwen2.5-coder-1.5b-instruct"
MEMORY_BYTES = 2_500 << 20
KEY_VARIABLE = "LLAMA_API_KEY"


def threads() -> int:
    """Physical cores that this process may use; two threads on one only wait for each other."""
    physical = psutil.cpu_count(logical=False) or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


# OpenMP's threads otherwise spin while they wait, which starves the recogniser and the voice that
# share the cores, and each other: on two cores beside one busy process, 7 tokens/s instead of 16,
# against 25 instead of 20 with nothing else running. A very short spin keeps most of both: the 0.5B
# model has 37 tokens/s instead of 26 alone, and 18 instead of 23 beside a busy process (6 answers
# each; with 3,000 turns it was 10).
THREADS_WAIT = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "500"}


@dataclass(frozen=True)
class LlamaCpp:
    """llama.cpp with one GGUF file. An `Engine`.

    Args:
        weights: the GGUF file.
        model: what clients ask for.
        slot_folder: where it keeps what it has read.
        flags: how many requests it works on at once, and how long they may be.
    """

    weights: Path
    model: str
    slot_folder: Path
    flags: LlamaCppFlags
    name: str = "llama.cpp"
    start_timeout_s: float = 120.0
    # What it has read lies in `slot_folder` and is given back when it is next asked for.
    forgets_instructions: bool = False

    def command(self, port: int) -> Sequence[str]:
        return (
            *(sys.executable, "-m", "selfhost.engines.llama_server"),
            *("--weights", str(self.weights)),
            *("--alias", self.model),
            *("--port", str(port)),
            *("--slots", str(self.flags.slots)),
            *("--context-tokens", str(self.flags.context_tokens_per_slot)),
            *("--slot-folder", str(self.slot_folder)),
            *("--threads", str(threads())),
        )

    def environment(self) -> Mapping[str, str]:
        return {name: os.environ.get(name, value) for name, value in THREADS_WAIT.items()}

    def key_environment(self, key: str) -> Mapping[str, str]:
        return {KEY_VARIABLE: key}

    def reading(self, metrics: str) -> Reading:
        found = scrape.samples(metrics)
        running = scrape.value(found, "llamacpp:requests_processing")
        waiting = scrape.value(found, "llamacpp:requests_deferred")
        return Reading(int(running + waiting), scrape.value(found, "llamacpp:n_decode_total"))

    def is_essential(self, command_line: Sequence[str]) -> bool:
        return False  # it is a single process
