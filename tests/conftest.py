"""What the tests of all three rooms share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.telemetry import otlp
from tests.collector import Collector, collecting
from tests.stack import Stack, running_stack


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """Where the calls of `stack` send their traces."""
    with collecting() as running:
        yield running


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Stack]:
    """The whole stack, started once, by the first test that asks for it.

    Tests share it: one that kills a part waits until it is back.
    """
    settings = {otlp.ENDPOINT: collector.url}
    with running_stack(tmp_path_factory.mktemp("stack"), settings=settings) as running:
        yield running
