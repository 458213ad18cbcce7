"""An engine as a supervised child process: started, warmed up, watched, started afresh.

One thread does it all and blocks, so that it works the same beside any event loop, and the kernel
can end the engine with it. Who has requests asks for the engine's current life, on any thread.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from selfhost.engines import bound
from selfhost.engines.engine import Engine, loopback
from selfhost.engines.progress import Heartbeat
from selfhost.engines.scrape import MissingMetricError
from selfhost.engines.tree import STOP_GRACE_S, Tree, pidfd
from selfhost.engines.warm_up import PROBE_TIMEOUT_S, FailedStartError, read, warm_up
from selfhost.parts import PROJECT
from selfhost.restarts import RestartPolicy

log = logging.getLogger(__name__)

PROBE_EVERY_S = 0.2
WATCH_EVERY_S = 2.0
# A crowded machine may take many seconds for a step; a caller whose engine hangs is answered by
# the agent's own words meanwhile.
HUNG_AFTER_S = 60.0
MAX_REMEMBERED = 4


@dataclass(frozen=True)
class Life:
    """An engine from one start to its end, ready for requests.

    Args:
        number: counts the starts.
        url: where it listens.
        key: what requests must carry as their bearer token.
    """

    number: int
    url: str
    key: str
    pid: int


class EngineEndedError(Exception):
    """The engine will not be started again."""


class _StoppedError(Exception):
    """The supervisor was told to end."""


class EngineProcess:
    """Keeps one engine up until `close`.

    Args:
        engine: what to run.
        policy: when to start it again after it failed.
        hung_after_s: without any progress for so long while it has work, it is ended.
        on_failure: called on the supervising thread once it is given up, with the reason.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        policy: RestartPolicy | None = None,
        hung_after_s: float = HUNG_AFTER_S,
        on_failure: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.engine = engine
        self._policy = policy or RestartPolicy()
        self._hung_after_s = hung_after_s
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._life: Life | None = None
        self._lives = 0
        self._waiters: list[Future[Life]] = []
        self._doing = "is starting"
        self._ended: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._in_flight = 0
        self._instructions: OrderedDict[str, Sequence[Any]] = OrderedDict()
        self._stop_end, self._stop_signal = os.pipe()
        self._temporary = Path(tempfile.mkdtemp(prefix="hotel-voice-engine-"))
        self._thread = threading.Thread(
            target=self._run, name=f"engine-{engine.model}", daemon=True
        )

    # -- for whoever has requests: any thread ----------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    @property
    def life(self) -> Life | None:
        """The engine's life, while it is ready."""
        return self._life

    @property
    def doing(self) -> str:
        """What it is about, for people."""
        return self._doing

    @property
    def ended(self) -> str | None:
        """Why it is not started again, if it is not."""
        return self._ended

    def next_life(self) -> Future[Life]:
        """The current life, or the next one once it is ready. Cancel it to wait no longer.

        Its exception is `EngineEndedError` once the engine is given up.
        """
        waiter: Future[Life] = Future()
        with self._lock:
            if self._ended is not None:
                waiter.set_exception(EngineEndedError(self._ended))
            elif self._life is not None:
                waiter.set_result(self._life)
            else:
                self._waiters = [one for one in self._waiters if not one.done()]
                self._waiters.append(waiter)
        return waiter

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """While a request is in the engine's hands: its progress is due."""
        with self._lock:
            self._in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1

    def remember(self, name: str, instructions: Sequence[Any]) -> None:
        """Standing instructions that requests began with, to be read to it after a restart.

        Args:
            name: tells one set from another.
            instructions: chat messages of the system.
        """
        with self._lock:
            self._instructions[name] = instructions
            self._instructions.move_to_end(name)
            while len(self._instructions) > MAX_REMEMBERED:
                self._instructions.popitem(last=False)

    def close(self) -> None:
        """End the engine and everything below it. Blocks until they have ended."""
        with contextlib.suppress(OSError):
            os.write(self._stop_signal, b"stop")
        if self._thread.is_alive():
            self._thread.join(2 * STOP_GRACE_S)
            if self._thread.is_alive() and self._process is not None:
                self._process.kill()  # it waits for an answer that will not come
            self._thread.join()
        for descriptor in (self._stop_end, self._stop_signal):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        shutil.rmtree(self._temporary, ignore_errors=True)

    # -- the supervising thread ------------------------------------------------------------------

    def _run(self) -> None:
        failed_at_s: list[float] = []
        try:
            while True:
                why = self._live_once()
                now_s = time.monotonic()
                failed_at_s.append(now_s)
                delay_s = self._policy.delay_s(failed_at_s, now_s)
                if delay_s is None:
                    reason = f"{why}; given up after {self._policy.max_failures} failures"
                    log.error("%s %s", self.engine.name, reason)
                    self._end(reason)
                    self._on_failure(f"{self.engine.name} {reason}")
                    return
                log.warning("%s %s; starting it again in %g s", self.engine.name, why, delay_s)
                self._doing = f"{why}, and is being started again"
                self._wait([], delay_s)
        except _StoppedError:
            self._end("is stopping")
        except Exception:
            log.exception("the supervision of %s failed", self.engine.name)
            self._end("cannot be supervised; the log says why")
            self._on_failure(f"{self.engine.name} cannot be supervised")

    def _end(self, reason: str) -> None:
        with self._lock:
            self._ended = self._doing = reason
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_exception(EngineEndedError(reason))

    def _live_once(self) -> str:
        """One life: started, ready, ended. Returns why it ended, for people."""
        started_s = time.monotonic()
        key = secrets.token_hex(16)
        port = _free_port()
        command = list(self.engine.command(port))
        try:
            process = subprocess.Popen(
                bound.command(command),
                cwd=PROJECT,
                env={
                    **os.environ,
                    **self.engine.environment(),
                    **self.engine.key_environment(key),
                    "TMPDIR": str(self._temporary),
                },
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            return f"could not be started ({error.strerror}: {command[0]})"
        self._process = process
        tree = Tree(process)
        headers = {"Authorization": f"Bearer {key}"}
        try:
            with (
                httpx.Client(
                    base_url=loopback(port), headers=headers, timeout=None, trust_env=False
                ) as client,
                contextlib.ExitStack() as open_descriptors,
            ):
                ends = [open_descriptors.enter_context(pidfd(process.pid))]
                deadline_s = started_s + self.engine.start_timeout_s
                try:
                    self._until_up(client, ends, deadline_s)
                    heartbeat = warm_up(client, self.engine, self._to_read_again(), deadline_s)
                except FailedStartError as failure:
                    return str(failure)
                tree.remember()
                for pid in tree.essential(self.engine):
                    ends.append(open_descriptors.enter_context(pidfd(pid)))
                self._lives += 1
                life = Life(self._lives, loopback(port), key, process.pid)
                log.info("%s is ready after %.1f s", self.engine.name, time.monotonic() - started_s)
                self._publish(life)
                try:
                    return self._watch(client, ends, heartbeat)
                finally:
                    with self._lock:
                        self._life = None
        finally:
            tree.end()

    def _publish(self, life: Life) -> None:
        with self._lock:
            self._life = life
            self._doing = "is ready"
            waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_result(life)

    def _to_read_again(self) -> list[Sequence[Any]]:
        if not self.engine.forgets_instructions:
            return []
        with self._lock:
            return list(self._instructions.values())

    def _until_up(self, client: httpx.Client, ends: list[int], deadline_s: float) -> None:
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if client.get("/health", timeout=PROBE_TIMEOUT_S).status_code == 200:
                    return
            if self._wait(ends, PROBE_EVERY_S):
                raise FailedStartError("ended before it was ready")
            if time.monotonic() > deadline_s:
                raise FailedStartError(f"was not ready after {self.engine.start_timeout_s:g} s")

    def _watch(self, client: httpx.Client, ends: list[int], heartbeat: Heartbeat) -> str:
        """Until it ends, or must be ended. Returns why."""
        while True:
            if ended := self._wait(ends, WATCH_EVERY_S):
                return "ended" if ended == ends[0] else "lost a process that it cannot do without"
            try:
                reading = read(client, self.engine)
            except MissingMetricError as error:
                log.warning("%s: %s", self.engine.name, error)
                reading = None
            now_s = time.monotonic()
            heartbeat = heartbeat.after(reading, self._in_flight, now_s)
            if heartbeat.is_hung(now_s, self._hung_after_s):
                return (
                    f"was hung: no progress for {now_s - heartbeat.moved_at_s:.0f} s with "
                    f"{self._in_flight} requests in hand"
                )

    def _wait(self, ends: Sequence[int], timeout_s: float) -> int | None:
        """Wait until a process has ended or the time is over.

        Args:
            ends: descriptors of processes.

        Returns:
            The descriptor of one that has ended, or None.

        Raises:
            _StoppedError: the supervisor was told to end.
        """
        poll = select.poll()
        for descriptor in (self._stop_end, *ends):
            poll.register(descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(timeout_s * 1000)]
        if self._stop_end in ready:
            raise _StoppedError
        return ready[0] if ready else None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
