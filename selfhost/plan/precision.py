"""In how many bits weights are kept, scales included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfhost.errors import SetupError


@dataclass(frozen=True)
class Quantisation:
    """How linear layers are kept. Embeddings, norms and routers keep 16 bits beside it.

    Args:
        name: for people.
        bits: of one weight.
        group_inputs: weights along the input that share a scale; None: the whole row does.
        group_outputs: rows that share a scale with it; a block of FP8 has 128 by 128.
        scale_bytes: of one scale.
        zero_point_bits: kept beside each scale.
    """

    name: str
    bits: int
    group_inputs: int | None = None
    group_outputs: int = 1
    scale_bytes: int = 2
    zero_point_bits: int = 0

    def matrix_bytes(self, inputs: int, outputs: int) -> int:
        """One weight matrix with its scales.

        Args:
            inputs: columns.
            outputs: rows.
        """
        across = -(-inputs // (self.group_inputs or inputs))
        down = -(-outputs // self.group_outputs)
        scales_bits = across * down * (8 * self.scale_bytes + self.zero_point_bits)
        return (inputs * outputs * self.bits + scales_bits + 7) // 8


# W8A8 of compressed-tensors: one 32-bit scale an output channel.
INT8 = Quantisation("int8", 8, scale_bytes=4)
# AWQ and GPTQ at their usual group of 128: a 16-bit scale and a 4-bit zero point a group.
INT4 = Quantisation("int4", 4, group_inputs=128, zero_point_bits=4)
# One 32-bit scale for each block of 128 by 128, as DeepSeek-V3 and Qwen3's FP8 releases have it.
FP8 = Quantisation("fp8", 8, group_inputs=128, group_outputs=128, scale_bytes=4)

# What `--precision` takes. None: 16 bits.
BY_NAME: Mapping[str, Quantisation | None] = {
    "bf16": None,
    "fp16": None,
    "fp8": FP8,
    "int8": INT8,
    "w8a8": INT8,
    "int4": INT4,
}


def by_name(name: str) -> Quantisation | None:
    """The precision of that name.

    Raises:
        SetupError: there is none.
    """
    try:
        return BY_NAME[name.lower()]
    except KeyError:
        raise SetupError(
            f"Expected a precision out of {', '.join(BY_NAME)}, got {name!r}."
        ) from None


def from_config(config: Mapping[str, Any] | None, model: str) -> Quantisation | None:
    """What `quantization_config` of a `config.json` says.

    Args:
        config: the section; None where the model has none.
        model: for the error.

    Raises:
        SetupError: it is of a kind that is not described here.
    """
    if not config:
        return None
    method = str(config.get("quant_method", "")).lower()
    if method == "fp8":
        block = config.get("weight_block_size")
        if not block:
            return Quantisation("fp8", 8, scale_bytes=4)
        return Quantisation("fp8", 8, int(block[1]), int(block[0]), scale_bytes=4)
    if method in ("awq", "gptq"):
        group = int(config.get("group_size", 128))
        bits = int(config.get("bits", 4))
        return Quantisation(method, bits, group if group > 0 else None, zero_point_bits=bits)
    if method == "compressed-tensors":
        return _compressed_tensors(config, model)
    raise SetupError(
        f"{model} is quantised by {method or 'an unnamed method'}, whose sizes the plan does not "
        "know. Known: fp8, awq, gptq, compressed-tensors. Give the path of a GGUF file or of a "
        "config.json without it, and --precision for what is nearest."
    )


def _compressed_tensors(config: Mapping[str, Any], model: str) -> Quantisation:
    groups = list((config.get("config_groups") or {}).values())
    weights = [group.get("weights") or {} for group in groups]
    shapes = {(w.get("num_bits"), w.get("strategy"), w.get("group_size")) for w in weights}
    if len(shapes) != 1:
        raise SetupError(
            f"{model} mixes {len(shapes)} kinds of compressed weights; the plan knows one at a "
            "time. Give --precision for what most of it has."
        )
    bits, strategy, group = next(iter(shapes))
    if bits is None:
        raise SetupError(f"{model}: its quantization_config names no num_bits for weights.")
    symmetric = bool(weights[0].get("symmetric", True))
    return Quantisation(
        f"{weights[0].get('type', 'int')}{bits}",
        int(bits),
        int(group) if strategy == "group" and group else None,
        scale_bytes=2 if strategy == "group" else 4,
        zero_point_bits=0 if symmetric else int(bits),
    )
