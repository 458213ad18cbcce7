"""From a model's `config.json` to its architecture; what is not described here is refused by name.

Key names are those of transformers' configuration classes; the tensors of each family are those of
its published checkpoints, which the parameter counts on the models' pages check to the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfhost.errors import SetupError
from selfhost.plan import tensors
from selfhost.plan.architecture import Architecture, Attention, AttentionLayers, Tensor
from selfhost.plan.precision import from_config

Config = Mapping[str, Any]

# All dense or mixture-of-experts decoders with grouped heads.
GROUPED = frozenset(
    {
        *("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe"),
        *("phi3", "granite", "gemma", "gemma2", "gemma3_text"),
    }
)
LATENT = frozenset({"deepseek_v2", "deepseek_v3"})
VISION = frozenset({"mllama"})
KNOWN = GROUPED | LATENT | VISION

HYBRID_TYPES = frozenset(
    {
        *("qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"),
        *("mamba", "mamba2", "falcon_mamba", "falcon_h1", "jamba", "bamba", "zamba", "zamba2"),
        *("nemotron_h", "granitemoehybrid", "lfm2", "lfm2_moe", "recurrent_gemma", "rwkv"),
        *("minimax", "kimi_linear", "plamo2", "olmo_hybrid"),
    }
)
HYBRID_KEYS = frozenset(
    {
        *("ssm_state_size", "mamba_d_state", "linear_attn_config", "linear_num_key_heads"),
        *("layers_block_type", "hybrid_override_pattern", "attn_layer_period", "ssm_cfg"),
    }
)
HYBRID_LAYERS = ("linear", "mamba", "recurrent", "conv", "ssm", "rwkv")
# Keys under which a known family keeps something else than keys and values of every token.
OTHER_CACHES = {
    "index_topk": "sparse attention with an index of its own",
    "compress_ratios": "a compressed cache",
    "num_kv_shared_layers": "layers that share one cache",
    "attention_chunk_size": "attention in chunks",
}


def read(config: Config, name: str) -> Architecture:
    """The architecture that a `config.json` describes.

    Args:
        config: its content.
        name: of the model, for people and errors.

    Raises:
        SetupError: it lacks what the plan needs, or is of a kind that the plan does not know.
    """
    text = config.get("text_config") or config
    model_type = str(config.get("model_type") or text.get("model_type") or "")
    refuse_hybrid(text, name, model_type)
    if model_type not in KNOWN:
        raise SetupError(
            f"{name} is of the type {model_type or '(none given)'!r}, which the plan does not "
            f"know, and it does not guess. Known types: {', '.join(sorted(KNOWN))}."
        )
    for key, what in OTHER_CACHES.items():
        if text.get(key):
            raise SetupError(
                f"{name} has {what} ({key}), whose size depends on the engine and not on its "
                "config alone. The plan refuses it; start the engine and read its log instead."
            )
    hidden = whole(text, "hidden_size", name)
    layers = whole(text, "num_hidden_layers", name)
    heads = whole(text, "num_attention_heads", name)
    vocabulary = whole(text, "vocab_size", name)
    kv_heads = int(text.get("num_key_value_heads") or heads)
    if model_type in LATENT:
        parts = tensors.latent_decoder(text, name)
        attention: tuple[AttentionLayers, ...] = (
            AttentionLayers(
                Attention.LATENT,
                layers,
                1,
                whole(text, "kv_lora_rank", name) + whole(text, "qk_rope_head_dim", name),
            ),
        )
    else:
        head_size = int(text.get("head_dim") or hidden // heads)
        parts = tensors.grouped_decoder(text, name, "mllama" in model_type)
        attention = attention_layers(text, model_type, layers, kv_heads, 2 * head_size)
    if model_type in VISION:
        parts += tensors.mllama_vision(config.get("vision_config") or {}, hidden, name)
    dtype = str(text.get("dtype") or text.get("torch_dtype") or config.get("torch_dtype") or "")
    return Architecture(
        name=name,
        model_type=model_type,
        hidden_size=hidden,
        vocabulary=vocabulary,
        mlp_width=tensors.widest_mlp(text),
        heads=heads,
        kv_heads=1 if model_type in LATENT else kv_heads,
        max_context_tokens=text.get("max_position_embeddings"),
        tensors=merged(parts),
        attention=attention,
        quantisation=from_config(
            config.get("quantization_config") or text.get("quantization_config"), name
        ),
        # vLLM loads 32-bit checkpoints in 16 bits unless it is told otherwise.
        bytes_per_weight=2 if dtype != "float64" else 8,
        has_vision=model_type in VISION,
    )


def refuse_hybrid(text: Config, name: str, model_type: str) -> None:
    """Models with recurrent layers beside attention, or instead of it.

    Engines pad and share the pages of the two kinds by rules that change from version to version,
    and print concurrency times context for tokens, so that the dense formula would be wrong by
    several times.
    """
    types = [str(kind) for kind in text.get("layer_types") or ()]
    recurrent = sum(any(word in kind for word in HYBRID_LAYERS) for kind in types)
    keys = sorted(key for key in HYBRID_KEYS if text.get(key))
    if recurrent or keys or model_type in HYBRID_TYPES:
        seen = f"{recurrent} of {len(types)} layers" if recurrent else ", ".join(keys) or model_type
        raise SetupError(
            f"{name} is a hybrid model ({seen} are not attention): its recurrent state does not "
            "grow with context and shares pages with the KV cache by rules of each engine "
            "version, so the formula for attention layers does not hold. The plan refuses it; "
            "start the engine and read its log instead."
        )


def attention_layers(
    text: Config, model_type: str, layers: int, kv_heads: int, elements_per_head: int
) -> tuple[AttentionLayers, ...]:
    """Layers with full attention and with a sliding window, from `layer_types` or the older keys.

    Args:
        text: the text model's configuration.
        model_type: whose defaults hold where the keys are missing.
        layers: how many there are.
        kv_heads: key-value heads.
        elements_per_head: of one token's key and value.
    """
    window = text.get("sliding_window")
    types = text.get("layer_types")
    if types:
        sliding = sum("sliding" in str(kind) for kind in types)
    elif not window or text.get("use_sliding_window") is False:
        sliding = 0
    elif model_type == "gemma2":
        sliding = (layers + 1) // 2  # every other one, the first included
    elif model_type == "gemma3_text":
        pattern = int(text.get("sliding_window_pattern") or 6)
        sliding = layers - layers // pattern  # the last of each pattern is full
    elif model_type in ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe"):
        # The first ones stay full.
        full = int(text.get("max_window_layers") or 0) if text.get("use_sliding_window") else layers
        sliding = max(0, layers - full)
    else:
        sliding = layers
    groups = []
    if layers - sliding:
        groups.append(
            AttentionLayers(Attention.FULL, layers - sliding, kv_heads, elements_per_head)
        )
    if sliding:
        groups.append(
            AttentionLayers(
                Attention.SLIDING, sliding, kv_heads, elements_per_head, int(window or 0)
            )
        )
    return tuple(groups)


def whole(config: Config, key: str, name: str) -> int:
    """A positive whole number of the configuration.

    Raises:
        SetupError: it is not there, or is no such number.
    """
    value = config.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        shown = "nothing" if value is None else repr(value)
        raise SetupError(
            f"{name}: expected a whole number above 0 for {key!r} in its config.json, got {shown}."
        )
    return value


def merged(parts: list[Tensor]) -> tuple[Tensor, ...]:
    """Without those that the model has none of."""
    return tuple(part for part in parts if part.count > 0 and part.elements > 0)
