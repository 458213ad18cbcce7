"""Where in the engine a chat request goes, and what must be done before and after it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import httpx

from selfhost.engines.engine import Engine
from selfhost.engines.llama import LlamaCpp
from selfhost.engines.slots import Conversation, Slot, choose

log = logging.getLogger(__name__)

MAX_SAVED_PREFIXES = 8
FINISHING_S = 0.5


class Placement(Protocol):
    """One life's places."""

    async def take(self, conversation: Conversation) -> int:
        """Wait for a place and hold it until `finish`."""

    async def prepare(self, number: int, conversation: Conversation) -> None:
        """Make a held place ready for the conversation."""

    def fields(self, number: int) -> dict[str, Any]:
        """What the engine is told of the place, in the request."""

    def finish(self, number: int, answer: httpx.Response | None) -> None:
        """Let go of a place and of the engine's answer, read to its end or not.

        It returns at once and cannot be cancelled: the request that calls it may be.
        """


class Anywhere:
    """For an engine that finds what it has read by itself. A `Placement`."""

    def __init__(self) -> None:
        self._finishing: set[asyncio.Task[None]] = set()

    async def take(self, conversation: Conversation) -> int:
        return 0

    async def prepare(self, number: int, conversation: Conversation) -> None:
        pass

    def fields(self, number: int) -> dict[str, Any]:
        return {}

    def finish(self, number: int, answer: httpx.Response | None) -> None:
        if answer is not None:
            task = asyncio.create_task(answer.aclose())
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)


class SavedPrefixes:
    """Standing instructions that an engine has read, as files that it can read back in
    milliseconds. They outlive the engine's process.

    Args:
        folder: where the engine saves slots.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, str] = {}  # file name by prefix, the least recently used first

    def __contains__(self, prefix: str) -> bool:
        return prefix in self._files

    def take(self, prefix: str) -> str | None:
        """The file's name, which the caller gives back with `put` if it could be used."""
        return self._files.pop(prefix, None)

    def put(self, prefix: str, name: str) -> None:
        self._files[prefix] = name

    def make_room(self) -> None:
        while len(self._files) >= MAX_SAVED_PREFIXES:
            oldest = next(iter(self._files))
            (self._folder / self._files.pop(oldest)).unlink(missing_ok=True)


class Slots:
    """llama.cpp's slots: who holds which, and what each one has read. A `Placement`.

    A slot that does not hold a request's standing instructions gets them from a saved copy first,
    in milliseconds instead of the seconds that reading them takes.

    Args:
        engine: a client of the engine's own HTTP server.
        count: how many slots the engine has.
        saved: the instructions that were saved, by this life of the engine or an earlier one.
    """

    def __init__(self, engine: httpx.AsyncClient, count: int, saved: SavedPrefixes) -> None:
        self._engine = engine
        self._slots = [Slot(number) for number in range(count)]
        self._queue = asyncio.Lock()  # fair: who asked first is served first
        self._freed = asyncio.Event()
        self._saved = saved
        self._finishing: set[asyncio.Task[None]] = set()

    async def take(self, conversation: Conversation) -> int:
        async with self._queue:
            while (slot := choose(self._slots, conversation)) is None:
                self._freed.clear()
                await self._freed.wait()
            self._slots[slot.number] = replace(slot, is_busy=True, used_at_s=time.monotonic())
            return slot.number

    async def prepare(self, number: int, conversation: Conversation) -> None:
        prefix = conversation.prefix
        if prefix is not None and self._slots[number].holds.prefix != prefix:
            if self._finishing:  # one of them may be saving it: a moment, against seconds
                await asyncio.wait(self._finishing, timeout=FINISHING_S)
            name = self._saved.take(prefix)
            if name is not None and await self._act(number, "restore", name):
                self._saved.put(prefix, name)
        self._slots[number] = replace(self._slots[number], holds=conversation)

    def fields(self, number: int) -> dict[str, Any]:
        return {"id_slot": number, "cache_prompt": True}

    def finish(self, number: int, answer: httpx.Response | None) -> None:
        task = asyncio.create_task(self._finish(number, answer))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    async def _finish(self, number: int, answer: httpx.Response | None) -> None:
        try:
            if answer is not None:
                await answer.aclose()
                if answer.status_code == 200:
                    await self._save_prefix(number)
        finally:
            self._slots[number] = replace(self._slots[number], is_busy=False)
            self._freed.set()

    async def _save_prefix(self, number: int) -> None:
        prefix = self._slots[number].holds.prefix
        if prefix is None or prefix in self._saved:
            return
        self._saved.make_room()
        if await self._act(number, "save", f"{prefix}.bin"):
            self._saved.put(prefix, f"{prefix}.bin")

    async def _act(self, number: int, action: str, name: str) -> bool:
        try:
            answer = await self._engine.post(
                f"/slots/{number}", params={"action": action}, json={"filename": name}
            )
        except httpx.HTTPError as error:
            log.warning("slot %d: %s failed: %s", number, action, type(error).__name__)
            return False
        if answer.status_code != 200:
            log.warning("slot %d: %s answered %d", number, action, answer.status_code)
        return answer.status_code == 200


def placements(engine: Engine, folder: Path) -> Callable[[httpx.AsyncClient], Placement]:
    """How requests find their place in each life of an engine.

    Args:
        folder: where it saves slots, if it has some.
    """
    if isinstance(engine, LlamaCpp):
        saved, count = SavedPrefixes(folder), engine.flags.slots
        return lambda client: Slots(client, count, saved)
    return lambda client: Anywhere()
