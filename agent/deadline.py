"""The deadline of a reply: in a voice call, late words can be worse than short ones."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

# Once a filler has been spoken, the caller waits this many deadlines more.
PATIENCE_AFTER_FILLER = 3.0


# An unhurried voice; Piper's default speed is a little faster.
WORDS_PER_SECOND = 2.8


def speaking_time_s(text: str) -> float:
    """About how long it takes to say `text`, in seconds."""
    return len(text.split()) / WORDS_PER_SECOND


async def until_late(
    sentences: AsyncIterator[str],
    *,
    deadline_s: float,
    filler: str,
    on_failure: Callable[[Exception], None],
) -> AsyncIterator[str]:
    """Pass sentences on while each comes in time; end quietly when one is late or fails.

    Args:
        sentences: what is being generated; closed when this ends.
        deadline_s: how long each sentence may take, in seconds.
        filler: spoken once when the first sentence is late, which then gets more time; if empty,
            a late first sentence ends the reply.
        on_failure: told of an exception that ended `sentences`.

    Yields:
        The filler, if it was needed, and the sentences that came in time.
    """
    allowed_s = deadline_s
    try:
        while True:
            following = asyncio.ensure_future(anext(sentences, None))
            try:
                done, _ = await asyncio.wait({following}, timeout=allowed_s)
                if not done and filler:
                    yield filler
                    filler = ""
                    allowed_s = PATIENCE_AFTER_FILLER * deadline_s
                    done, _ = await asyncio.wait({following}, timeout=allowed_s)
                if not done:
                    return
                sentence = following.result()
            except Exception as error:
                on_failure(error)
                return
            finally:
                if not following.done():
                    following.cancel()
                    with contextlib.suppress(asyncio.CancelledError, Exception):
                        await following
            if sentence is None:
                return
            filler = ""
            yield sentence
    finally:
        if hasattr(sentences, "aclose"):
            await sentences.aclose()
