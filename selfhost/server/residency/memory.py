"""How much memory there is and how much this server's models hold."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable

import psutil

from selfhost.engines import gpu
from selfhost.preflight import available_bytes as available_ram_bytes

Meter = Callable[[], int]
"""The bytes that this process and its children hold now."""

DEFAULT_SHARE = 0.5
"""Of what is free when the server starts: the language model and the calls need theirs too."""


def meter(device: str) -> Meter:
    """What to read before and after a load: memory of the GPU where the models are on one."""
    return device_bytes if _is_on_gpu(device) else resident_bytes


def default_budget_bytes(device: str) -> int:
    """A share of what is free now, on the machine or on its first GPU."""
    free_bytes = free_device_bytes() if _is_on_gpu(device) else available_ram_bytes()
    return int(free_bytes * DEFAULT_SHARE)


def _is_on_gpu(device: str) -> bool:
    return device == "cuda" or (device == "auto" and gpu.count() > 0)


def resident_bytes() -> int:
    """The resident memory of this process and all its children, such as engines."""
    process = psutil.Process()
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            total += one.memory_info().rss
    return total


def device_bytes() -> int:
    """The memory of the first GPU that this process and its children hold."""
    import pynvml

    process = psutil.Process()
    mine = {os.getpid(), *(child.pid for child in process.children(recursive=True))}
    pynvml.nvmlInit()
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        return sum(one.usedGpuMemory or 0 for one in running if one.pid in mine)
    finally:
        pynvml.nvmlShutdown()


def free_device_bytes() -> int:
    import pynvml

    pynvml.nvmlInit()
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        return int(pynvml.nvmlDeviceGetMemoryInfo(handle).free)
    finally:
        pynvml.nvmlShutdown()


def give_back() -> None:
    """Hand freed memory back to the system.

    The C library keeps what is freed for later use, so that a model that is closed would still
    count as this process's memory, for the system and for the next measurement.
    """
    with contextlib.suppress(OSError, AttributeError):  # another C library keeps none
        ctypes.CDLL("libc.so.6").malloc_trim(0)
