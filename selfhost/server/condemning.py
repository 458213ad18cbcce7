"""What happens to a request, and to its model, when the model turns out to be broken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from selfhost.server.errors import ApiError
from selfhost.server.health.broken import BrokenModelError
from selfhost.server.residency.pool import Pool


@contextmanager
def condemning(pool: Pool, model: str) -> Iterator[None]:
    """Around work with a loaded model: if what it makes is garbage, it is taken out at once, and
    the request ends with an error instead of the garbage.

    Raises:
        ApiError: the model is broken (500).
    """
    try:
        yield
    except BrokenModelError as error:
        pool.condemn(model, str(error))
        raise ApiError(
            500,
            f"{error}. Nothing of it was sent, and the model is taken out; try again in a moment.",
            code="model_output_invalid",
            retry_after_s=5,
        ) from error
