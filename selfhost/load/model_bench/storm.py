"""More models than fit, all asked for at once: every request must still be answered."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from selfhost.load.model_bench.pipeline import WrongAnswerError, ask
from selfhost.load.model_bench.task import Question, question

CLIENTS = 8
MAX_WAIT_S = 120.0

# How often each kind of request comes. A generator takes seconds to load, so it is rarer; a voice
# and a recogniser are asked for as a call asks for them.
WEIGHTS = {
    "embed": 30,
    "rerank": 20,
    "extract": 20,
    "speak piper": 12,
    "speak hibari": 8,
    "hear": 8,
    "generate": 2,
}


@dataclass(frozen=True)
class Storm:
    """What became of the requests.

    Args:
        latencies_s: of the answered ones.
        failures: what the others said.
        loads, evictions: the server's own count, over the storm.
    """

    latencies_s: list[float]
    failures: list[str]
    loads: int
    evictions: int
    seconds: float


async def storm(root: str, requests: int, *, sound: bytes, seed: int = 1) -> Storm:
    """Send `requests` mixed requests from a few clients, each the next when its last is answered.

    Args:
        root: the server's address.
        sound: a WAV file with speech, for the recogniser.
        seed: of the order of the requests.
    """
    choose = random.Random(seed)
    kinds = choose.choices(list(WEIGHTS), weights=list(WEIGHTS.values()), k=requests)
    waiting = list(enumerate(kinds))
    latencies_s: list[float] = []
    failures: list[str] = []

    async with httpx.AsyncClient(
        base_url=f"{root}/v1", timeout=MAX_WAIT_S, trust_env=False
    ) as client:

        async def work() -> None:
            while waiting:
                number, kind = waiting.pop()
                started = time.perf_counter()
                try:
                    await _send(client, kind, question(number), sound)
                except (WrongAnswerError, httpx.HTTPError) as error:
                    failures.append(f"{kind}: {type(error).__name__} {error}")
                else:
                    latencies_s.append(time.perf_counter() - started)

        before = await counts(root)
        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(CLIENTS)))
        seconds = time.perf_counter() - started
        after = await counts(root)
    return Storm(
        latencies_s,
        failures,
        after.loads - before.loads,
        after.evictions - before.evictions,
        seconds,
    )


async def _send(client: httpx.AsyncClient, kind: str, asked: Question, sound: bytes) -> None:
    own: dict[str, Callable[[], Awaitable[httpx.Response]]] = {
        "speak piper": lambda: _speak(client, "piper", asked),
        "speak hibari": lambda: _speak(client, "hibari", asked),
        "hear": lambda: client.post(
            "/audio/transcriptions",
            data={"model": "whisper-tiny", "language": "en"},
            files={"file": ("speech.wav", sound)},
        ),
    }
    if kind not in own:
        await ask(client, kind, asked)
        return
    answer = await own[kind]()
    if answer.status_code != 200 or not answer.content:
        raise WrongAnswerError(f"{kind}: {answer.status_code} {answer.text[:300]}")


async def _speak(client: httpx.AsyncClient, model: str, asked: Question) -> httpx.Response:
    body = {"model": model, "input": asked.text, "response_format": "wav"}
    return await client.post("/audio/speech", json=body)


@dataclass(frozen=True)
class Counts:
    """What a server has done since its start, over all models."""

    loads: int
    evictions: int


async def counts(root: str) -> Counts:
    """
    Raises:
        ValueError: the server does not count them.
    """
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{root}/metrics")).text
    return Counts(
        counted(text, "model_server_loads_total"), counted(text, "model_server_evictions_total")
    )


def counted(metrics: str, name: str) -> int:
    """The sum of a counter over its labels, from a page of Prometheus metrics.

    Raises:
        ValueError: the page does not hold it: a missing counter is not zero.
    """
    values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", metrics, re.MULTILINE)
    if not values and f"# TYPE {name.removesuffix('_total')}" not in metrics:
        raise ValueError(f"the server's metrics have no {name}")
    return round(sum(float(value) for value in values))
