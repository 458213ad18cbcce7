"""The folder through which the processes of a worker share their metrics.

It must be named in the environment before anything imports `prometheus_client`, which the framework
does; so this imports neither.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def metrics_folder(*, wanted: bool) -> Iterator[Path | None]:
    """A new folder for this worker, told to every process below it; gone afterwards.

    Args:
        wanted: whether this worker serves metrics. If not, there is no folder, and one that the
            environment names is meant for another program: the framework would empty it.
    """
    os.environ.pop(VARIABLE, None)
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(
        prefix="hotel-voice-metrics-", ignore_cleanup_errors=True
    ) as name:
        os.environ[VARIABLE] = name
        yield Path(name)
