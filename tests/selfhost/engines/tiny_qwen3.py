"""Writes a Qwen3 model of a few layers with random weights: `tiny_qwen3.py TOKENIZER FOLDER`.

The architecture is that of Qwen3-4B-Instruct-2507 (grouped heads, normalised queries and keys, tied
embeddings), so that the way from its files to served tokens is the same. Beside it lies what
transformers makes of it: the likeliest first tokens of an answer, for comparison.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch  # type: ignore[import-not-found, unused-ignore]
from transformers import (  # type: ignore[import-not-found, unused-ignore]
    AutoTokenizer,
    Qwen3Config,
    Qwen3ForCausalLM,
)

QUESTION = "Which rooms are free in October?"
TOP = 5


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
        initializer_range=0.2,  # larger than usual, so that some tokens stand out
        bos_token_id=151_643,
        eos_token_id=151_645,
    )
    model = Qwen3ForCausalLM(config).to(torch.bfloat16).eval()
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": QUESTION}], add_generation_prompt=True, tokenize=False
    )
    with torch.no_grad():
        logits = model(**tokenizer(prompt, return_tensors="pt")).logits[0, -1]
    top = torch.log_softmax(logits.float(), dim=-1).topk(TOP)
    expected = {
        "question": QUESTION,
        "ids": top.indices.tolist(),
        "tokens": [tokenizer.decode([one]) for one in top.indices.tolist()],
        "logprobs": top.values.tolist(),
    }
    (Path(target) / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    write(*sys.argv[1:])
