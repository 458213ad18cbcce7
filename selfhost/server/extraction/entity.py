"""What an extractor finds, and what an extractor is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Entity:
    """A stretch of a text that means something.

    Args:
        label: as the client asked for it.
        start, end: in characters (Unicode code points) of the text; `end` is the first one after.
        score: how sure the model is, from 0 to 1; None where a model does not say.
    """

    label: str
    text: str
    start: int
    end: int
    score: float | None


class Extractor(Protocol):
    """A model that finds entities. Not for two threads at once."""

    @property
    def gives_scores(self) -> bool: ...

    def unknown_labels(self, labels: Sequence[str]) -> list[str]:
        """Those of `labels` that it cannot look for."""

    @property
    def known_labels(self) -> tuple[str, ...]:
        """The labels that it can look for; () if it takes any."""

    def extract(
        self, texts: Sequence[str], labels: Sequence[str], threshold: float
    ) -> list[list[Entity]]:
        """The entities of each text, in the order in which they stand; no two overlap.

        Args:
            threshold: entities with a lower score are left out, where the model gives scores.
        """
