"""What the product itself runs: the models that a plan without arguments is about."""

from __future__ import annotations

from dataclasses import replace

from selfhost.errors import SetupError
from selfhost.plan.cards import Card
from selfhost.plan.find import find, find_generator
from selfhost.plan.flags import VllmFlags
from selfhost.plan.plan import plan
from selfhost.plan.wanted import Wanted

# A call's prompt, its booking and a dozen turns stay below it; llama.cpp's slots have as much.
CONTEXT_TOKENS = 4096
SEQUENCES_ON_CPU = 4
SEQUENCES_ON_GPU = 8
MOST_SEQUENCES = 256  # vLLM's own default; beyond it a step gets slower for everybody

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


def vllm_flags(
    model: str,
    card: Card,
    *,
    context_tokens: int = CONTEXT_TOKENS,
    sequences: int = SEQUENCES_ON_GPU,
    shares_card: bool = True,
    utilisation: float | None = None,
) -> VllmFlags:
    """What vLLM is told when the product starts it on a card.

    Args:
        model: a path, a catalogue name or a hub name.
        card: what it starts on. Its free bytes are those before any of the product runs there.
        context_tokens: longest sequence.
        sequences: at once, at least; vLLM is let take more where they fit.
        shares_card: the model server's models lie on it too.
        utilisation: vLLM's share of the card where the user set it; None to take what is left.

    Raises:
        SetupError: the plan does not know the model, or it does not fit; the message says what to
            do.
    """
    generator = find_generator(model)
    asked = Wanted(
        generator, context_tokens=context_tokens, sequences=sequences, utilisation=utilisation
    )
    others = [Wanted(find(name)) for name in ON_GPU[1:]] if shares_card else []
    generation = plan(card, [asked, *others]).rows[0].generation
    flags = generation.flags if generation else None
    if generation is None or not isinstance(flags, VllmFlags):
        raise SetupError(
            f"{generator.name} does not fit on {card.name} with {context_tokens:,} tokens of "
            "context: `python -m selfhost plan` shows what takes how much, and what a smaller "
            "precision would free."
        )
    # More calls than it was planned for may come: as many are let in as fit for certain.
    admitted = max(sequences, min(MOST_SEQUENCES, generation.sequences_fit_least))
    return replace(flags, max_num_seqs=admitted)
