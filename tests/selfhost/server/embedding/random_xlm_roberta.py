"""Makes an embedder like bge-m3 and a reranker like bge-reranker-v2-m3, small and with random
weights, and writes down what transformers computes with them. Run by tests.random_weights."""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

MARKS = ["<s>", "<pad>", "</s>", "<unk>"]
TEXTS = [
    "Is breakfast included in the room rate?",
    "Yes, a breakfast buffet is part of every booking, served from seven to half past ten.",
    "The train leaves at noon.",
    "Zimmer mit Frühstück",
]
CONFIG = {
    "vocab_size": 200,
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 8194,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-5,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "initializer_range": 0.2,  # wide, so that texts differ as they would with trained weights
}


def tokenizer() -> Tokenizer:
    words = sorted({f"▁{word}" for text in TEXTS for word in text.split()})
    letters = sorted({letter for word in words for letter in word})
    pieces = [*((mark, 0.0) for mark in MARKS), *((word, -4.0) for word in words)]
    pieces += [(letter, -8.0) for letter in letters]
    made = Tokenizer(models.Unigram(pieces, unk_id=MARKS.index("<unk>")))
    made.add_special_tokens(MARKS)
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return made


def export(model: torch.nn.Module, output: str, target: Path, external_data: bool) -> None:
    (target / "onnx").mkdir()
    ids = torch.randint(4, CONFIG["vocab_size"], (2, 9))
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence")}
    torch.onnx.export(
        model,
        (ids, torch.ones_like(ids)),
        str(target / "onnx" / "model.onnx"),
        input_names=["input_ids", "attention_mask"],
        output_names=[output],
        dynamic_shapes=(axes, axes),
        dynamo=True,
        external_data=external_data,
    )


def given(encoding) -> dict[str, torch.Tensor]:
    ids = torch.tensor([encoding.ids])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def main(folder: Path) -> None:
    torch.manual_seed(1)
    embedder, reranker = folder / "bge-m3", folder / "bge-reranker-v2-m3"
    embedder.mkdir()
    reranker.mkdir()
    tokens = tokenizer()
    for where in (embedder, reranker):
        tokens.save(str(where / "tokenizer.json"))

    encoder = XLMRobertaModel(XLMRobertaConfig(**CONFIG), add_pooling_layer=False).eval()
    classifier = XLMRobertaForSequenceClassification(
        XLMRobertaConfig(**CONFIG, num_labels=1)
    ).eval()
    with torch.no_grad():
        first = [encoder(**given(tokens.encode(text))).last_hidden_state[0, 0] for text in TEXTS]
        vectors = torch.nn.functional.normalize(torch.stack(first), dim=1)
        logits = [classifier(**given(tokens.encode(TEXTS[0], text))).logits for text in TEXTS]
    expected = {"texts": TEXTS, "vectors": vectors.tolist()}
    (embedder / "expected.json").write_text(json.dumps(expected))
    scores = [float(torch.sigmoid(logit)) for logit in logits]
    (reranker / "expected.json").write_text(json.dumps({"texts": TEXTS, "scores": scores}))

    for where, model in ((embedder, encoder), (reranker, classifier)):
        (where / "config.json").write_text(json.dumps(model.config.to_dict()))
    # Large graphs keep their weights in a second file, as the embedder's does here.
    export(encoder, "last_hidden_state", embedder, external_data=True)
    export(classifier, "logits", reranker, external_data=False)


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
