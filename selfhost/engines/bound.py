"""`python -m selfhost.engines.bound PARENT PROGRAM [ARGUMENT]...`: a program that ends with PARENT.

The kernel is asked to kill this process when its parent dies, whatever it dies of; then this
process becomes the program. Asking between fork and exec would run Python code in a copy of a
process with many threads, which may never come back.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def command(program: list[str]) -> list[str]:
    """`program`, bound to this process."""
    return [sys.executable, "-m", "selfhost.engines.bound", str(os.getpid()), *program]


def main(arguments: list[str]) -> None:
    parent, *program = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it died before the kernel was asked
        sys.exit(1)
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
