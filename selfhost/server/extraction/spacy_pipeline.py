"""Entities by a spaCy pipeline: fixed kinds, no scores, a few milliseconds a sentence on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import spacy

from selfhost.server.extraction import labels as names
from selfhost.server.extraction.entity import Entity

# The other parts of the pipeline are not fetched.
_UNUSED = ("tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer")


class SpacyExtractor:
    """A spaCy pipeline's entity recogniser.

    Args:
        folder: the pipeline, as spaCy stores it.
    """

    def __init__(self, folder: Path) -> None:
        self.pipeline = spacy.load(folder, exclude=_UNUSED)

    @property
    def gives_scores(self) -> bool:
        return False

    @property
    def known_labels(self) -> tuple[str, ...]:
        return names.KNOWN

    def unknown_labels(self, labels: Sequence[str]) -> list[str]:
        return [label for label in labels if not names.ontonotes(label)]

    def extract(
        self, texts: Sequence[str], labels: Sequence[str], threshold: float
    ) -> list[list[Entity]]:
        wanted = names.asked_for(labels)
        # Without a zone, each new word of each text would stay in the vocabulary for ever.
        with self.pipeline.memory_zone():
            return [
                [
                    Entity(
                        wanted[span.label_], span.text, span.start_char, span.end_char, score=None
                    )
                    for span in document.ents
                    if span.label_ in wanted
                ]
                for document in self.pipeline.pipe(texts)
            ]
