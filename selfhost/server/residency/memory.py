"""How much memory there is and how much this server's models hold."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator

import psutil

from selfhost.engines import gpu
from selfhost.errors import SetupError
from selfhost.preflight import available_bytes as available_ram_bytes

Meter = Callable[[], int | None]
"""The bytes that this process and its children hold now; None if that cannot be told."""

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


def device_bytes() -> int | None:
    """The memory of the first GPU that this process and its children hold; None if the driver does
    not tell."""
    import pynvml

    process = psutil.Process()
    mine = {os.getpid(), *(child.pid for child in process.children(recursive=True))}
    try:
        with _driver():
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except pynvml.NVMLError:
        return None
    used = [one.usedGpuMemory for one in running if one.pid in mine]
    return None if None in used else sum(used)


def free_device_bytes() -> int:
    """
    Raises:
        SetupError: there is no GPU that can be asked.
    """
    import pynvml

    try:
        with _driver():
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            return int(pynvml.nvmlDeviceGetMemoryInfo(handle).free)
    except pynvml.NVMLError as error:
        raise SetupError(
            f"The models are to run on a GPU, and the driver shows none ({error}). Set "
            "MODEL_SERVER_DEVICE=cpu, or say in MODEL_SERVER_MEMORY_BYTES what they may take."
        ) from None


@contextlib.contextmanager
def _driver() -> Iterator[None]:
    import pynvml

    pynvml.nvmlInit()
    try:
        yield
    finally:
        pynvml.nvmlShutdown()


def give_back() -> None:
    """Hand freed memory back to the system.

    The C library keeps what is freed for later use, so that a model that is closed would still
    count as this process's memory, for the system and for the next measurement.
    """
    with contextlib.suppress(OSError, AttributeError):  # another C library keeps none
        ctypes.CDLL("libc.so.6").malloc_trim(0)
