"""Whether this machine has a GPU that an engine can use."""

from __future__ import annotations


def count() -> int:
    """NVIDIA GPUs that the driver shows to this process; 0 without a driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        return int(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return 0
    finally:
        pynvml.nvmlShutdown()
