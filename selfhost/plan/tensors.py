"""The weight tensors of each family of models, and how tensor parallelism splits them.

How each is split follows vLLM's layers: column- and row-parallel linears, heads of keys and values
whole, the vocabulary padded to 64, norms and routers on every rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfhost.errors import SetupError
from selfhost.plan.architecture import Split, Tensor

Config = Mapping[str, Any]


def linear(name: str, inputs: int, outputs: int, count: int, split: Split = Split.EVEN) -> Tensor:
    return Tensor(name, inputs, outputs, count, split, is_linear=True)


def vector(name: str, size: int, count: int, split: Split = Split.NONE) -> Tensor:
    return Tensor(name, 1, size, count, split)


def _ends(text: Config) -> list[Tensor]:
    """What lies before and after the layers."""
    hidden, vocabulary = int(text["hidden_size"]), int(text["vocab_size"])
    # mllama has eight rows more for the tokens that stand for images, in its inputs only.
    extra = 8 if text.get("model_type") == "mllama_text_model" else 0
    ends = [
        Tensor("embedding", hidden, vocabulary + extra, 1, Split.VOCABULARY),
        vector("final norm", hidden, 1),
    ]
    if not text.get("tie_word_embeddings", _tied_by_default(text)):
        ends.append(Tensor("output", hidden, vocabulary, 1, Split.VOCABULARY))
    return ends


def _tied_by_default(text: Config) -> bool:
    return str(text.get("model_type", "")).startswith("gemma")


def _mlp(name: str, hidden: int, width: int, count: int) -> list[Tensor]:
    """Gate, up and down."""
    return [
        linear(f"{name} gate and up", hidden, width, 2 * count),
        linear(f"{name} down", width, hidden, count),
    ]


def grouped_decoder(text: Config, name: str, has_cross_attention: bool = False) -> list[Tensor]:
    """A decoder with grouped heads, dense or with experts.

    Args:
        text: its configuration; the sizes have been checked.
        name: of the model, for errors.
        has_cross_attention: some layers attend to an image and norm queries and keys for it.
    """
    model_type = str(text.get("model_type"))
    hidden, layers = int(text["hidden_size"]), int(text["num_hidden_layers"])
    heads = int(text["num_attention_heads"])
    kv_heads = int(text.get("num_key_value_heads") or heads)
    head_size = int(text.get("head_dim") or hidden // heads)
    norms = 4 if model_type in ("gemma2", "gemma3_text") else 2
    parts = [
        *_ends(text),
        linear("query", hidden, heads * head_size, layers),
        linear("key and value", hidden, kv_heads * head_size, 2 * layers, Split.KV_HEADS),
        linear("attention output", heads * head_size, hidden, layers),
        vector("norms", hidden, norms * layers),
    ]
    if text.get("attention_bias", model_type in ("qwen2", "qwen2_moe")):
        parts += [
            vector("query bias", heads * head_size, layers, Split.EVEN),
            vector("key and value bias", kv_heads * head_size, 2 * layers, Split.KV_HEADS),
        ]
        if model_type in ("llama", "granite"):
            parts.append(vector("output bias", hidden, layers))
    if model_type in ("qwen3", "qwen3_moe", "gemma3_text"):
        parts.append(vector("query and key norms", head_size, 2 * layers))
    if has_cross_attention:
        cross = len(text.get("cross_attention_layers") or ())
        parts += [
            vector("cross-attention query and key norms", head_size, 2 * cross),
            vector("cross-attention gates", 1, 2 * cross),
        ]
    return parts + _feed_forward(text, name, hidden, layers)


def _feed_forward(text: Config, name: str, hidden: int, layers: int) -> list[Tensor]:
    experts = int(
        text.get("num_experts")
        or text.get("num_local_experts")
        or text.get("n_routed_experts")
        or 0
    )
    if not experts:
        return _mlp("MLP", hidden, _width(text, "intermediate_size", name), layers)
    width = _width(
        text,
        "moe_intermediate_size" if "moe_intermediate_size" in text else "intermediate_size",
        name,
    )
    dense = _dense_layers(text, layers)
    sparse = layers - dense
    parts = [
        *_mlp("experts'", hidden, width, sparse * experts),
        Tensor("router", hidden, experts, sparse, Split.NONE),
    ]
    if dense:
        parts += _mlp("dense MLP", hidden, _width(text, "intermediate_size", name), dense)
    if shared := int(text.get("n_shared_experts") or 0):
        parts += _mlp("shared experts'", hidden, shared * width, sparse)
    if shared_width := int(text.get("shared_expert_intermediate_size") or 0):
        parts += _mlp("shared expert's", hidden, shared_width, sparse)
        parts.append(vector("shared expert's gate", hidden, sparse))
    if text.get("topk_method") == "noaux_tc":
        parts.append(vector("router's correction", experts, sparse))
    return parts


def _dense_layers(text: Config, layers: int) -> int:
    """Layers of a model with experts that have none."""
    if first := int(text.get("first_k_dense_replace") or 0):
        return first
    only_dense = {int(layer) for layer in text.get("mlp_only_layers") or ()}
    step = int(text.get("decoder_sparse_step") or 1)
    return sum(layer in only_dense or (layer + 1) % step != 0 for layer in range(layers))


def latent_decoder(text: Config, name: str) -> list[Tensor]:
    """A decoder with multi-head latent attention (DeepSeek-V2 and -V3, arXiv 2405.04434).

    Args:
        text: its configuration.
        name: of the model, for errors.
    """
    hidden, layers = int(text["hidden_size"]), int(text["num_hidden_layers"])
    heads = int(text["num_attention_heads"])
    kv_rank = _width(text, "kv_lora_rank", name)
    rope = _width(text, "qk_rope_head_dim", name)
    nope = _width(text, "qk_nope_head_dim", name)
    value = _width(text, "v_head_dim", name)
    parts = [
        *_ends(text),
        linear("latent down", hidden, kv_rank + rope, layers, Split.NONE),
        vector("latent norm", kv_rank, layers),
        linear("latent up", kv_rank, heads * (nope + value), layers),
        linear("attention output", heads * value, hidden, layers),
        vector("norms", hidden, 2 * layers),
        # vLLM keeps both halves once more, in 16 bits, for decoding without unpacking the latent.
        Tensor(
            "latent up, absorbed", kv_rank, heads * (nope + value), layers, Split.EVEN, is_copy=True
        ),
    ]
    if query_rank := int(text.get("q_lora_rank") or 0):
        parts += [
            linear("query down", hidden, query_rank, layers, Split.NONE),
            vector("query norm", query_rank, layers),
            linear("query up", query_rank, heads * (nope + rope), layers),
        ]
    else:
        parts.append(linear("query", hidden, heads * (nope + rope), layers))
    return parts + _feed_forward(text, name, hidden, layers)


def mllama_vision(vision: Config, text_hidden: int, name: str) -> list[Tensor]:
    """The image encoder of Llama 3.2 Vision and the projection into the text model.

    Args:
        vision: `vision_config`.
        text_hidden: the text model's hidden size.
        name: of the model, for errors.
    """
    hidden = _width(vision, "hidden_size", name)
    width = _width(vision, "intermediate_size", name)
    local, whole = _width(vision, "num_hidden_layers", name), int(vision["num_global_layers"])
    patch, side, tiles = int(vision["patch_size"]), int(vision["image_size"]), 4
    tiles = int(vision.get("max_num_tiles", tiles))
    patches = (side // patch) ** 2 + 1
    ratios = len(vision.get("supported_aspect_ratios") or range(8)) + 1
    layers = local + whole
    output = _width(vision, "vision_output_dim", name)

    def kept(label: str, inputs: int, outputs: int, count: int, split: Split) -> Tensor:
        return Tensor(f"vision {label}", inputs, outputs, count, split)

    return [
        kept("patches", 3 * patch * patch, hidden, 1, Split.NONE),
        kept("class embedding", 1, hidden, 1, Split.NONE),
        kept("positions", hidden, patches, 1, Split.NONE),
        kept("tile positions", hidden, ratios * tiles * patches, 1, Split.NONE),
        kept("tile embeddings", hidden, ratios * tiles, 2, Split.NONE),
        kept("gates", 1, 1, 3 + 2 * whole, Split.NONE),
        kept("attention", hidden, hidden, 4 * layers, Split.EVEN),
        kept("MLP", hidden, width, 2 * layers, Split.EVEN),
        kept("MLP bias", 1, width + hidden, layers, Split.NONE),
        kept("norms", 1, hidden, 4 * layers + 4, Split.NONE),
        kept("projector", output, text_hidden, 1, Split.NONE),
        kept("projector bias", 1, text_hidden, 1, Split.NONE),
    ]


def widest_mlp(text: Config) -> int:
    """Intermediate values that one token makes at once, over the experts that it goes to."""
    chosen = int(text.get("num_experts_per_tok") or 1)
    dense = int(text.get("intermediate_size") or 0)
    experts = chosen * int(text.get("moe_intermediate_size") or 0)
    if "moe_intermediate_size" not in text:
        dense *= chosen
    return max(dense, experts)


def _width(text: Config, key: str, name: str) -> int:
    value = text.get(key)
    if not isinstance(value, int) or value < 1:
        shown = "nothing" if value is None else repr(value)
        raise SetupError(
            f"{name}: expected a whole number above 0 for {key!r} in its config.json, got {shown}."
        )
    return value
