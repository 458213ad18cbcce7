"""Writes a Qwen3 model of a few layers with random weights: `tiny_qwen3.py TOKENIZER FOLDER`.

The architecture is that of Qwen3-4B-Instruct-2507 (grouped heads, normalised queries and keys, tied
embeddings), so that the way from its files to served tokens is the same.
"""

from __future__ import annotations

import sys

import torch  # type: ignore[import-not-found, unused-ignore]
from transformers import (  # type: ignore[import-not-found, unused-ignore]
    AutoTokenizer,
    Qwen3Config,
    Qwen3ForCausalLM,
)


def write(tokenizer_folder: str, target: str) -> None:
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    config = Qwen3Config(
        vocab_size=151_936,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=2,
        head_dim=128,
        max_position_embeddings=262_144,
        rope_theta=5_000_000.0,
        tie_word_embeddings=True,
        bos_token_id=151_643,
        eos_token_id=151_645,
    )
    Qwen3ForCausalLM(config).to(torch.bfloat16).save_pretrained(target)
    tokenizer.save_pretrained(target)


if __name__ == "__main__":
    write(*sys.argv[1:])
