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
from selfhost.plan import cards, flags, product
from selfhost.plan.find import find_generator

SMALL_MODEL = "qwen2.5-coder-0.5b-instruct"
GPU_MODEL = "Qwen/Qwen3-4B-Instruct-2507"

VLLM_SEQUENCES_ON_CPU = 8
# A step reads at most so many tokens of prompts. On a few cores vLLM's own 2048 would be tens of
# seconds in which the calls under way get no word.
CPU_BATCHED_TOKENS = 512


@dataclass(frozen=True)
class Wanted:
    """What was asked for.

    Args:
        model: a hub name, a folder or a name of the catalogue; None for the usual one.
        gpu_memory_utilization: vLLM's share of the card, in (0, 1]; None to take what the memory
            plan gives it.
        card: by name or memory, for a plan without that card; None for the one that is here.
        shares_card: the model server's models lie on it too.
        kv_cache_gib: of vLLM's cache on the CPU; None to take what the memory plan gives it.
    """

    engine: Literal["auto", "llama", "vllm"] = "auto"
    device: Literal["auto", "cpu", "gpu"] = "auto"
    model: str | None = None
    gpu_memory_utilization: float | None = None
    card: str | None = None
    shares_card: bool = False
    kv_cache_gib: int | None = None

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

        weights = models.weights(model)
    elif model in CATALOGUE:
        weights = cache_root() / "models" / model / CATALOGUE[model].files[0].name
    else:
        raise SetupError(f"no model is named {model!r}; expected one of: {MODEL}, {SMALL_MODEL}")
    planned = flags.llama_cpp(
        find_generator(model),
        context_tokens=product.CONTEXT_TOKENS,
        sequences=product.SEQUENCES_ON_CPU,
    )
    return LlamaCpp(weights, model, folder, planned)


def _vllm_on_gpu(wanted: Wanted, must_exist: bool) -> Engine:
    if must_exist and not vllm.is_installed():
        raise SetupError("vLLM is not installed. Install it: uv sync --extra gpu")
    model = wanted.model or os.environ.get("GENERATION_GPU_MODEL") or GPU_MODEL
    # Clients ask for it by the same name as on the CPU, so that they need no change.
    return Vllm(vllm.gpu_program(), model, MODEL, "gpu", _on_card(wanted, model))


def _on_card(wanted: Wanted, model: str) -> flags.VllmFlags:
    """
    Raises:
        SetupError: the plan does not know the model, or it does not fit, or no card is here.
    """
    card = cards.parse(wanted.card) if wanted.card else cards.found()
    share = wanted.gpu_memory_utilization
    try:
        if card.is_cpu:
            raise SetupError(
                "No GPU is seen here, so its memory cannot be planned. Name one with --card."
            )
        return product.vllm_flags(model, card, shares_card=wanted.shares_card, utilisation=share)
    except SetupError as error:
        if share is None:
            raise SetupError(
                f"{error}\nTo start it without a plan, set GENERATION_GPU_MEMORY_UTILIZATION to "
                "the share of the card's memory that it may take."
            ) from None
        # The user has decided; vLLM itself says if that cannot be.
        return flags.VllmFlags(
            max_model_len=product.CONTEXT_TOKENS,
            max_num_seqs=product.SEQUENCES_ON_GPU,
            max_num_batched_tokens=flags.BATCHED_TOKENS,
            gpu_memory_utilization=share,
        )


def _vllm_on_cpu(wanted: Wanted, must_exist: bool) -> Engine:
    model = wanted.model or SMALL_MODEL
    if model in CATALOGUE:
        source = dequantised.require(model) if must_exist else dequantised.folder(model)
    else:
        source = Path(model).resolve()
        if not (source / "config.json").is_file():
            raise SetupError(
                f"no model is in {source}: expected a folder with a config.json, or one of: "
                f"{SMALL_MODEL}"
            )
    installed = environment.require() if must_exist else environment.planned()
    planned = flags.vllm_on_cpu(
        find_generator(model if model in CATALOGUE else str(source)),
        context_tokens=product.CONTEXT_TOKENS,
        sequences=VLLM_SEQUENCES_ON_CPU,
        batched_tokens=CPU_BATCHED_TOKENS,
    )
    if wanted.kv_cache_gib is not None:
        planned = replace(planned, cpu_kv_cache_gib=wanted.kv_cache_gib)
    return Vllm(installed.program, str(source), MODEL, "cpu", planned, threads=threads())
