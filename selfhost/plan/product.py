"""What the product itself runs: the models that a plan without arguments is about."""

from __future__ import annotations

from selfhost.plan.cards import Card

# A call's prompt, its booking and a dozen turns stay below it; llama.cpp's slots have as much.
CONTEXT_TOKENS = 4096
SEQUENCES_ON_CPU = 4
SEQUENCES_ON_GPU = 8

ON_CPU = ("qwen2.5-coder-1.5b-instruct", "whisper-base", "piper-joe", "minilm", "en-core-web-sm")
ON_GPU = (
    "qwen3-4b-instruct-2507",
    "whisper-large-v3-turbo",
    "kokoro-82m-fp32",
    "bge-m3",
    "bge-reranker-v2-m3",
    "gliner-medium-v2.1",
)
# What the rest of the stack takes of the machine's memory, as `selfhost.parts` has it measured:
# room server, worker with its turn detection, and page.
REST_OF_THE_STACK = ("the rest of the stack", (100 + 1200 + 200) << 20)


def models(card: Card) -> tuple[str, ...]:
    """The product's own set for a card, or for a machine without one."""
    return ON_CPU if card.is_cpu else ON_GPU


def sequences(card: Card) -> int:
    """How many calls at once it is planned for."""
    return SEQUENCES_ON_CPU if card.is_cpu else SEQUENCES_ON_GPU
