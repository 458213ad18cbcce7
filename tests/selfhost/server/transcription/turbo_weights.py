"""A Whisper model of large-v3-turbo's architecture, made small and with random weights.

Written with CTranslate2's own description of the model: 128 mel bins, four decoder layers, and the
vocabulary of version 3, which has one language more than the versions before.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import common_spec, whisper_spec

MEL_BINS = 128
ENCODER_LAYERS = 3  # the real one has 32
DECODER_LAYERS = 4
WIDTH = 64  # the real one has 1280
HEADS = 4
CANTONESE = 50_358  # the new language's token, before which nothing moves


def write(folder: Path, multilingual: Path) -> None:
    """Fill `folder` with the model.

    Args:
        multilingual: an older Whisper model in CTranslate2's form, for its tokenizer.
    """
    random = np.random.default_rng(5)

    def weights(*shape: int) -> Any:
        return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    def norm(spec: Any) -> None:
        spec.gamma, spec.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)

    def linear(spec: Any, rows: int, columns: int) -> None:
        spec.weight, spec.bias = weights(rows, columns), weights(rows)

    def attention(spec: Any, fused: tuple[int, ...]) -> None:
        for part, rows in zip(spec.linear, fused, strict=True):
            linear(part, rows * WIDTH, WIDTH)
        norm(spec.layer_norm)

    def layer(spec: Any) -> None:
        attention(spec.self_attention, (3, 1))
        if hasattr(spec, "attention"):
            attention(spec.attention, (1, 2, 1))
        norm(spec.ffn.layer_norm)
        linear(spec.ffn.linear_0, 4 * WIDTH, WIDTH)
        linear(spec.ffn.linear_1, WIDTH, 4 * WIDTH)

    vocabulary = _tokenizer(folder, multilingual)
    spec = whisper_spec.WhisperSpec(ENCODER_LAYERS, HEADS, DECODER_LAYERS, HEADS)
    convolutions: list[tuple[common_spec.Conv1DSpec, int]] = [
        (spec.encoder.conv1, MEL_BINS),
        (spec.encoder.conv2, WIDTH),
    ]
    for convolution, channels in convolutions:
        convolution.weight, convolution.bias = weights(WIDTH, channels, 3), weights(WIDTH)
    for part, positions in ((spec.encoder, 1500), (spec.decoder, 448)):
        part.position_encodings.encodings = weights(positions, WIDTH)
        norm(part.layer_norm)
        for one in part.layer:
            layer(one)
    spec.decoder.embeddings.weight = weights(len(vocabulary), WIDTH)
    spec.decoder.projection.weight = spec.decoder.embeddings.weight
    spec.register_vocabulary(vocabulary)
    spec.config.alignment_heads = list(
        itertools.product(range(DECODER_LAYERS // 2, DECODER_LAYERS), range(HEADS))
    )
    spec.config.lang_ids = [vocabulary.index("<|en|>"), CANTONESE]
    spec.validate()
    spec.optimize(quantization="float16")
    spec.save(str(folder))


def _tokenizer(folder: Path, multilingual: Path) -> list[str]:
    """Write version 3's tokenizer, and give its tokens in the order of their ids."""
    tokenizer = json.loads((multilingual / "tokenizer.json").read_text("utf-8"))
    added = tokenizer["added_tokens"]
    for token in added:
        token["id"] += token["id"] >= CANTONESE
    added.append({**added[-1], "id": CANTONESE, "content": "<|yue|>", "special": True})
    added.sort(key=lambda token: token["id"])
    tokenizer["post_processor"] = None  # it names tokens by their old ids, and is not used
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    ids = tokenizer["model"]["vocab"] | {token["content"]: token["id"] for token in added}
    tokens = sorted(ids, key=ids.__getitem__)
    seconds = (f"<|{step * 0.02:.2f}|>" for step in range(1501))
    return [*tokens, *(mark for mark in seconds if mark not in ids)]
