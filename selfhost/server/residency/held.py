"""Holding models for as long as a request is answered, a streamed answer included."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Depends


async def _held() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


Held = Annotated[AsyncExitStack, Depends(_held)]
"""A route's own stack. What is entered on it is left once the whole answer has been sent, or could
not be: a generator's own `finally` would never run if its client left before the first byte."""
