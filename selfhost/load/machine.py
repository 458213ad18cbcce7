"""How busy the machine was, without which no delay means anything."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Machine:
    """The load of a stretch of time, over everything that ran on the machine."""

    cores: int
    loadavg_1min_start: float
    loadavg_1min_end: float
    cpu_percent: float | None  # mean; 100 is all cores busy


def _cpu_s() -> tuple[float, float]:
    """Seconds that the cores have been busy, and in all, since the machine started."""
    times = psutil.cpu_times()
    # Linux counts what guests use as user time too.
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total - times.idle - getattr(times, "iowait", 0.0), total


def tree_cpu_s(pids: Iterable[int]) -> float:
    """Seconds of processor time that processes and all below them have taken, also those below
    them that have ended. What is gone by itself counts as nothing."""
    total_s = 0.0
    for pid in pids:
        try:
            root = psutil.Process(pid)
            processes = [root, *root.children(recursive=True)]
        except psutil.Error:
            continue
        for process in processes:
            try:
                total_s += sum(process.cpu_times()[:4])  # user, system, and both of ended children
            except psutil.Error:
                continue
    return total_s


class MachineWatch:
    """Watches the machine from its making until `stop`."""

    def __init__(self) -> None:
        self._loadavg_start = os.getloadavg()[0]
        self._busy_s, self._total_s = _cpu_s()

    def stop(self) -> Machine:
        busy_s, total_s = _cpu_s()
        passed_s = total_s - self._total_s
        return Machine(
            cores=os.cpu_count() or 1,
            loadavg_1min_start=round(self._loadavg_start, 2),
            loadavg_1min_end=round(os.getloadavg()[0], 2),
            cpu_percent=round(100 * (busy_s - self._busy_s) / passed_s, 1) if passed_s else None,
        )
