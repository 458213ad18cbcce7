"""vLLM, on a GPU or on the CPU. Pure: what to run."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from selfhost.engines import scrape
from selfhost.engines.progress import Reading
from selfhost.plan.flags import VllmFlags

Device = Literal["gpu", "cpu"]

CPU_MEMORY_BYTES = 4_000 << 20
START_TIMEOUT_S: dict[Device, float] = {
    "cpu": 600.0,
    "gpu": 900.0,  # it compiles for minutes when it meets a model for the first time
}


def is_installed() -> bool:
    """Whether vLLM for a GPU is in this project's own environment."""
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


@dataclass(frozen=True)
class Vllm:
    """vLLM with one model. An `Engine`.

    Args:
        program: the `vllm` command of the environment that it is installed in.
        source: a hub name or a folder.
        model: what clients ask for; the source's own name is answered to as well.
        flags: what it may take.
        threads: on the CPU.
    """

    program: Path
    source: str
    model: str
    device: Device
    flags: VllmFlags
    threads: int = 1
    forgets_instructions: bool = True

    @property
    def name(self) -> str:
        return f"vLLM ({self.device.upper()})"

    @property
    def start_timeout_s(self) -> float:
        return START_TIMEOUT_S[self.device]

    def command(self, port: int) -> Sequence[str]:
        return (
            *(str(self.program), "serve", self.source),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--served-model-name", self.model, self.source),
            *(("--dtype", "bfloat16") if self.device == "cpu" else ()),
            *self.flags.arguments(),
            "--enable-prefix-caching",
            *("--uvicorn-log-level", "warning"),
        )

    def environment(self) -> Mapping[str, str]:
        told = {
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            # Its processes name themselves, for which they would write over their environment,
            # and with it over the mark by which the stack finds those that it must end.
            "SPT_NOENV": "1",
            **self.flags.environment(),
        }
        if self.device == "cpu":
            told |= {
                # The system places the threads: vLLM would pin them to cores that the recogniser
                # and the voice need too.
                "VLLM_CPU_OMP_THREADS_BIND": "nobind",
                "OMP_NUM_THREADS": str(self.threads),
                # What computes is then one process and not two: it starts in two thirds of the
                # time. The second one would only place threads.
                "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
                # Nothing is compiled, as with `--enforce-eager`, which leaves a few functions out:
                # the first request for log probabilities would wait half a minute for one.
                "TORCHDYNAMO_DISABLE": "1",
                "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive"),
                "HF_HUB_OFFLINE": "1",
                "TRANSFORMERS_OFFLINE": "1",
            }
        return told

    def key_environment(self, key: str) -> Mapping[str, str]:
        return {"VLLM_API_KEY": key}

    def reading(self, metrics: str) -> Reading:
        found = scrape.samples(metrics)
        running = scrape.value(found, "vllm:num_requests_running")
        waiting = scrape.value(found, "vllm:num_requests_waiting")
        # A histogram of each step's tokens despite its name: its count is the number of steps.
        steps = scrape.value(found, "vllm:iteration_tokens_total_count")
        return Reading(int(running + waiting), steps)

    def is_essential(self, command_line: Sequence[str]) -> bool:
        # The processes that compute call themselves so. The one that takes requests may live on
        # without them and say that it is well.
        return bool(command_line) and command_line[0].startswith("VLLM::")


def gpu_program() -> Path:
    """The `vllm` command of this project's own environment."""
    return Path(sys.executable).parent / "vllm"
