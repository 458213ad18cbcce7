"""What every generation engine is to this product: a command, an environment, and its own words
for how much it has done. Everything here is pure; `process` runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from selfhost.engines.progress import Reading


class Engine(Protocol):
    """One engine with one model. It serves OpenAI's endpoints, `/health` and `/metrics`."""

    @property
    def name(self) -> str:
        """For people and logs."""

    @property
    def model(self) -> str:
        """What clients ask for."""

    @property
    def start_timeout_s(self) -> float:
        """After this long without being ready it is taken for hung."""

    @property
    def forgets_instructions(self) -> bool:
        """Whether what it has read is gone after a restart, so that it must be read to it again."""

    def command(self, port: int) -> Sequence[str]:
        """Program and arguments, to listen on a port of the loopback interface."""

    def environment(self) -> Mapping[str, str]:
        """Added to this process's own. Holds no secrets: `--dry-run` prints it."""

    def key_environment(self, key: str) -> Mapping[str, str]:
        """How it is told the key that requests must carry. Never printed."""

    def reading(self, metrics: str) -> Reading:
        """What its metrics page says of its progress.

        Raises:
            MissingMetricError: the page lacks what this needs.
        """

    def is_essential(self, command_line: Sequence[str]) -> bool:
        """Whether the engine can do no work without this process, one of those below its own."""


def loopback(port: int) -> str:
    """Where an engine that was told `port` listens."""
    return f"http://127.0.0.1:{port}"
