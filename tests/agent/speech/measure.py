"""What checking costs: `python -m tests.agent.speech.measure`.

Each sentence is timed once, the first time that it is seen, so that no cache flatters the figures.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator

from agent.speech.check import check
from agent.speech.clean import Cleaner
from agent.speech.speakable import speakable
from agent.speech.stream import checked
from tests.agent.speech.situations import GROUNDS, MAY_BE_SAID, MUST_NOT_BE_SAID

SENTENCES = [*MAY_BE_SAID, *((situation, text) for situation, _, text in MUST_NOT_BE_SAID)]


def _report(what: str, times_ms: list[float]) -> None:
    cuts = statistics.quantiles(times_ms, n=20)
    print(
        f"{what:<34} n={len(times_ms)}  median {statistics.median(times_ms):.2f} ms"
        f"  p95 {cuts[18]:.2f} ms  max {max(times_ms):.2f} ms"
    )


async def _stream_ms(situation: str, text: str) -> float:
    async def chunks() -> AsyncIterator[str]:
        for start in range(0, len(text), 4):
            yield text[start : start + 4]

    start = time.perf_counter()
    async for _ in checked(
        chunks(),
        GROUNDS[situation],
        max_sentences=3,
        on_replaced=lambda finding, spoken: None,
        replacement=lambda finding: "",
    ):
        pass
    return (time.perf_counter() - start) * 1_000


def main() -> None:
    for grounds in GROUNDS.values():
        check("The hotel's facts are read once a hotel.", grounds)
    parts: dict[str, list[float]] = {"clean": [], "speakable": [], "check": []}
    for situation, text in SENTENCES:
        start = time.perf_counter()
        cleaner = Cleaner()
        cleaner.feed(text)
        cleaner.finish()
        cleaned = time.perf_counter()
        speakable(text)
        spoken = time.perf_counter()
        check(text, GROUNDS[situation])
        done = time.perf_counter()
        parts["clean"].append((cleaned - start) * 1_000)
        parts["speakable"].append((spoken - cleaned) * 1_000)
        parts["check"].append((done - spoken) * 1_000)
    for what, times_ms in parts.items():
        _report(what, times_ms)
    whole = asyncio.run(_all_streams())
    _report("whole stream, a sentence", whole)


async def _all_streams() -> list[float]:
    return [await _stream_ms(situation, f"{text} ") for situation, text in SENTENCES]


if __name__ == "__main__":
    main()
