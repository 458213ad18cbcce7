"""Looks at something slow on behalf of all pages, so that none of them ever waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

logger = logging.getLogger("ui.observer")

T = TypeVar("T")


@dataclass(frozen=True)
class Seen(Generic[T]):
    """What was seen last, and how long ago."""

    value: T
    age_s: float


class Observer(Generic[T]):
    """The latest look at something, taken at most once at a time.

    A look begins when somebody asks and the last one is too old; it runs on a thread of its own,
    and whoever asked gets the last one meanwhile. Nobody asks, nobody looks. (A cache with a time
    to live would make the page that finds it stale wait for the new value.)

    Args:
        look: blocking; it must come to an end by itself.
        max_age_s: for so long a look is good enough.
    """

    def __init__(
        self,
        look: Callable[[], T],
        max_age_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._max_age_s = max_age_s
        self._clock = clock
        self._lock = threading.Lock()
        self._looking: threading.Event | None = None
        self._latest: tuple[float, T] | None = None

    def latest(self, wait_s: float = 0.0) -> Seen[T] | None:
        """What was seen last; None before the first look has ended.

        Args:
            wait_s: how long to wait for the very first look, and for no other.
        """
        with self._lock:
            if self._looking is None and self._is_stale():
                self._looking = threading.Event()
                threading.Thread(target=self._run, args=(self._looking,), daemon=True).start()
            first = self._looking if self._latest is None else None
        if first is not None and wait_s > 0:
            first.wait(wait_s)
        with self._lock:
            if self._latest is None:
                return None
            at_s, value = self._latest
        return Seen(value, self._clock() - at_s)

    def _is_stale(self) -> bool:
        return self._latest is None or self._clock() - self._latest[0] >= self._max_age_s

    def _run(self, done: threading.Event) -> None:
        try:
            value = self._look()
            with self._lock:
                self._latest = (self._clock(), value)
        except Exception:
            logger.exception("a look failed")
        finally:
            with self._lock:
                self._looking = None
            done.set()
