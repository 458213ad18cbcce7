"""Writes a GGUF model as bfloat16 safetensors. Run by the engine's own Python, not by this
project's: `dequantise.py MODEL.gguf FOLDER`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

import torch  # type: ignore[import-not-found, unused-ignore]
from transformers import (  # type: ignore[import-not-found, unused-ignore]
    AutoModelForCausalLM,
    AutoTokenizer,
)


def dequantise(weights: Path, target: Path) -> None:
    """Read a GGUF file and write a folder that transformers and vLLM read."""
    source = {"pretrained_model_name_or_path": weights.parent, "gguf_file": weights.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    # Reading GGUF leaves the model marked as quantised, which its weights no longer are; saved
    # with the mark, they would be refused.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer = None
    model.is_quantized = False
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


if __name__ == "__main__":
    dequantise(Path(sys.argv[1]), Path(sys.argv[2]))
