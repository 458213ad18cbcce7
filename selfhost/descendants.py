"""Every process that a stack started, however far down, found by a mark in its environment.

A child's child may leave its process group, its session and its parent; the environment that it
was started with stays with it. So a stack marks what it starts, and finds by the mark what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

MARK = "HOTEL_VOICE_STACK"


def mark(stack: str, part: str) -> dict[str, str]:
    """The environment entry for one part of one stack."""
    return {MARK: f"{stack}:{part}"}


def find(stack: str, part: str | None = None) -> list[psutil.Process]:
    """The live processes of a stack, or of one part of it."""
    found = []
    for process in psutil.process_iter():
        try:
            value = process.environ().get(MARK, "")
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
        except (psutil.Error, OSError):  # gone, or another user's
            continue
        owner, _, name = value.partition(":")
        if owner == stack and part in (None, name):
            found.append(process)
    return found


def kill_all(
    stack: str,
    part: str | None = None,
    *,
    timeout_s: float = 5.0,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Kill what `find` finds, again and again, until it finds nothing: a process that is being
    killed may have started another.

    Returns:
        How many processes were killed.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + timeout_s
    while processes := find(stack, part):
        for process in processes:
            try:
                process.kill()
                killed.add(process.pid)
            except psutil.Error:
                pass
        if time.monotonic() > deadline:
            break
        sleep(0.05)
    return len(killed)


def tree_memory_bytes(pid: int) -> int | None:
    """Resident memory of a process and all below it; None if it is gone.

    Pages that they share are counted once for each.
    """
    try:
        root = psutil.Process(pid)
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return None
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total
