"""What the running desk counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server


class Metrics:
    """Counters of one desk; none of them says anything about a caller."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.waiting = Gauge(
            "hotel_voice_desk_messages_waiting",
            "messages that the hotel's system has not accepted yet",
            registry=registry,
        )
        self.deliveries = Counter(
            "hotel_voice_desk_deliveries",
            "attempts to deliver a message, by outcome: accepted or failed",
            ["outcome"],
            registry=registry,
        )
        self.forgotten = Counter(
            "hotel_voice_desk_forgotten",
            "what was deleted because it was old: request or recording",
            ["what"],
            registry=registry,
        )

    def serve(self, host: str, port: int) -> None:
        """Answer HTTP from a thread of its own, for as long as the process lives.

        Raises:
            OSError: the port is taken.
        """
        start_http_server(port, host, self.registry)
