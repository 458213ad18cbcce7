"""An extractor that is loaded, with the thread that it works on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from selfhost.server.errors import ApiError
from selfhost.server.extraction.entity import Entity, Extractor
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority, Worker

DEFAULT_THRESHOLD = 0.5
# What of one request is computed at a stretch: between two stretches others get their turn.
TEXTS_AT_ONCE = 8
CHARS_AT_ONCE = 4_000

SENTENCE = "My name is Priya Raman and I arrive on October the sixteenth."
EXPECTED = {"person": "Priya Raman", "date": "October"}


@dataclass
class ExtractionModel:
    id: str
    extractor: Extractor
    worker: Worker

    def check(self, labels: Sequence[str], threshold: float | None) -> None:
        """
        Raises:
            ApiError: it cannot look for one of the labels, or a threshold was given and it gives no
                scores.
        """
        if unknown := self.extractor.unknown_labels(labels):
            raise ApiError(
                400,
                f"labels: {self.id} does not find {unknown[0][:40]!r}; expected one of: "
                f"{', '.join(self.extractor.known_labels)}.",
                code="unknown_label",
                param="labels",
            )
        if threshold is not None and not self.extractor.gives_scores:
            raise ApiError(
                400,
                f"threshold: {self.id} gives no scores to compare with it; leave it out.",
                code="threshold_not_supported",
                param="threshold",
            )

    async def extract(
        self,
        texts: Sequence[str],
        labels: Sequence[str],
        *,
        threshold: float | None,
        owner: Hashable,
    ) -> list[list[Entity]]:
        """The entities of each text.

        Raises:
            ApiError: as `check`, or too much waits already.
            BrokenModelError: the model's scores are not numbers.
        """
        self.check(labels, threshold)
        limit = DEFAULT_THRESHOLD if threshold is None else threshold
        found: list[list[Entity]] = []
        for part in stretches(texts):
            is_first = not found

            def work(part: Sequence[str] = part) -> list[list[Entity]]:
                return self.extractor.extract(part, labels, limit)

            found += await self.worker.run(
                work,
                owner=owner,
                priority=Priority.FINAL if is_first else Priority.BACKGROUND,
                kind="extraction",
                may_refuse=is_first,
            )
        return found

    def close(self) -> None:
        self.worker.close()


def stretches(texts: Sequence[str]) -> list[list[str]]:
    """The texts in their order, so many together as are computed at a stretch; at least one."""
    found: list[list[str]] = []
    chars = 0
    for text in texts:
        is_full = not found or len(found[-1]) == TEXTS_AT_ONCE or chars + len(text) > CHARS_AT_ONCE
        if is_full:
            found.append([])
            chars = 0
        found[-1].append(text)
        chars += len(text)
    return found


async def self_test(model: ExtractionModel) -> None:
    """Let it find a person and a date that anyone would find.

    Raises:
        SelfTestError: it does not.
    """
    [found] = await model.extract([SENTENCE], list(EXPECTED), threshold=None, owner="self-test")
    for label, text in EXPECTED.items():
        if not any(entity.label == label and text in entity.text for entity in found):
            raise SelfTestError(
                f"{model.id} found {len(found)} entities in a plain sentence, but not its {label}"
            )
