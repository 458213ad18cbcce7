"""Answers that are all spoken at once: the server's streams, and the library as it is."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
from numpy.typing import NDArray

from selfhost import models
from selfhost.load.model_bench.lateness import Step, Stream, starved, step

BYTES_PER_S = 24_000 * 2
STAGGER_S = 0.2
TIMEOUT_S = 60.0

ANSWER = (
    "Thank you, Sarah Johnson. I have a double room for two guests, from October sixteenth to "
    "October twentieth, four nights. Breakfast is included and served from seven to half past ten. "
    "Shall I pass this on to the front desk?"
)


def served(url: str, streams: int) -> Step:
    """So many answers from the server at once; each listener plays the sound as it comes."""

    async def run() -> Step:
        async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S, trust_env=False) as client:
            listeners = [_listen(client, number * STAGGER_S) for number in range(streams)]
            return step(await asyncio.gather(*listeners))

    return asyncio.run(run())


async def _listen(client: httpx.AsyncClient, delay_s: float) -> Stream:
    await asyncio.sleep(delay_s)
    body = {"model": "piper", "input": ANSWER, "response_format": "pcm"}
    asked = time.perf_counter()
    chunks: list[tuple[float, float]] = []
    async with client.stream("POST", "/audio/speech", json=body) as answer:
        if answer.status_code != 200:
            return Stream([None], [None])
        async for data in answer.aiter_raw():
            chunks.append((time.perf_counter() - asked, len(data) / BYTES_PER_S))
    return Stream([chunks[0][0]], [chunks[-1][0]], starved(chunks))


def direct(streams: int) -> Step:
    """The same answers from the library alone: one voice, a thread a request, the whole answer
    made before any of it is sent, as the common server around it does."""
    import piper

    voice = piper.PiperVoice.load(str(models.weights("piper-joe")))
    turn = threading.Lock()

    def ask(number: int) -> Stream:
        time.sleep(number * STAGGER_S)
        asked = time.perf_counter()
        with turn:
            sound: list[NDArray[np.int16]] = [
                chunk.audio_int16_array for chunk in voice.synthesize(ANSWER)
            ]
        done_s = time.perf_counter() - asked
        assert sum(len(piece) for piece in sound) > 0
        return Stream([done_s], [done_s])

    with ThreadPoolExecutor(streams) as threads:
        return step(list(threads.map(ask, range(streams))))
