"""Starts the parts as soon as what they need is ready, and keeps each of them up."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from selfhost import descendants
from selfhost.liveness import LivenessPolicy
from selfhost.parts import PROJECT, Part
from selfhost.restarts import RestartPolicy
from selfhost.state import PartState, PartStatus

PROBE_EVERY_S = 0.25
PROBE_TIMEOUT_S = 2.0
MEMORY_EVERY_S = 2.0
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _die_with_supervisor() -> None:
    """Runs in the child before its program: the kernel kills it when the supervisor dies.

    The sentinel does the same for everything below; this holds even if the sentinel was killed.
    """
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class _Running:
    """What is known of one part while the stack is up."""

    part: Part
    log: Path
    state: PartState = PartState.STARTING
    since: float = 0.0
    process: asyncio.subprocess.Process | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    ready_after_s: float | None = None
    failed_at_s: list[float] = field(default_factory=list)
    restarts: int = 0
    memory_bytes: int | None = None
    detail: str = ""
    log_offset: int = 0


class Supervisor:
    """Runs the parts of one stack until it is told to stop.

    Args:
        stack: the mark by which the stack's processes are found.
        parts: what to run; every name in `needs` must be among them.
        log_folder: gets one file a part.
        on_change: called after every change of state.
        policy: when to restart what ended.
        liveness: when to end what runs but is hung.
    """

    def __init__(
        self,
        stack: str,
        parts: Sequence[Part],
        log_folder: Path,
        on_change: Callable[[], None] = lambda: None,
        policy: RestartPolicy | None = None,
        liveness: LivenessPolicy | None = None,
    ) -> None:
        self._stack = stack
        self._on_change = on_change
        self._policy = policy or RestartPolicy()
        self._liveness = liveness or LivenessPolicy()
        self._running = {
            part.name: _Running(part, log_folder / f"{part.name}.log", since=time.monotonic())
            for part in parts
        }

    def statuses(self) -> tuple[PartStatus, ...]:
        """Every part as it is now, in the order given."""
        now = time.monotonic()
        return tuple(
            PartStatus(
                name=running.part.name,
                state=running.state,
                pid=running.process.pid if running.process else None,
                port=running.part.ports[0].number if running.part.ports else None,
                since_s=round(now - running.since, 1),
                ready_after_s=running.ready_after_s,
                restarts=running.restarts,
                memory_bytes=running.memory_bytes,
                detail=running.detail,
                log=str(running.log),
            )
            for running in self._running.values()
        )

    async def run(self, stop: asyncio.Event, hurry: asyncio.Event | None = None) -> None:
        """Keep every part up until `stop` is set, then end all of them.

        Args:
            stop: ask each part to end, and wait for its grace at most.
            hurry: kill what has not ended yet.
        """
        async with httpx.AsyncClient(trust_env=False, timeout=PROBE_TIMEOUT_S) as client:
            stopped: asyncio.Task[object] = asyncio.create_task(stop.wait())
            tasks: set[asyncio.Task[object]] = {
                asyncio.create_task(self._keep_up(running, client), name=running.part.name)
                for running in self._running.values()
            } | {asyncio.create_task(self._watch_memory())}
            try:
                while not stop.is_set():
                    done, tasks = await asyncio.wait(
                        {*tasks, stopped}, return_when=asyncio.FIRST_COMPLETED
                    )
                    for task in done:
                        task.result()  # raises a fault of ours; a part given up just ends
            finally:
                for task in {*tasks, stopped}:
                    task.cancel()
                await asyncio.gather(*tasks, stopped, return_exceptions=True)
                await self._stop_all(hurry or asyncio.Event())

    async def _keep_up(self, running: _Running, client: httpx.AsyncClient) -> None:
        part = running.part
        while True:
            await self._wait_for_needs(running)
            why = await self._run_once(running, client)
            self._expect_again(part.name)
            await asyncio.to_thread(descendants.kill_all, self._stack, part.name)
            running.process = None
            running.memory_bytes = None
            now = time.monotonic()
            running.failed_at_s.append(now)
            delay_s = self._policy.delay_s(running.failed_at_s, now)
            if delay_s is None:
                failures = self._policy.max_failures
                detail = f"{why}; given up after {failures} failures, see {running.log}"
                self._set(running, PartState.FAILED, detail)
                return
            running.restarts += 1
            self._set(running, PartState.STARTING, f"{why}; starting it again in {delay_s:g} s")
            await asyncio.sleep(delay_s)

    def _expect_again(self, ended: str) -> None:
        """A part has ended: those that had signed on with it must do so again to be ready."""
        for running in self._running.values():
            if running.part.ready_log_after == ended and running.state is PartState.READY:
                running.log_offset = running.log.stat().st_size
                self._set(running, PartState.STARTING, f"waits for {ended}")

    async def _wait_for_needs(self, running: _Running) -> None:
        for need in running.part.needs:
            if not self._running[need].ready.is_set():
                self._set(running, PartState.STARTING, f"waits for {need}")
                await self._running[need].ready.wait()

    async def _run_once(self, running: _Running, client: httpx.AsyncClient) -> str:
        """One life of a part: started, ready, ended. Returns why it ended, for people."""
        started = time.monotonic()
        try:
            process = await self._spawn(running)
        except OSError as error:
            return f"could not be started: {error.strerror} ({running.part.command[0]})"
        self._set(running, PartState.STARTING, "")
        ended = asyncio.create_task(process.wait())
        ready = asyncio.create_task(self._until_ready(running, client))
        try:
            await asyncio.wait(
                [ended, ready],
                timeout=running.part.start_timeout_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not ended.done() and not ready.done():
                process.kill()
                await ended
                return f"not ready after {running.part.start_timeout_s:g} s"
            if not ended.done():
                running.ready_after_s = round(time.monotonic() - started, 1)
                running.ready.set()
                self._set(running, PartState.READY, "")
                watching = asyncio.create_task(self._watch_liveness(running, client))
                try:
                    await asyncio.wait([ended, watching], return_when=asyncio.FIRST_COMPLETED)
                    if not ended.done():
                        why = watching.result()
                        process.kill()
                        await ended
                        return why
                finally:
                    watching.cancel()
            return _how_it_ended(ended.result())
        finally:
            running.ready.clear()
            ready.cancel()
            ended.cancel()

    async def _spawn(self, running: _Running) -> asyncio.subprocess.Process:
        part = running.part
        with running.log.open("ab") as log:
            running.log_offset = log.tell()
            running.process = await asyncio.create_subprocess_exec(
                *part.command,
                cwd=PROJECT,
                env={**os.environ, **part.environment, **descendants.mark(self._stack, part.name)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C in the terminal is for the supervisor, which ends its children in order.
                start_new_session=True,
                preexec_fn=_die_with_supervisor,
            )
        return running.process

    async def _until_ready(self, running: _Running, client: httpx.AsyncClient) -> None:
        while True:
            if await self._is_ready(running, client):
                return
            await asyncio.sleep(PROBE_EVERY_S)

    async def _watch_liveness(self, running: _Running, client: httpx.AsyncClient) -> str:
        """Show whether a running part answers, until it is hung. Returns how that was seen."""
        part, policy = running.part, self._liveness
        dead = unready = 0
        asked_at = time.monotonic()
        while True:
            await asyncio.sleep(PROBE_EVERY_S)
            may_recover = running.state is not PartState.READY and not dead
            if may_recover and await self._is_ready(running, client):
                unready = 0
                self._set(running, PartState.READY, "")
            if time.monotonic() - asked_at < policy.every_s:
                continue
            wrong = await _what_is_wrong(client, part.live_url or part.ready_url, policy.timeout_s)
            asked_at = time.monotonic()
            dead = dead + 1 if wrong else 0
            if dead >= policy.restart_after:
                return f"was hung: it {wrong}, {dead} times in a row"
            is_ready = not wrong and await self._is_ready(running, client)
            unready = 0 if is_ready else unready + 1
            if unready == policy.shown_after:
                self._set(running, PartState.STARTING, f"runs, but {wrong or 'is not ready'}")

    async def _is_ready(self, running: _Running, client: httpx.AsyncClient) -> bool:
        return await _answers(client, running.part.ready_url) and _said(running)

    async def _watch_memory(self) -> None:
        while True:
            for running in self._running.values():
                if running.process is not None:
                    running.memory_bytes = await asyncio.to_thread(
                        descendants.tree_memory_bytes, running.process.pid
                    )
            self._on_change()
            await asyncio.sleep(MEMORY_EVERY_S)

    async def _stop_all(self, hurry: asyncio.Event) -> None:
        """End the parts that need others first, so that nothing fails for want of another."""
        left = [running for running in self._running.values() if running.process is not None]
        while left:
            needed = {need for running in left for need in running.part.needs}
            now = [running for running in left if running.part.name not in needed]
            await asyncio.gather(*(self._stop(running, hurry) for running in now))
            left = [running for running in left if running not in now]
        await asyncio.to_thread(descendants.kill_all, self._stack)
        for running in self._running.values():
            if running.state is not PartState.FAILED:
                self._set(running, PartState.STOPPED, "")

    async def _stop(self, running: _Running, hurry: asyncio.Event) -> None:
        process = running.process
        assert process is not None
        self._set(running, running.state, "is being stopped")
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        ended = asyncio.create_task(process.wait())
        hurried = asyncio.create_task(hurry.wait())
        await asyncio.wait(
            [ended, hurried],
            timeout=running.part.stop_grace_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        hurried.cancel()
        if not ended.done():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await ended
        await asyncio.to_thread(descendants.kill_all, self._stack, running.part.name)
        running.process = None
        running.memory_bytes = None

    def _set(self, running: _Running, state: PartState, detail: str) -> None:
        if state is not running.state:
            running.since = time.monotonic()
        running.state = state
        running.detail = detail
        self._on_change()


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code == 200
    except httpx.HTTPError:
        return False


async def _what_is_wrong(client: httpx.AsyncClient, url: str, timeout_s: float) -> str | None:
    """How the answer to a question after life was not what it should be, or None."""
    try:
        answer = await client.get(url, timeout=timeout_s)
    except httpx.TimeoutException:
        return f"has not answered within {timeout_s:g} s"
    except httpx.HTTPError as error:
        return f"does not answer ({type(error).__name__})"
    if answer.status_code == 200:
        return None
    return f"answers {answer.status_code}: {answer.text[:200]}"


def _said(running: _Running) -> bool:
    """Whether the part's log, since this start, holds the line that it must."""
    if running.part.ready_log is None:
        return True
    with running.log.open("rb") as log:
        log.seek(running.log_offset)
        return running.part.ready_log.encode() in log.read()


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with status {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
