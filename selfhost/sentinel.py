"""The process that outlives a killed supervisor, and ends what it left behind.

It holds the read end of a pipe. The supervisor holds the only write end, so that the kernel closes
it whatever the supervisor dies of. A supervisor that has stopped its children itself says so first.

It imports little: it starts before everything else and waits for the whole life of the stack.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

DISMISSED = b"dismissed"


class Sentinel:
    """The supervisor's end: one sentinel process for one stack."""

    def __init__(self, stack: str) -> None:
        read_end, self._write_end = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "selfhost.sentinel", stack],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # a signal to the supervisor's whole group must not reach it
        )
        os.close(read_end)

    @property
    def pid(self) -> int:
        return self._process.pid

    def dismiss(self) -> None:
        """Everything has been stopped: the sentinel has nothing left to do."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._write_end, DISMISSED)
        os.close(self._write_end)
        self._process.wait(10)


def watch(stack: str) -> None:
    """Wait for the pipe's end, then end what is left of the stack unless dismissed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    said = b""
    while chunk := os.read(sys.stdin.fileno(), 64):
        said += chunk
    if said == DISMISSED:
        return
    from selfhost import descendants

    descendants.kill_all(stack, timeout_s=15.0)


if __name__ == "__main__":
    watch(sys.argv[1])
