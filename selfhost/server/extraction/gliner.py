"""GLiNER through ONNX: entities of whatever kinds a client names, each with a score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from selfhost.errors import SetupError
from selfhost.server.extraction import spans
from selfhost.server.extraction.entity import Entity
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.onnx_session import open_session

INPUTS = (
    "input_ids",
    "attention_mask",
    "words_mask",
    "text_lengths",
    "span_idx",
    "span_mask",
)


@dataclass(frozen=True)
class _Window:
    """A part of a text that the model reads at once."""

    text: int
    first_word: int
    words: int
    encoding: Encoding


class GlinerExtractor:
    """A GLiNER model whose spans are scored by a uni-encoder. Not for two threads at once.

    Args:
        folder: `onnx/model.onnx`, `gliner_config.json`, and `tokenizer.json`.
        device, threads: as for `open_session`.

    Raises:
        SetupError: the files are not those of such a model, or the device cannot be had.
    """

    def __init__(self, folder: Path, *, device: str, threads: int) -> None:
        config = json.loads((folder / "gliner_config.json").read_text("utf-8"))
        if config.get("span_mode", "markerV0") == "token_level" or config.get("labels_encoder"):
            raise SetupError(
                f"{folder} is a GLiNER model that scores tokens or encodes labels by themselves; "
                "expected one that scores spans, such as gliner_medium-v2.1"
            )
        self._max_width = int(config["max_width"])
        self._max_words = int(config["max_len"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        marks = (config.get("ent_token", spans.ENTITY_MARK), config.get("sep_token"))
        if marks[0] != spans.ENTITY_MARK or marks[1] not in (None, spans.SEPARATOR):
            raise SetupError(f"{folder} marks its labels with {marks}, which is not known here")
        if self._tokenizer.token_to_id(spans.ENTITY_MARK) is None:
            raise SetupError(f"{folder / 'tokenizer.json'} has no {spans.ENTITY_MARK}")
        graph = folder / "onnx" / "model.onnx"
        self._session = open_session(graph, device=device, threads=threads)
        taken = {node.name for node in self._session.get_inputs()}
        if taken != set(INPUTS):
            raise SetupError(
                f"{graph} is no GLiNER graph of spans: it takes {', '.join(sorted(taken))}; "
                f"expected {', '.join(INPUTS)}"
            )

    @property
    def gives_scores(self) -> bool:
        return True

    @property
    def known_labels(self) -> tuple[str, ...]:
        return ()

    def unknown_labels(self, labels: Sequence[str]) -> list[str]:
        return []

    def extract(
        self, texts: Sequence[str], labels: Sequence[str], threshold: float
    ) -> list[list[Entity]]:
        words = [spans.words_of(text) for text in texts]
        found: list[list[spans.ScoredSpan]] = [[] for _ in texts]
        prompt = spans.prompt(labels)
        for text, text_words in enumerate(words):
            # One window at a time: what a batch gains on a CPU, its filling loses again.
            for first, end in spans.windows(len(text_words), self._max_words, self._max_width):
                read = [*prompt, *(word.text for word in text_words[first:end])]
                encoding = self._tokenizer.encode(read, is_pretokenized=True)
                window = _Window(text, first, end - first, encoding)
                found[text] += self._scored(window, len(prompt), threshold)
        return [
            [
                Entity(
                    labels[span.label],
                    texts[text][words[text][span.first].start : words[text][span.last].end],
                    words[text][span.first].start,
                    words[text][span.last].end,
                    round(span.score, 4),
                )
                for span in spans.best_apart(of_text)
            ]
            for text, of_text in enumerate(found)
        ]

    def _scored(
        self, window: _Window, prompt_words: int, threshold: float
    ) -> list[spans.ScoredSpan]:
        pairs = spans.all_spans(window.words, self._max_width)
        is_inside = pairs[:, 1] < window.words
        feed = {
            "input_ids": np.array([window.encoding.ids], np.int64),
            "attention_mask": np.array([window.encoding.attention_mask], np.int64),
            "words_mask": np.array(
                [spans.word_marks(window.encoding.word_ids, prompt_words)], np.int64
            ),
            "text_lengths": np.array([[window.words]], np.int64),
            "span_idx": np.where(is_inside[:, np.newaxis], pairs, 0)[np.newaxis],
            "span_mask": is_inside[np.newaxis],
        }
        logits = np.asarray(self._session.run(None, feed)[0], np.float32)[0]
        if not np.isfinite(logits).all():
            raise BrokenModelError("GLiNER made scores that are not numbers")
        return spans.above(logits, window.words, threshold, window.first_word)
