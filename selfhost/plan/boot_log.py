"""What vLLM's start-up log says of memory, in the wordings of its versions.

Versions differ in what they print and how: 0.6 a table or one sentence, 0.8 and later "Available KV
cache memory", CPU builds "Explicitly set". Each is read where it is there; what is not there is
None, never 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selfhost.plan.estimate import GIB

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_WEIGHTS = (
    rf"Model loading took {_NUMBER} Gi?B",
    rf"Loading model weights took {_NUMBER} Gi?B",
    rf"model weights take\s+{_NUMBER}\s*GiB",
    rf"Actual usage is {_NUMBER} GiB for weights?\b",
)
_CHECKPOINT = (rf"Checkpoint size: {_NUMBER} GiB",)
_CACHE = (
    rf"Available KV cache memory: {_NUMBER} GiB",
    rf"reserved for KV Cache is {_NUMBER}\s*GiB",
    rf"available_kv_cache_memory\s+{_NUMBER}\s*GiB",
    rf"reserved {_NUMBER} GiB memory for KV Cache",
)
_CPU_CACHE = (rf"(?:Explicitly|Auto) set \({_NUMBER}/{_NUMBER}\) GiB for KV cache",)
_ACTIVATIONS = (
    rf"PyTorch activation peak memory(?: takes)?\s+{_NUMBER}\s*GiB",
    rf"{_NUMBER} GiB for peak activation",
)
_NON_TORCH = (
    rf"non_torch_memory(?: takes)?\s+{_NUMBER}\s*GiB",
    rf"{_NUMBER} GiB for non-torch memory",
)
_CONSUMED = (rf"Actual usage is {_NUMBER} GiB for consumed memory",)
_GRAPHS = (
    rf"Graph capturing finished in [^,]*, took {_NUMBER} Gi?B",
    rf"{_NUMBER} GiB for CUDAGraph memory",
    rf"Estimated CUDA graph memory: {_NUMBER} GiB total",
)
_TOTAL = (
    rf"total_gpu_memory\s+\({_NUMBER}\s*GiB\)",
    rf"total_gpu_memory\s+{_NUMBER}\s*GiB",
    rf"Free memory on device[^(]*\(-?[\d.]+/{_NUMBER} GiB\)",
)
_UTILISATION = (
    rf"gpu_memory_utilization \({_NUMBER}\)",
    rf"gpu_memory_utilization\s+{_NUMBER}",
    rf"Desired GPU memory utilization is \({_NUMBER},",
    rf"'gpu_memory_utilization': {_NUMBER}",
)
_TOKENS = (r"KV cache size: ([\d,]+) tokens",)
_BLOCKS = (
    r"# (?:GPU|CUDA|CPU|gpu|cuda|cpu|hpu|neuron|xpu) blocks: (\d+)",
    r"allocate (\d+) GPU blocks",
)
_CONCURRENCY = r"Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x"


@dataclass(frozen=True)
class BootLog:
    """A start-up log's figures; None for what it does not say.

    Args:
        version: of vLLM.
        model: its name or path.
        on_cpu: the engine runs on the CPU.
        ranks: cards that share the model.
        max_model_len: longest sequence.
        kv_dtype: "auto", "fp8" and so on.
        precision: "fp8" and so on, where the engine was told to quantise.
        block_tokens: where it was set.
        max_num_seqs: where it was set.
        batched_tokens: where it was set.
        enforce_eager: no graphs.
        weights_bytes: on one card.
        checkpoint_bytes: of the files.
        cache_bytes: on each card, in the order in which they were printed.
        cache_tokens: over all cards.
        blocks: likewise.
        concurrency: sequences of full length.
        activations_bytes: the peak of the trial step.
        non_torch_bytes: outside PyTorch.
        consumed_bytes: weights and non-torch together, as newer versions print it.
        graphs_bytes: captured graphs.
        total_bytes: of the card.
        utilisation: the share that vLLM was given.
    """

    version: str | None
    model: str | None
    on_cpu: bool
    ranks: int
    max_model_len: int | None
    kv_dtype: str
    precision: str | None
    block_tokens: int | None
    max_num_seqs: int | None
    batched_tokens: int | None
    enforce_eager: bool
    weights_bytes: int | None
    checkpoint_bytes: int | None
    cache_bytes: tuple[int, ...]
    cache_tokens: int | None
    blocks: int | None
    concurrency: float | None
    activations_bytes: int | None
    non_torch_bytes: int | None
    consumed_bytes: int | None
    graphs_bytes: int | None
    total_bytes: int | None
    utilisation: float | None

    @property
    def least_cache_bytes(self) -> int | None:
        """Of the card with the least, which decides."""
        return min(self.cache_bytes, default=None)

    @property
    def says_something(self) -> bool:
        """Whether it is a start-up log of vLLM's at all."""
        return bool(self.cache_bytes or self.cache_tokens or self.blocks or self.weights_bytes)


def parse(text: str) -> BootLog:
    """Read a log.

    Args:
        text: of the whole log, with whatever stands before each message.
    """
    concurrency = re.search(_CONCURRENCY, text)
    cpu_cache = _sizes(text, _CPU_CACHE)
    context = _setting(text, "max_seq_len", r"(\d+)") or _setting(text, "max_model_len", r"(\d+)")
    if context is None and concurrency:
        context = concurrency[1]
    return BootLog(
        version=_first(text, (r"LLM engine \(v([\w.+]+)\)", r"\bversion (\d+\.[\w.+]+)")),
        model=_setting(text, "model", r"'([^']+)'"),
        on_cpu=bool(cpu_cache) or _setting(text, "device_config", r"(\w+)") == "cpu",
        ranks=int(_setting(text, "tensor_parallel_size", r"(\d+)") or 1),
        max_model_len=_whole(context),
        kv_dtype=_kv_dtype(text),
        precision=_precision(text),
        block_tokens=_whole(_setting(text, "block_size", r"(\d+)")),
        max_num_seqs=_whole(_setting(text, "max_num_seqs", r"(\d+)")),
        batched_tokens=_whole(_setting(text, "max_num_batched_tokens", r"(\d+)")),
        enforce_eager=_setting(text, "enforce_eager", r"(\w+)") == "True",
        weights_bytes=_size(text, _WEIGHTS),
        checkpoint_bytes=_size(text, _CHECKPOINT),
        cache_bytes=cpu_cache or _sizes(text, _CACHE),
        cache_tokens=_whole(_first(text, _TOKENS)),
        blocks=_whole(_first(text, _BLOCKS)),
        concurrency=float(concurrency[2]) if concurrency else None,
        activations_bytes=_size(text, _ACTIVATIONS),
        non_torch_bytes=_size(text, _NON_TORCH),
        consumed_bytes=_size(text, _CONSUMED),
        graphs_bytes=_size(text, _GRAPHS),
        total_bytes=_size(text, _TOTAL),
        utilisation=_float(_first(text, _UTILISATION)),
    )


def _first(text: str, patterns: tuple[str, ...]) -> str | None:
    for pattern in patterns:
        if match := re.search(pattern, text):
            return match[1]
    return None


def _setting(text: str, name: str, value: str) -> str | None:
    """From the engine's configuration (name=value), or the server's arguments ('name': value)."""
    return _first(text, (rf"\b{name}={value}", rf"'{name}': {value}"))


def _kv_dtype(text: str) -> str:
    # Versions write fp8_e4m3 as torch.float8_e4m3fn, or as it was given.
    given = _setting(text, "kv_cache_dtype", r"'?([\w.]+)'?") or "auto"
    return "fp8" if "float8" in given or "fp8" in given else "auto"


def _precision(text: str) -> str | None:
    given = _setting(text, "quantization", r"'?(\w+)'?")
    return None if given in (None, "None") else given


def _size(text: str, patterns: tuple[str, ...]) -> int | None:
    value = _float(_first(text, patterns))
    return None if value is None else int(value * GIB)


def _sizes(text: str, patterns: tuple[str, ...]) -> tuple[int, ...]:
    """Of all cards; a log of several has a line for each."""
    for pattern in patterns:
        if found := [match[1] for match in re.finditer(pattern, text)]:
            return tuple(int(float(one) * GIB) for one in found)
    return ()


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text.replace(",", ""))


def _float(text: str | None) -> float | None:
    return None if text is None else float(text)
