"""What an engine does before it is called ready: real work, so that ready means able to do it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpx

from selfhost.engines.engine import Engine
from selfhost.engines.progress import Heartbeat, Reading
from selfhost.engines.scrape import MissingMetricError

log = logging.getLogger(__name__)

PROBE_TIMEOUT_S = 10.0
COUNTED_AFTER_S = 30.0
NEUTRAL = ({"role": "user", "content": "Hello."},)


class FailedStartError(Exception):
    """The engine is not able to serve; says why."""


def warm_up(
    client: httpx.Client, engine: Engine, instructions: Iterable[Sequence[Any]], deadline_s: float
) -> Heartbeat:
    """Have an engine write a first token, so that its first caller does not wait for what only the
    first request costs.

    Args:
        client: of the engine's server.
        instructions: chat messages that its callers' requests will begin with, to be read to it.
        deadline_s: on the monotonic clock.

    Returns:
        What it has counted of this work.

    Raises:
        FailedStartError: it did not answer, or does not count its work, so that nobody could tell
            whether it hangs.
    """
    answer = _ask(client, engine, (), deadline_s)
    if answer.status_code != 200:
        raise FailedStartError(
            f"answered its first request with {answer.status_code}: {answer.text[:300]}"
        )
    for messages in instructions:
        answer = _ask(client, engine, messages, deadline_s)
        if answer.status_code != 200:  # its callers will be told so themselves
            log.warning("%s refused its former instructions: %d", engine.name, answer.status_code)
    counted_by_s = time.monotonic() + COUNTED_AFTER_S
    while True:
        try:
            reading = read(client, engine)
        except MissingMetricError as error:
            raise FailedStartError(f"cannot be watched: {error}") from error
        if reading is not None and reading.steps > 0:
            return Heartbeat(time.monotonic(), reading.steps)
        if time.monotonic() > counted_by_s:
            raise FailedStartError("cannot be watched: it does not count the steps that it makes")
        time.sleep(0.1)


def read(client: httpx.Client, engine: Engine) -> Reading | None:
    """An engine's progress; None if it does not tell.

    Raises:
        MissingMetricError: it tells other things than it should.
    """
    try:
        answer = client.get("/metrics", timeout=PROBE_TIMEOUT_S)
    except httpx.HTTPError:
        return None
    return engine.reading(answer.text) if answer.status_code == 200 else None


def _ask(
    client: httpx.Client, engine: Engine, messages: Sequence[Any], deadline_s: float
) -> httpx.Response:
    question = {"model": engine.model, "messages": [*messages, *NEUTRAL], "max_tokens": 1}
    timeout_s = max(1.0, deadline_s - time.monotonic())
    try:
        return client.post("/v1/chat/completions", json=question, timeout=timeout_s)
    except httpx.HTTPError as error:
        raise FailedStartError(
            f"did not answer its first request ({type(error).__name__})"
        ) from error
