"""What a process takes that is no model: its context on the card, libraries, captured graphs.

None of it follows from a formula. The figures are what start-up logs of vLLM print on machines with
these cards, the bands reach from the least to the most of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from selfhost.plan.estimate import GIB, MIB, Estimate

# "Free memory on device (23.15/23.56 GiB) on startup", taken once the context is there: 0.41 GiB.
# Newer cards keep more; with a screen attached or several ranks 1.1 to 1.6 GiB were gone.
CONTEXT = Estimate(int(0.45 * GIB), int(0.3 * GIB), int(1.2 * GIB))
# non_torch_memory: 0.05, 0.08, 0.16, 0.20 and 0.26 GiB printed on single cards.
NON_TORCH = Estimate(int(0.2 * GIB), int(0.05 * GIB), int(0.5 * GIB))
# What NCCL adds where cards share a model.
COLLECTIVES = Estimate(int(0.5 * GIB), int(0.1 * GIB), int(1.8 * GIB))
# "Graph capturing finished ... took": 0.09, 0.13, 0.14, 0.27, 1.12 and 1.34 GiB.
GRAPHS = Estimate(int(0.35 * GIB), int(0.05 * GIB), int(1.4 * GIB))

# vLLM 0.32 on CPU is three processes of Python and PyTorch (server, scheduler, worker): 5.1 GiB of
# memory in all, shared pages counted once, with 1.17 GiB of weights and 1 GiB of cache, which it
# fills with zeros at its start.
CPU_ENGINE = Estimate(3000 * MIB, 2300 * MIB, 3700 * MIB)
# llama.cpp in a Python process: 1.9 GB measured with 1.12 GB of weights and 0.47 GB of cache.
LLAMA_CPP = Estimate(300 * MIB, 200 * MIB, 500 * MIB)
# The model server before it loads a model: Python, its web server and the numeric libraries.
MODEL_SERVER = Estimate(250 * MIB, 150 * MIB, 400 * MIB)


@dataclass(frozen=True)
class EngineOverhead:
    """What an engine takes on one card besides its model.

    Args:
        inside: of its share of the card (`--gpu-memory-utilization` counts it).
        outside: beside that share.
    """

    inside: Estimate
    outside: Estimate


def vllm_on_gpu(ranks: int, enforce_eager: bool) -> EngineOverhead:
    """vLLM's on one card.

    The context is there before vLLM looks at the card, so it is not part of its share. Graphs are
    subtracted from the share since version 0.21, and lay outside it before.

    Args:
        ranks: cards that share a model.
        enforce_eager: no graphs are captured.
    """
    inside = NON_TORCH
    if ranks > 1:
        inside = inside + COLLECTIVES
    if not enforce_eager:
        inside = inside + GRAPHS
    return EngineOverhead(inside, CONTEXT)
