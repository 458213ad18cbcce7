"""An engine's processes: watching those it cannot do without, and ending all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator

import psutil

from selfhost.engines.engine import Engine

STOP_GRACE_S = 3.0


class Tree:
    """A process and all below it: to end them without leaving any behind."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._known: dict[int, psutil.Process] = {}

    def remember(self) -> None:
        """Those that are there now: once their parent has ended, nobody tells whose they were."""
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(self._process.pid)
            for one in [root, *root.children(recursive=True)]:
                self._known[one.pid] = one

    def essential(self, engine: Engine) -> list[int]:
        """Those without which the engine does no work, its first one left out."""
        found = []
        for one in self._known.values():
            with contextlib.suppress(psutil.Error):
                if one.pid != self._process.pid and engine.is_essential(one.cmdline()):
                    found.append(one.pid)
        return found

    def end(self) -> None:
        """Ask them to end, and kill those that have not after a grace."""
        self.remember()
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        # Those that outlived it may have been about to end by themselves; what tidies up shared
        # memory after the others does, and must not be killed before it has.
        try:
            self._process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for one in self._known.values():
            with contextlib.suppress(psutil.Error):
                if not _tidies_up(one):
                    one.kill()
        _, alive = psutil.wait_procs(list(self._known.values()), timeout=STOP_GRACE_S)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for one in alive:
            with contextlib.suppress(psutil.Error):
                one.kill()


def _tidies_up(process: psutil.Process) -> bool:
    return any("resource_tracker" in word for word in process.cmdline())


@contextlib.contextmanager
def pidfd(pid: int) -> Iterator[int]:
    """A descriptor that can be read once the process has ended."""
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
