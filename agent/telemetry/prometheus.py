"""A call's figures for Prometheus.

A call is a process of its own, so each writes to files of its own in a folder that the worker reads
(`prometheus_client`'s multiprocess mode; `agent.telemetry.exposition` reads it). A process is in
that mode if its environment names the folder when `prometheus_client` is first imported
(`agent.telemetry.metrics_folder`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from agent.telemetry import metrics_folder
from agent.telemetry.measures import (
    BUCKETS_S,
    COUNTS,
    DURATIONS,
    IN_PROGRESS,
    IN_PROGRESS_MEANING,
    PREFIX,
    PROVIDERS,
    Count,
    Duration,
)


class CallMetrics:
    """This process's share of the worker's metrics."""

    def __init__(self) -> None:
        # Nobody reads this registry: what is written to the folder is what counts.
        registry = CollectorRegistry()
        self._durations = {
            name: Histogram(
                f"{PREFIX}_{name}_seconds", text, PROVIDERS, buckets=BUCKETS_S, registry=registry
            )
            for name, text in DURATIONS.items()
        }
        self._counts = {
            name: Counter(f"{PREFIX}_{name}", text, (*PROVIDERS, *labels), registry=registry)
            for name, (text, labels) in COUNTS.items()
        }
        self._in_progress = Gauge(
            f"{PREFIX}_{IN_PROGRESS}",
            IN_PROGRESS_MEANING,
            multiprocess_mode="livesum",
            registry=registry,
        )
        # A process number comes again: what an earlier process left in its file is over.
        self._in_progress.set(0)

    @classmethod
    def if_served(cls) -> CallMetrics | None:
        """The metrics, where this process's worker serves them."""
        return cls() if metrics_folder.VARIABLE in os.environ else None

    def call_started(self) -> None:
        self._in_progress.set(1)

    def call_ended(self) -> None:
        self._in_progress.set(0)

    def add(self, measured: Iterable[Duration | Count], providers: Mapping[str, str]) -> None:
        """Add what one event brought."""
        for one in measured:
            if isinstance(one, Duration):
                self._durations[one.name].labels(**providers).observe(one.seconds)
            else:
                self._counts[one.name].labels(**providers, **one.labels).inc()
