"""The worker's metrics page: what its calls' processes have written, added up.

The framework can serve the folder too, but would keep a killed process's call in progress for ever,
and reads two more files for each call that ever was. Here, what a dead process counted goes into
one file with what all dead ones did.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread

import psutil
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from agent.settings import BadSettings
from agent.telemetry.measures import IN_PROGRESS, IN_PROGRESS_MEANING, PREFIX

RETIRE_EVERY_S = 60.0
"""How often the folder is looked through where nobody reads the page; calls leave files there."""

_IN_PROGRESS = f"{PREFIX}_{IN_PROGRESS}"
_OF_A_PROCESS = re.compile(r"(?P<kind>counter|histogram|gauge_live\w+)_(?P<pid>\d+)\.db")


def is_alive(pid: int) -> bool:
    """Whether there is a process with this number; one that only waits to be reaped is dead."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


class FolderCollector(Collector):
    """Reads the folder that a worker's processes write to, and keeps it small."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()

    def collect(self) -> Iterable[Metric]:
        """Every metric, added up over the processes."""
        self.retire()
        with self._lock:
            found = list(MultiProcessCollector(None, str(self._folder)).collect())
        if all(metric.name != _IN_PROGRESS for metric in found):
            # No process for calls is up, so none goes on: known, and not merely unsaid.
            found.append(GaugeMetricFamily(_IN_PROGRESS, IN_PROGRESS_MEANING, 0.0))
        return found

    def retire(self) -> None:
        """Add up what dead processes left, and take out what was only true while they lived."""
        with self._lock:
            for file in self._folder.glob("*.db"):
                of_process = _OF_A_PROCESS.fullmatch(file.name)
                # The file is there before its process is looked for: a dead one writes no more.
                if of_process is None or is_alive(pid := int(of_process["pid"])):
                    continue
                if of_process["kind"] in ("counter", "histogram"):
                    self._keep(file, of_process["kind"])
                else:
                    mark_process_dead(pid, str(self._folder))

    def _keep(self, file: Path, kind: str) -> None:
        left = [
            (key, value) for key, value, _, _ in MmapedDict.read_all_values_from_file(str(file))
        ]
        file.unlink()
        retired = MmapedDict(str(self._folder / f"{kind}_retired.db"))
        try:
            for key, value in left:
                retired.write_value(key, retired.read_value(key)[0] + value, 0.0)
        finally:
            retired.close()


@contextmanager
def served(folder: Path, host: str, port: int) -> Iterator[None]:
    """Answer `GET /metrics` while this is open, from threads of its own.

    Raises:
        BadSettings: nothing can listen there.
    """
    registry, collector = CollectorRegistry(), FolderCollector(folder)
    registry.register(collector)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        reason = (
            "something listens there already" if error.errno == errno.EADDRINUSE else str(error)
        )
        raise BadSettings(
            f"WORKER_METRICS_PORT={port}: the metrics cannot be served on {host}: {reason}. Choose "
            "another port, or 0 to serve none."
        ) from None
    over = Event()

    def keep_small() -> None:
        while not over.wait(RETIRE_EVERY_S):
            collector.retire()

    Thread(target=keep_small, daemon=True, name="metrics-retirement").start()
    try:
        yield
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
