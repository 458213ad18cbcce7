"""What the server counts, for Prometheus: time waited apart from time computed."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0)
_LOAD_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


class Metrics:
    """The counters of one server, in a registry of their own so that two servers can share a
    process (as in the tests)."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def histogram(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(name, text, labels, buckets=_SECONDS, registry=self.registry)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(name, text, labels, registry=self.registry)

        self.requests = counter(
            "model_server_requests_total", "Requests answered", "endpoint", "status"
        )
        self.in_flight = Gauge(
            "model_server_in_flight",
            "Requests and realtime sessions being served",
            ["endpoint"],
            registry=self.registry,
        )
        self.queue_seconds = histogram(
            "model_server_queue_seconds", "Time that work waited for its model", "model", "kind"
        )
        self.compute_seconds = histogram(
            "model_server_compute_seconds", "Time that work used its model", "model", "kind"
        )
        self.batch_rows = Histogram(
            "model_server_batch_rows",
            "Rows of one run of a model that takes several at once",
            ["model"],
            buckets=(1, 2, 4, 8, 16, 32, 64),
            registry=self.registry,
        )
        self.dropped = counter(
            "model_server_dropped_total",
            "Work given up before it began: its client left or newer work replaced it",
            "model",
            "kind",
        )
        self.audio_seconds = counter(
            "model_server_audio_seconds_total", "Audio heard (in) and spoken (out)", "direction"
        )
        self.first_audio_seconds = histogram(
            "model_server_first_audio_seconds", "From a speech request to its first audio", "voice"
        )
        self.first_partial_seconds = histogram(
            "model_server_first_partial_seconds",
            "From the caller's first sound in an utterance to its first partial words",
        )
        self.final_seconds = histogram(
            "model_server_final_seconds", "From the commit of an utterance to its transcript"
        )
        self.realtime_lag_seconds = histogram(
            "model_server_realtime_lag_seconds",
            "How long after sound came in the words in it were known",
        )
        self.speculations = counter(
            "model_server_speculations_total",
            "Transcripts decoded before the commit: used, or outdated by more speech",
            "outcome",
        )
        self.suppressed = counter(
            "model_server_suppressed_total", "Transcripts withheld as not spoken", "reason"
        )
        self.budget_bytes = gauge(
            "model_server_budget_bytes", "What all models together may hold in memory"
        )
        self.resident_bytes = gauge(
            "model_server_resident_bytes", "What a model holds of the budget", "model"
        )
        self.loads = counter("model_server_loads_total", "Loads of a model", "model", "outcome")
        self.load_seconds = Histogram(
            "model_server_load_seconds",
            "From the first request for a model to its being ready, waiting for room included",
            ["model"],
            buckets=_LOAD_SECONDS,
            registry=self.registry,
        )
        self.evictions = counter(
            "model_server_evictions_total",
            "Models closed to make room (memory) or since nobody used them (idle)",
            "model",
            "reason",
        )
        self.self_tests = counter(
            "model_server_self_tests_total",
            "Tests of models in use: passed, failed, unfinished (too much to do), unloaded",
            "model",
            "outcome",
        )
        self.refusals = counter(
            "model_server_refusals_total",
            "Requests that got no model: it did not load in time (timeout), too many waited "
            "(queue_full), it failed (failed), or it does not fit (no_room)",
            "model",
            "reason",
        )

    def render(self) -> bytes:
        return generate_latest(self.registry)
