"""What the routes of one server share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from selfhost.server.errors import ApiError
from selfhost.server.metrics import Metrics
from selfhost.server.residency.pool import Pool
from selfhost.server.settings import ServerSettings


@dataclass
class ServerState:
    """One server's parts.

    `not_ready` says what is still missing, and is None once the models that are loaded at the
    start have passed their tests.
    """

    settings: ServerSettings
    metrics: Metrics
    pool: Pool
    not_ready: str | None = "the models are loading"
    realtime_sessions: int = 0
    executor: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=2, thread_name_prefix="sound")
    )

    def require_ready(self) -> None:
        """
        Raises:
            ApiError: the server is not ready yet; the client should come back.
        """
        if self.not_ready is not None:
            raise ApiError(503, f"Not ready: {self.not_ready}.", code="not_ready", retry_after_s=2)
