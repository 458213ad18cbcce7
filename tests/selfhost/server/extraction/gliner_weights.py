"""Makes a small GLiNER model with random weights, and what GLiNER's own library finds with it.

Run with the engines' Python: gliner_weights.py FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from gliner.model import UniEncoderSpanGLiNER
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

TEXTS = [
    "My name is Priya Raman and I arrive on October the sixteenth.",
    "Two rooms, please; twenty-one nights (not 22) at the O'Hara-Lane hotel.",
    "Ça va? 🙂 Zoë",
    "yes",
    "Ms. Olsen of room 12 asked for late checkout on Monday, since her train to Bergen leaves at "
    "four; the Browns (rooms 3 and 5) stay until the first of May and pay by card. Breakfast for "
    "Tom, who cannot eat nuts, is at half past six.",
]
LABELS = ["person", "date", "kind of room"]
MAX_WORDS = 60  # the longest of the texts has 51


def tokenizer() -> PreTrainedTokenizerFast:
    """A small one of the kind that DeBERTa has: pieces of words, with a mark where one begins."""
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.decoder = decoders.Metaspace()
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=special, unk_token="[UNK]", show_progress=False
    )
    trained.train_from_iterator([*TEXTS, *LABELS] * 20, trainer)
    trained.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=trained, unk_token="[UNK]", **names)


def main(folder: Path) -> None:
    torch.manual_seed(3)
    source = folder / "source"
    tokenizer().save_pretrained(source)
    config = {
        "model_name": str(source),
        "encoder_config": {
            "model_type": "deberta-v2",
            "hidden_size": 48,
            "intermediate_size": 96,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "vocab_size": 150,
            "relative_attention": True,
            "position_buckets": 32,
            "max_relative_positions": -1,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "type_vocab_size": 0,
            "max_position_embeddings": 512,
        },
        "hidden_size": 32,
        "max_width": 6,
        "max_len": MAX_WORDS,
        "span_mode": "markerV0",
        "dropout": 0.0,
        "class_token_index": -1,
        "vocab_size": -1,
    }
    model = UniEncoderSpanGLiNER.load_from_config(config, backbone_from_pretrained=False)
    model.eval()
    with torch.no_grad():
        # Fresh layers give every span nearly the same score.
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(2)
    found = {
        str(threshold): [
            model.predict_entities(text, LABELS, threshold=threshold) for text in TEXTS
        ]
        for threshold in (0.3, 0.6)
    }
    model.export_to_onnx(folder / "onnx")
    with torch.no_grad():
        next(model.model.prompt_rep_layer.parameters()).fill_(float("nan"))
    model.export_to_onnx(folder / "spoilt" / "onnx")
    model.data_processor.transformer_tokenizer.backend_tokenizer.save(
        str(folder / "tokenizer.json")
    )
    settings = {name: config[name] for name in ("max_width", "max_len", "span_mode")}
    settings |= {"ent_token": model.config.ent_token, "sep_token": model.config.sep_token}
    (folder / "gliner_config.json").write_text(json.dumps(settings))
    (folder / "found.json").write_text(json.dumps({"labels": LABELS, "texts": TEXTS} | found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
