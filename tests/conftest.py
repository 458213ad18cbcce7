"""What the tests of all three rooms share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stack import Stack, running_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole stack, started once, by the first test that asks for it.

    Tests share it: one that kills a part waits until it is back.
    """
    with running_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running
