"""Which engine serves generation, with which model and which memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from selfhost.catalogue import CATALOGUE
from selfhost.engines import dequantised, environment, vllm
from selfhost.engines.engine import Engine
from selfhost.engines.llama import MODEL, LlamaCpp, threads
from selfhost.engines.vllm import Vllm
from selfhost.errors import SetupError
from selfhost.folders import cache_root
from selfhost.plan.flags import VllmFlags

SMALL_MODEL = "qwen2.5-coder-0.5b-instruct"
GPU_MODEL = "Qwen/Qwen3-4B-Instruct-2507"

GPU_MAX_MODEL_LEN = 8192
GPU_MAX_SEQS = 256
GPU_BATCHED_TOKENS = 2048
CPU_MAX_MODEL_LEN = 4096
CPU_MAX_SEQS = 8
CPU_KV_CACHE_GIB = 1
# A step reads at most so many tokens of prompts. On a few cores vLLM's own 2048 would be tens of
# seconds in which the calls under way get no word.
CPU_BATCHED_TOKENS = 512


@dataclass(frozen=True)
class Wanted:
    """What was asked for.

    Args:
        model: a hub name, a folder or a name of the catalogue; None for the usual one.
        gpu_memory_utilization: vLLM's share of the card, in (0, 1].
        kv_cache_gib: of vLLM's cache on the CPU.
    """

    engine: Literal["auto", "llama", "vllm"] = "auto"
    device: Literal["auto", "cpu", "gpu"] = "auto"
    model: str | None = None
    gpu_memory_utilization: float = 0.6
    kv_cache_gib: int = CPU_KV_CACHE_GIB

    def settled(self, gpu_count: Callable[[], int]) -> Wanted:
        """The same without "auto".

        Args:
            gpu_count: asked only where it matters.

        Raises:
            SetupError: the engine does not run on the device.
        """
        device = self.device
        if device == "auto":
            device = "gpu" if self.engine != "llama" and gpu_count() else "cpu"
        engine = self.engine
        if engine == "auto":
            engine = "vllm" if device == "gpu" else "llama"
        if engine == "llama" and device == "gpu":
            raise SetupError(
                "llama.cpp serves the CPU here; expected --engine vllm with --device gpu."
            )
        return replace(self, engine=engine, device=device)


def build(wanted: Wanted, folder: Path, *, must_exist: bool) -> Engine:
    """The engine.

    Args:
        wanted: settled.
        folder: an empty one, for what the engine keeps while it runs.
        must_exist: whether its program and its model must be here; a dry run needs neither.

    Raises:
        SetupError: the program or the model is not here.
    """
    if wanted.engine == "llama":
        return _llama(wanted.model or MODEL, folder, must_exist)
    if wanted.device == "cpu":
        return _vllm_on_cpu(wanted, must_exist)
    return _vllm_on_gpu(wanted, must_exist)


def _llama(model: str, folder: Path, must_exist: bool) -> Engine:
    if must_exist:
        from selfhost import models

        return LlamaCpp(models.weights(model), model, folder)
    if model not in CATALOGUE:
        raise SetupError(f"no model is named {model!r}; expected one of: {MODEL}, {SMALL_MODEL}")
    planned = cache_root() / "models" / model / CATALOGUE[model].files[0].name
    return LlamaCpp(planned, model, folder)


def _vllm_on_gpu(wanted: Wanted, must_exist: bool) -> Engine:
    if must_exist and not vllm.is_installed():
        raise SetupError("vLLM is not installed. Install it: uv sync --extra gpu")
    return Vllm(
        vllm.gpu_program(),
        wanted.model or os.environ.get("GENERATION_GPU_MODEL") or GPU_MODEL,
        MODEL,  # the same name as on the CPU, so that clients need no change
        "gpu",
        VllmFlags(
            max_model_len=GPU_MAX_MODEL_LEN,
            max_num_seqs=GPU_MAX_SEQS,
            max_num_batched_tokens=GPU_BATCHED_TOKENS,
            gpu_memory_utilization=wanted.gpu_memory_utilization,
        ),
    )


def _vllm_on_cpu(wanted: Wanted, must_exist: bool) -> Engine:
    model = wanted.model or SMALL_MODEL
    if model in CATALOGUE:
        source = dequantised.require(model) if must_exist else dequantised.folder(model)
    else:
        source = Path(model).resolve()
        if must_exist and not (source / "config.json").is_file():
            raise SetupError(
                f"no model is in {source}: expected a folder with a config.json, or one of: "
                f"{SMALL_MODEL}"
            )
    installed = environment.require() if must_exist else environment.planned()
    return Vllm(
        installed.program,
        str(source),
        MODEL,
        "cpu",
        VllmFlags(
            max_model_len=CPU_MAX_MODEL_LEN,
            max_num_seqs=CPU_MAX_SEQS,
            max_num_batched_tokens=CPU_BATCHED_TOKENS,
            cpu_kv_cache_gib=wanted.kv_cache_gib,
            enforce_eager=True,
        ),
        threads=threads(),
    )
