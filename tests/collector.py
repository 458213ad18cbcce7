"""An OpenTelemetry collector that keeps what it was sent, for tests that look at it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class ReceivedSpan:
    """One span; the times are nanoseconds since 1970. A root's parent is empty."""

    name: str
    trace: bytes
    id: bytes
    parent: bytes
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any]

    @property
    def ms(self) -> float:
        return (self.end_ns - self.start_ns) / 1e6


class Collector:
    """What has come so far; it may be looked at while more comes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[bytes] = []  # as they came, to look for what must not be in them
        self.spans: list[ReceivedSpan] = []
        self.services: set[str] = set()
        self._sums: dict[tuple[int, str], tuple[int, float]] = {}
        self._lock = threading.Lock()

    def below(self, parent: ReceivedSpan, name: str | None = None) -> list[ReceivedSpan]:
        """A span's children, by when they begin."""
        found = [
            span
            for span in self.spans
            if span.parent == parent.id and span.trace == parent.trace and name in (None, span.name)
        ]
        return sorted(found, key=lambda span: span.start_ns)

    def histogram(self, name: str) -> tuple[int, float]:
        """How many values a histogram has, and their sum, over all processes."""
        found = [value for (_, named), value in self._sums.items() if named == name]
        return sum(count for count, _ in found), sum(total for _, total in found)

    def take(self, path: str, body: bytes) -> None:
        with self._lock:
            self.requests.append(body)
            if path == "/v1/traces":
                self._take_spans(ExportTraceServiceRequest.FromString(body))
            elif path == "/v1/metrics":
                self._take_metrics(ExportMetricsServiceRequest.FromString(body))

    def _take_spans(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            self.services.add(_attributes(resource.resource.attributes)["service.name"])
            for scope in resource.scope_spans:
                self.spans += [
                    ReceivedSpan(
                        *(span.name, span.trace_id, span.span_id, span.parent_span_id),
                        *(span.start_time_unix_nano, span.end_time_unix_nano),
                        _attributes(span.attributes),
                    )
                    for span in scope.spans
                ]

    def _take_metrics(self, request: ExportMetricsServiceRequest) -> None:
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.histogram.data_points:
                        # Totals since the process began, so that the last one holds all.
                        process = point.start_time_unix_nano
                        self._sums[process, metric.name] = (point.count, point.sum)


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.take(self.path, body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _attributes(pairs: Any) -> dict[str, Any]:
    return {
        pair.key: getattr(pair.value, str(pair.value.WhichOneof("value")), None) for pair in pairs
    }
