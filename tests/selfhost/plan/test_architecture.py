"""From a config.json to the tensors and the cache of a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from selfhost.errors import SetupError
from selfhost.plan import config, weights
from selfhost.plan.architecture import Architecture
from selfhost.plan.estimate import GIB
from selfhost.plan.find import find
from selfhost.plan.precision import INT4, INT8, by_name, from_config
from selfhost.plan.public_models import PUBLIC_MODELS
from selfhost.plan.small_models import SmallModel

QWEN = PUBLIC_MODELS["qwen2.5-1.5b"].config


@pytest.mark.parametrize(
    "model",
    sorted({model.name for model in PUBLIC_MODELS.values() if model.parameters}),
)
def test_the_tensors_have_as_many_parameters_as_the_models_page_says(model: str) -> None:
    public = PUBLIC_MODELS[model.lower()]
    assert config.read(public.config, public.name).parameters == public.parameters


def test_tied_embeddings_are_counted_once() -> None:
    tied = config.read(QWEN, "tied")
    untied = config.read({**QWEN, "tie_word_embeddings": False}, "untied")
    assert untied.parameters - tied.parameters == QWEN["vocab_size"] * QWEN["hidden_size"]


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"]
)
@pytest.mark.parametrize("value", [None, 0, -3, "many", True])
def test_a_config_without_its_sizes_is_refused_with_the_key(key: str, value: Any) -> None:
    with pytest.raises(SetupError, match=f"above 0 for '{key}'"):
        config.read({**QWEN, key: value}, "broken")


def test_a_type_that_is_not_described_is_refused_by_name() -> None:
    with pytest.raises(SetupError, match="'brand_new', which the plan does not know"):
        config.read({**QWEN, "model_type": "brand_new"}, "new")


@pytest.mark.parametrize(
    "hybrid",
    [
        {"layer_types": ["linear_attention", "full_attention"]},
        {"layer_types": ["mamba", "attention"]},
        {"model_type": "jamba"},
        {"ssm_state_size": 16},
        {"model_type": "qwen3_5", "text_config": {**QWEN, "linear_num_key_heads": 16}},
    ],
)
def test_recurrent_layers_are_refused(hybrid: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match="is a hybrid model"):
        config.read({**QWEN, **hybrid}, "mixed")


@pytest.mark.parametrize(
    "cache", [{"index_topk": 2048}, {"num_kv_shared_layers": 20}, {"attention_chunk_size": 8192}]
)
def test_other_kinds_of_cache_are_refused_with_their_key(cache: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=next(iter(cache))):
        config.read({**QWEN, **cache}, "other")


def test_an_unknown_quantisation_is_refused_by_name() -> None:
    with pytest.raises(SetupError, match="mystery"):
        config.read({**QWEN, "quantization_config": {"quant_method": "mystery"}}, "q")


@pytest.mark.parametrize(
    ("section", "bits", "group"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 4, 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 8, None),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "group_0": {"weights": {"num_bits": 8, "type": "int", "strategy": "channel"}}
                },
            },
            8,
            None,
        ),
    ],
)
def test_quantisation_is_read_from_the_config(
    section: dict[str, Any], bits: int, group: int | None
) -> None:
    found = from_config(section, "q")
    assert found is not None
    assert (found.bits, found.group_inputs) == (bits, group)


def test_scales_are_counted() -> None:
    assert INT8.matrix_bytes(4096, 4096) == 4096 * 4096 + 4096 * 4
    assert INT4.matrix_bytes(4096, 4096) == 4096 * 4096 // 2 + 4096 * 32 * (16 + 4) // 8
    fp8 = by_name("fp8")
    assert fp8 is not None
    assert fp8.matrix_bytes(4096, 4096) == 4096 * 4096 + 32 * 32 * 4


def test_an_awq_model_of_seven_billion_takes_what_its_files_take() -> None:
    # Qwen2.5-7B-Instruct-AWQ: its two files are 5.57 GB.
    qwen = config.read(PUBLIC_MODELS["qwen2.5-7b"].config, "q")
    assert weights.per_rank(qwen, quantisation=INT4).bytes == pytest.approx(5.57e9, rel=0.03)


def test_embeddings_keep_sixteen_bits() -> None:
    qwen = config.read(QWEN, "q")
    assert weights.per_rank(qwen, quantisation=INT4).bytes > qwen.vocabulary * qwen.hidden_size * 2


def test_heads_that_cards_cannot_share_are_refused() -> None:
    with pytest.raises(SetupError, match="12 query heads and 2 key-value heads, which 5 cards"):
        weights.per_rank(config.read(QWEN, "q"), ranks=5)


def test_a_model_is_found_by_its_folder_and_by_its_config(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(dict(QWEN)))
    for path in (folder, folder / "config.json"):
        found = find(str(path))
        assert isinstance(found, Architecture)
        assert (found.name, found.layers) == ("mine", 28)


@pytest.mark.parametrize(
    ("content", "message"), [("{", "as JSON"), ("[]", "a JSON object"), ("{}", "none given")]
)
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(SetupError, match=message):
        find(str(tmp_path))


def test_a_folder_without_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"holds no config\.json"):
        find(str(tmp_path))


def test_an_unknown_model_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(SetupError, match=r"Did you mean Llama-3\.1-8B"):
        find("Llama-3.1-8")


def test_catalogue_models_are_found_without_their_files() -> None:
    generator = find("qwen2.5-coder-1.5b-instruct")
    assert isinstance(generator, Architecture)
    assert generator.weights_bytes == 1_117_320_768
    assert isinstance(find("whisper-base"), SmallModel)
    assert isinstance(find("BAAI/bge-m3"), SmallModel)
    assert isinstance(find("qwen3-4b-instruct-2507"), Architecture)


def test_the_products_own_file_says_the_same_of_itself_as_the_catalogue() -> None:
    from selfhost import models

    name = "qwen2.5-coder-1.5b-instruct"
    told, read = find(name), find(str(models.weights(name)))
    assert isinstance(told, Architecture)
    assert isinstance(read, Architecture)
    assert read.attention == told.attention
    assert read.weights_bytes == told.weights_bytes
    assert weights.per_rank(read).bytes / GIB == pytest.approx(1.04, abs=0.01)


def test_a_model_without_a_cache_is_planned_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "xlm-roberta"}')
    with pytest.raises(SetupError, match="holds none"):
        find(str(tmp_path))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"0" * 3000)
    (tmp_path / "onnx" / "model.onnx_data").write_bytes(b"0" * 4000)
    (tmp_path / "model.safetensors").write_bytes(b"0" * 6000)
    assert find(str(tmp_path)) == SmallModel(tmp_path.name, "embeddings", 7000)


def test_a_broken_gguf_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cut.gguf"
    for content in (b"", b"GGUF", b"GGUF\x03\x00\x00\x00" + b"\xff" * 40, b"nonsense" * 9):
        file.write_bytes(content)
        with pytest.raises(SetupError, match="is not a whole GGUF file"):
            find(str(file))
