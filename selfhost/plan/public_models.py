"""Public models whose sizes the plan knows without their files.

The numbers are those of each model's own `config.json` on its page on the Hugging Face hub, under
the name given; `parameters` is the total that the page shows and that tests hold the shapes to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


@dataclass(frozen=True)
class PublicModel:
    """A model by its hub name.

    Args:
        hub_name: owner and name.
        config: what of its `config.json` decides its memory.
        parameters: as its page counts them; None for one that the plan refuses.
    """

    hub_name: str
    config: Mapping[str, Any]
    parameters: int | None

    @property
    def name(self) -> str:
        return self.hub_name.split("/")[-1]


def _decoder(
    model_type: str,
    hidden: int,
    layers: int,
    heads: int,
    kv_heads: int,
    mlp: int,
    vocabulary: int,
    context: int,
    *,
    tied: bool = False,
    **more: Any,
) -> dict[str, Any]:
    return {
        "model_type": model_type,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": mlp,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        "tie_word_embeddings": tied,
        **more,
    }


def _qwen3_moe(hidden: int, layers: int, heads: int, mlp: int, expert_mlp: int) -> dict[str, Any]:
    return _decoder(
        *("qwen3_moe", hidden, layers, heads, 4, mlp, 151936, 40960),
        head_dim=128,
        num_experts=128,
        num_experts_per_tok=8,
        moe_intermediate_size=expert_mlp,
    )


def _deepseek(
    model_type: str, hidden: int, layers: int, heads: int, mlp: int, vocabulary: int, **more: Any
) -> dict[str, Any]:
    return _decoder(
        *(model_type, hidden, layers, heads, heads, mlp, vocabulary, 163840),
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        **more,
    )


_LLAMA_3_8B = (4096, 32, 32, 8, 14336, 128256)
_LLAMA_3_70B = (8192, 80, 64, 8, 28672, 128256)
_QWEN_14B = (5120, 48, 40, 8, 13824, 152064)
_QWEN3_4B = (2560, 36, 32, 8, 9728, 151936)
_QWEN3_235B = (4096, 94, 64, 12288, 1536)
_HYBRID = {
    "model_type": "qwen3_5",
    "hidden_size": 5120,
    "num_hidden_layers": 64,
    "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 16,
}
_LLAMA_3_2_VISION = {
    "model_type": "mllama",
    "text_config": _decoder(
        *("mllama_text_model", 4096, 40, 32, 8, 14336, 128256, 131072),
        cross_attention_layers=[3, 8, 13, 18, 23, 28, 33, 38],
    ),
    "vision_config": {
        "hidden_size": 1280,
        "intermediate_size": 5120,
        "num_hidden_layers": 32,
        "num_global_layers": 8,
        "patch_size": 14,
        "image_size": 560,
        "max_num_tiles": 4,
        "vision_output_dim": 7680,
    },
}

_ALL = (
    PublicModel(
        "meta-llama/Llama-2-7b-hf",
        _decoder("llama", 4096, 32, 32, 32, 11008, 32000, 4096),
        6_738_415_616,
    ),
    PublicModel(
        "meta-llama/Llama-2-70b-hf",
        _decoder("llama", 8192, 80, 64, 8, 28672, 32000, 4096),
        68_976_648_192,
    ),
    PublicModel("meta-llama/Meta-Llama-3-8B", _decoder("llama", *_LLAMA_3_8B, 8192), 8_030_261_248),
    PublicModel("meta-llama/Llama-3.1-8B", _decoder("llama", *_LLAMA_3_8B, 131072), 8_030_261_248),
    PublicModel(
        "meta-llama/Llama-3.1-70B", _decoder("llama", *_LLAMA_3_70B, 131072), 70_553_706_496
    ),
    PublicModel(
        "meta-llama/Llama-3.2-1B",
        _decoder("llama", 2048, 16, 32, 8, 8192, 128256, 131072, tied=True, head_dim=64),
        1_235_814_400,
    ),
    PublicModel(
        "meta-llama/Llama-3.2-3B",
        _decoder("llama", 3072, 28, 24, 8, 8192, 128256, 131072, tied=True, head_dim=128),
        3_212_749_824,
    ),
    PublicModel("meta-llama/Llama-3.2-11B-Vision", _LLAMA_3_2_VISION, 10_670_220_835),
    PublicModel(
        "Qwen/Qwen2.5-0.5B",
        _decoder("qwen2", 896, 24, 14, 2, 4864, 151936, 32768, tied=True),
        494_032_768,
    ),
    PublicModel(
        "Qwen/Qwen2.5-1.5B",
        _decoder("qwen2", 1536, 28, 12, 2, 8960, 151936, 131072, tied=True),
        1_543_714_304,
    ),
    PublicModel(
        "Qwen/Qwen2.5-7B",
        _decoder("qwen2", 3584, 28, 28, 4, 18944, 152064, 131072),
        7_615_616_512,
    ),
    PublicModel("Qwen/Qwen2.5-14B", _decoder("qwen2", *_QWEN_14B, 131072), 14_770_033_664),
    PublicModel(
        "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B",
        _decoder("qwen2", *_QWEN_14B, 131072),
        14_770_033_664,
    ),
    PublicModel(
        "Qwen/Qwen3-0.6B",
        _decoder("qwen3", 1024, 28, 16, 8, 3072, 151936, 40960, tied=True, head_dim=128),
        596_049_920,
    ),
    PublicModel(
        "Qwen/Qwen3-1.7B",
        _decoder("qwen3", 2048, 28, 16, 8, 6144, 151936, 40960, tied=True, head_dim=128),
        1_720_574_976,
    ),
    PublicModel(
        "Qwen/Qwen3-4B",
        _decoder("qwen3", *_QWEN3_4B, 40960, tied=True, head_dim=128),
        4_022_468_096,
    ),
    PublicModel(
        "Qwen/Qwen3-4B-Instruct-2507",
        _decoder("qwen3", *_QWEN3_4B, 262144, tied=True, head_dim=128),
        4_022_468_096,
    ),
    PublicModel(
        "Qwen/Qwen3-8B",
        _decoder("qwen3", 4096, 36, 32, 8, 12288, 151936, 40960, head_dim=128),
        8_190_735_360,
    ),
    PublicModel("Qwen/Qwen3-30B-A3B", _qwen3_moe(2048, 48, 32, 6144, 768), 30_532_122_624),
    PublicModel("Qwen/Qwen3-235B-A22B", _qwen3_moe(*_QWEN3_235B), 235_093_634_560),
    PublicModel(
        "Qwen/Qwen3-235B-A22B-FP8",
        {**_qwen3_moe(*_QWEN3_235B), "quantization_config": _FP8},
        235_093_634_560,
    ),
    PublicModel(
        "mistralai/Mistral-7B-v0.1",
        _decoder("mistral", 4096, 32, 32, 8, 14336, 32000, 32768, sliding_window=4096),
        7_241_732_096,
    ),
    PublicModel(
        "mistralai/Mixtral-8x7B-v0.1",
        _decoder(
            *("mixtral", 4096, 32, 32, 8, 14336, 32000, 32768),
            num_local_experts=8,
            num_experts_per_tok=2,
        ),
        46_702_792_704,
    ),
    PublicModel(
        "google/gemma-2-9b",
        _decoder(
            *("gemma2", 3584, 42, 16, 8, 14336, 256000, 8192),
            tied=True,
            head_dim=256,
            sliding_window=4096,
        ),
        9_241_705_984,
    ),
    PublicModel(
        "google/gemma-3-1b-it",
        _decoder(
            *("gemma3_text", 1152, 26, 4, 1, 6912, 262144, 32768),
            tied=True,
            head_dim=256,
            sliding_window=512,
            sliding_window_pattern=6,
        ),
        999_885_952,
    ),
    PublicModel(
        "microsoft/phi-4",
        _decoder("phi3", 5120, 40, 40, 10, 17920, 100352, 16384),
        14_659_507_200,
    ),
    PublicModel(
        "deepseek-ai/DeepSeek-V2-Lite",
        _deepseek(
            *("deepseek_v2", 2048, 27, 16, 10944, 102400),
            moe_intermediate_size=1408,
            n_routed_experts=64,
            n_shared_experts=2,
            num_experts_per_tok=6,
            first_k_dense_replace=1,
        ),
        15_706_484_224,
    ),
    PublicModel(
        "deepseek-ai/DeepSeek-V3",
        _deepseek(
            *("deepseek_v3", 7168, 61, 128, 18432, 129280),
            q_lora_rank=1536,
            moe_intermediate_size=2048,
            n_routed_experts=256,
            n_shared_experts=1,
            num_experts_per_tok=8,
            first_k_dense_replace=3,
            topk_method="noaux_tc",
            quantization_config=_FP8,
        ),
        671_026_419_200,
    ),
    PublicModel("Qwen/Qwen3.8-27B", _HYBRID, None),
    PublicModel("Qwen/Qwen3.8-27B-FP8", {**_HYBRID, "quantization_config": _FP8}, None),
)

PUBLIC_MODELS: Mapping[str, PublicModel] = {
    key: model for model in _ALL for key in (model.hub_name.lower(), model.name.lower())
}
# As people write them.
ALIASES: Mapping[str, str] = {
    "llama-2-7b": "llama-2-7b-hf",
    "llama-2-70b": "llama-2-70b-hf",
    "llama-3-8b": "meta-llama-3-8b",
    "r1-distill-qwen-14b": "deepseek-r1-distill-qwen-14b",
}
