"""An extractor that is loaded, with the thread that it works on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from selfhost.server.errors import ApiError
from selfhost.server.extraction.entity import Entity, Extractor
from selfhost.server.residency.entry import SelfTestError
from selfhost.server.scheduling import Priority, Worker

DEFAULT_THRESHOLD = 0.5
# Texts of one request that are computed at a stretch: between two stretches others get their turn.
TEXTS_AT_ONCE = 8

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
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            part = texts[start : start + TEXTS_AT_ONCE]

            def work(part: Sequence[str] = part) -> list[list[Entity]]:
                return self.extractor.extract(part, labels, limit)

            found += await self.worker.run(
                work,
                owner=owner,
                priority=Priority.FINAL if start == 0 else Priority.BACKGROUND,
                kind="extraction",
                may_refuse=start == 0,
            )
        return found

    def close(self) -> None:
        self.worker.close()


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
