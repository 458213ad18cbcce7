"""One model that the server can serve: what it is called, what it takes, how it is loaded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar


class Job(StrEnum):
    """What a model does; each has an endpoint of its own."""

    TRANSCRIPTION = "transcription"
    SPEECH = "speech"
    EMBEDDING = "embedding"
    RERANKING = "reranking"
    EXTRACTION = "extraction"
    GENERATION = "generation"


class SelfTestError(Exception):
    """A model loaded, but what it makes is wrong. It must not serve anyone."""


class Loaded(Protocol):
    """A model in memory."""

    def close(self) -> None:
        """Free its memory and end its threads and processes. May block; called off the event loop,
        once, when nobody uses it any more."""


T = TypeVar("T", bound=Loaded)


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A line of the server's catalogue.

    Args:
        id: what clients ask for.
        job: what it does.
        memory_bytes: what it is expected to take, until a load on this machine has measured it.
        load: blocking; called on a thread. It frees what it took if it raises.
        self_test: asks the loaded model for real work and judges the answer.
        aliases: other names for it.
    """

    id: str
    job: Job
    memory_bytes: int
    load: Callable[[], T]
    self_test: Callable[[T], Awaitable[None]]
    aliases: tuple[str, ...] = ()
