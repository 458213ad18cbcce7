"""The folder through which the processes of a worker share their metrics.

It must be named in the environment before anything imports `prometheus_client`, which the framework
does; so this imports neither.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_PREFIX = "hotel-voice-metrics-"


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
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_left(left)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        # Held until this process ends in whatever way, and by no other: it is not inherited.
        held = os.open(name, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        os.environ[VARIABLE] = name
        try:
            yield Path(name)
        finally:
            os.close(held)


def _remove_if_left(folder: Path) -> None:
    """Remove the folder of a worker that was killed; one that is held, or another's, stays."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)
