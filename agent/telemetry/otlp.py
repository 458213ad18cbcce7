"""A call's figures and spans for OpenTelemetry, sent by OTLP to where its own variables say.

Nothing is sent unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set. The other standard variables (headers,
timeout, certificates, resource attributes) mean what they always do. Sending happens on threads of
its own: a collector that is slow, silent or gone costs a call nothing but what it would have been
sent.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from multiprocessing.util import Finalize
from urllib.parse import urlsplit

from dotenv import dotenv_values
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span as OpenSpan
from opentelemetry.trace import set_span_in_context
from opentelemetry.util.re import parse_env_headers

from agent.settings import BadSettings
from agent.telemetry.framework_spans import Wordless, install
from agent.telemetry.measures import (
    BUCKETS_S,
    COUNTS,
    DURATIONS,
    IN_PROGRESS,
    IN_PROGRESS_MEANING,
    PREFIX,
    Count,
    Duration,
)
from agent.telemetry.spans import Span, Value

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
HTTP_PROTOBUF = "http/protobuf"
SERVICE = "hotel-voice-agent"

FLUSH_S = 3.0
"""How long a call that is over waits for what it still has to send."""


def endpoint() -> str | None:
    """Where the collector is, or None where nothing is to be sent.

    The SDK reads its variables from the environment alone, so those in `.env` are put there.

    Raises:
        BadSettings: it is to be reached in a way that is not built in.
    """
    for name, value in dotenv_values(".env").items():
        if name.startswith("OTEL_") and value:
            os.environ.setdefault(name, value)
    url = os.environ.get(ENDPOINT, "").strip()
    if not url:
        return None
    if urlsplit(url).scheme not in ("http", "https"):
        raise BadSettings(f"{ENDPOINT}: expected an address such as http://127.0.0.1:4318")
    if (protocol := os.environ.get(PROTOCOL, HTTP_PROTOBUF)) != HTTP_PROTOBUF:
        raise BadSettings(
            f"{PROTOCOL}={protocol}: expected {HTTP_PROTOBUF}; collectors take it on port 4318"
        )
    return url


def headers() -> dict[str, str]:
    """What a request to the collector must say besides its body; may hold a key."""
    given = parse_env_headers(os.environ.get(HEADERS, ""), liberal=True)
    return {"Content-Type": "application/x-protobuf", **given}


class CallExport:
    """What one process sends of its one call.

    Args:
        livekit_spans: whether the framework's own spans are sent too, without anybody's words. They
            begin before the call and end after it, so that theirs is the root of the trace.
    """

    def __init__(self, *, livekit_spans: bool = False) -> None:
        resource = _resource()
        # At exit, the SDK's own clean-up would wait half a minute for a silent collector.
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(BatchSpanProcessor(Wordless(OTLPSpanExporter())))
        self._meters = MeterProvider(
            [PeriodicExportingMetricReader(OTLPMetricExporter())], resource, shutdown_on_exit=False
        )
        self._at_exit: Finalize | None = None
        if livekit_spans:
            install(self._tracers)
            self._at_exit = Finalize(None, self.close, exitpriority=0)
        self._tracer = self._tracers.get_tracer(SERVICE)
        meter = self._meters.get_meter(SERVICE)
        self._durations = {
            name: meter.create_histogram(
                f"{PREFIX}.{name}", "s", text, explicit_bucket_boundaries_advisory=BUCKETS_S
            )
            for name, text in DURATIONS.items()
        }
        self._counts = {
            name: meter.create_counter(f"{PREFIX}.{name}", description=text)
            for name, (text, _) in COUNTS.items()
        }
        self._in_progress = meter.create_up_down_counter(
            f"{PREFIX}.{IN_PROGRESS}", description=IN_PROGRESS_MEANING
        )
        self._call: OpenSpan | None = None

    @classmethod
    def if_configured(cls, *, livekit_spans: bool = False) -> CallExport | None:
        """The export, where a collector is named.

        Raises:
            BadSettings: see `endpoint`.
        """
        return None if endpoint() is None else cls(livekit_spans=livekit_spans)

    def call_started(self, at: datetime, attributes: Mapping[str, Value]) -> None:
        """Open the root of the call's trace."""
        self._in_progress.add(1)
        parent = None if self._at_exit else Context()  # the current span, or none at all
        self._call = self._tracer.start_span(
            "call", parent, attributes=attributes, start_time=_ns(at)
        )

    def call_ended(self, at: datetime, attributes: Mapping[str, Value]) -> None:
        """Close the root; a call that never began has none."""
        if self._call is None:
            return
        self._in_progress.add(-1)
        self._call.set_attributes(attributes)
        self._call.end(_ns(at))
        self._call = None

    def add(self, measured: Iterable[Duration | Count], providers: Mapping[str, str]) -> None:
        """Add what one event brought to the figures."""
        for one in measured:
            if isinstance(one, Duration):
                self._durations[one.name].record(one.seconds, providers)
            else:
                self._counts[one.name].add(1, {**providers, **one.labels})

    def add_turns(self, turns: Iterable[Span]) -> None:
        """Put turns that are over into the call's trace."""
        if self._call is not None:
            for turn in turns:
                self._put(turn, self._call)

    def _put(self, span: Span, parent: OpenSpan) -> None:
        put = self._tracer.start_span(
            span.name,
            set_span_in_context(parent, Context()),
            attributes=span.attributes,
            start_time=_ns(span.start),
        )
        for mark in span.marks:
            put.add_event(mark.name, mark.attributes, _ns(mark.at))
        for child in span.children:
            self._put(child, put)
        put.end(_ns(span.end))

    async def aclose(self) -> None:
        """Send what is left of a call that is over; see `close`."""
        if self._at_exit is None:  # else it is done when the process ends, after the framework's
            await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Send what is left, for at most `FLUSH_S` seconds; what is not sent by then is lost."""
        if self._at_exit is not None:
            self._at_exit.cancel()
        # The SDK heeds no timeout here; the process's end does not wait for daemons.
        threads = [
            threading.Thread(target=work, daemon=True, name="otlp-shutdown")
            for work in (self._tracers.shutdown, self._meters.shutdown)
        ]
        until = time.monotonic() + FLUSH_S
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _resource() -> Resource:
    named = Resource.create()
    if str(named.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return named.merge(Resource({SERVICE_NAME: SERVICE}))
    return named


def _ns(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1_000
