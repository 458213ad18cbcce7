"""The server is ready when the models that it starts with are loaded and pass their tests."""

from __future__ import annotations

import logging

from selfhost.server.state import ServerState

log = logging.getLogger(__name__)

MAX_LOAD_S = 3600.0  # a start has no client that waits; a supervisor has limits of its own


async def make_ready(state: ServerState) -> None:
    """Load the models to start with, one after the other, and let requests in.

    Raises:
        ApiError: one of them cannot be loaded, or fails its test.
    """
    for name in state.settings.preloaded:
        state.not_ready = f"{name} is loading"
        async with state.pool.use(name, max_wait_s=MAX_LOAD_S):
            pass
    state.not_ready = None
    log.info("ready: %s pass their tests", ", ".join(state.settings.preloaded))
