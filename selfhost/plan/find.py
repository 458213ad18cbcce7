"""From what a user calls a model to what the plan knows of it.

A path (a folder with `config.json`, that file, or a GGUF file), a name of the product's catalogues,
or the hub name of a public model.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfhost import hub_models
from selfhost.catalogue import CATALOGUE, Model
from selfhost.errors import SetupError
from selfhost.plan import config, gguf_file
from selfhost.plan.architecture import Architecture
from selfhost.plan.public_models import ALIASES, PUBLIC_MODELS
from selfhost.plan.small_models import SmallModel

GENERATION = "generation"
# The coder models have the shapes of the models that they were trained from.
_SHAPES_OF = {
    "qwen2.5-coder-1.5b-instruct": "qwen2.5-1.5b",
    "qwen2.5-coder-0.5b-instruct": "qwen2.5-0.5b",
}
_GGUF_KEYS = {
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "sliding_window": "attention.sliding_window",
    "num_experts": "expert_count",
    "num_experts_per_tok": "expert_used_count",
    "moe_intermediate_size": "expert_feed_forward_length",
}
_GGUF_TYPES = {
    "llama": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "qwen3moe": "qwen3_moe",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3": "gemma3_text",
    "phi3": "phi3",
    "granite": "granite",
}


# Models without a cache, by the `model_type` of their config: planned by their files' size.
SMALL_TYPES = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "modernbert", "nomic_bert"), "embeddings"),
    **dict.fromkeys(("deberta-v2", "gliner"), "entities"),
    "whisper": "speech to text",
}
WEIGHT_FILES = {
    ".safetensors": "torch",
    ".bin": "torch or CTranslate2",
    ".pt": "torch pickle",
    ".onnx": "ONNX",
    ".onnx_data": "ONNX",
}


def find(name: str) -> Architecture | SmallModel:
    """What the plan knows of a model.

    Args:
        name: a path, a catalogue name, or the hub name of a public model.

    Raises:
        SetupError: there is no such model, or the plan refuses it; the message says why.
    """
    path = Path(name).expanduser()
    if path.exists():
        return from_path(path)
    if name in CATALOGUE:
        return from_catalogue(CATALOGUE[name])
    if (hub_model := hub_models.known(name)) is not None:
        if not hub_model.job.startswith(GENERATION):
            return SmallModel(hub_model.name, hub_model.job, hub_model.size_bytes)
        name = hub_model.repository
    key = ALIASES.get(name.lower(), name.lower())
    if public := PUBLIC_MODELS.get(key):
        return config.read(public.config, public.name)
    raise SetupError(_unknown(name))


def find_generator(name: str) -> Architecture:
    """A language model, by the same names.

    Raises:
        SetupError: as for `find`, or it is no language model.
    """
    found = find(name)
    if not isinstance(found, Architecture):
        raise SetupError(f"{name} is no language model; an engine serves one.")
    return found


def from_path(path: Path) -> Architecture | SmallModel:
    """A model from its own files.

    Raises:
        SetupError: they do not describe a model that the plan knows.
    """
    if path.suffix == ".gguf":
        return from_gguf(path)
    file = path / "config.json" if path.is_dir() else path
    if not file.is_file():
        ggufs = sorted(path.glob("*.gguf"))
        if len(ggufs) == 1:
            return from_gguf(ggufs[0])
        raise SetupError(
            f"{path} holds no config.json. Expected a model's folder, its config.json, or a .gguf "
            "file."
        )
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(f"Could not read {file} as JSON: {error}") from None
    if not isinstance(content, dict):
        raise SetupError(f"{file}: expected a JSON object, got {type(content).__name__}.")
    name = file.parent.name or str(file)
    if job := SMALL_TYPES.get(str(content.get("model_type"))):
        return SmallModel(name, job, _weights_bytes(file.parent, name))
    return config.read(content, name)


def _weights_bytes(folder: Path, name: str) -> int:
    """The weights in a folder; of several formats of the same weights, the largest.

    Raises:
        SetupError: there are none, so that its size is not known.
    """
    sizes: dict[str, int] = {}
    for file in folder.rglob("*"):
        kind = WEIGHT_FILES.get(file.suffix)
        if kind is not None and file.is_file():
            sizes[kind] = sizes.get(kind, 0) + file.stat().st_size
    if not sizes:
        raise SetupError(
            f"{name} is planned by the size of its weights, and {folder} holds none. Give a "
            "folder with them."
        )
    return max(sizes.values())


def from_gguf(path: Path) -> Architecture:
    """A GGUF file: its shapes from its head, its weights' size from the file.

    Raises:
        SetupError: it is no GGUF file, or of a kind that the plan does not know.
    """
    pairs = gguf_file.metadata(path)
    kind = str(pairs.get("general.architecture", ""))
    described: dict[str, Any] = {
        "model_type": _GGUF_TYPES.get(kind, kind),
        "vocab_size": pairs.get(f"{kind}.vocab_size") or pairs.get("tokenizer.ggml.tokens"),
    }
    for ours, theirs in _GGUF_KEYS.items():
        if (value := pairs.get(f"{kind}.{theirs}")) is not None:
            described[ours] = value
    for key, value in pairs.items():  # recurrent layers are named so in its head
        if key.startswith(f"{kind}.ssm."):
            described["ssm_state_size"] = value
    architecture = config.read(described, path.name)
    return replace(architecture, weights_bytes=path.stat().st_size)


def from_catalogue(model: Model) -> Architecture | SmallModel:
    """A model of the product's own catalogue, fetched or not."""
    if not model.job.startswith(GENERATION):
        return SmallModel(model.name, model.job, model.size_bytes)
    if model.name not in _SHAPES_OF:
        raise SetupError(
            f"The plan does not know the shapes of {model.name}; give the path of its GGUF file."
        )
    public = PUBLIC_MODELS[_SHAPES_OF[model.name]]
    architecture = config.read(public.config, model.name)
    return replace(architecture, weights_bytes=model.files[0].size_bytes)


def _unknown(name: str) -> str:
    public = sorted({model.name for model in PUBLIC_MODELS.values() if model.parameters})
    known = [*CATALOGUE, *hub_models.HUB_MODELS, *public]
    lowered = {one.lower(): one for one in known}
    near = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, 3, 0.5)]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return (
        f"The plan knows no model named {name!r}, and there is no such file or folder. {hint}"
        "Give a path to its config.json or GGUF file, or one of: " + ", ".join(known) + "."
    )
