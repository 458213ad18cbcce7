"""What is to be planned for: a model, its workload, and how it is served."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from selfhost.plan.architecture import Architecture
from selfhost.plan.small_models import SmallModel


class Engine(StrEnum):
    """What runs a generator."""

    VLLM = "vLLM"
    LLAMA_CPP = "llama.cpp"


@dataclass(frozen=True)
class Wanted:
    """A model to plan for; all but the first hold for generators only.

    Args:
        model: what the plan knows of it.
        context_tokens: longest sequence.
        sequences: of that length at once.
        precision: of the linear layers, such as "int4"; None for what the checkpoint has.
        kv_dtype: "auto" for 16 bits, or "fp8".
        ranks: cards that share it by tensor parallelism.
        engine: None for llama.cpp where it is a GGUF file and vLLM elsewhere.
        enforce_eager: capture no graphs.
        utilisation: vLLM's share of the card; None to let the plan choose it.
        activations_bytes: as an engine printed them; None to have them estimated.
        overhead_bytes: of vLLM inside its share, as it printed it (non-torch); None to estimate.
    """

    model: Architecture | SmallModel
    context_tokens: int = 8192
    sequences: int = 4
    precision: str | None = None
    kv_dtype: str = "auto"
    ranks: int = 1
    engine: Engine | None = None
    enforce_eager: bool = False
    utilisation: float | None = None
    activations_bytes: int | None = None
    overhead_bytes: int | None = None
