"""The parts of the stack as their own endpoints describe them.

Each part is asked for its state, and for what it says of its load and its memory. What it does not
say is None: unknown is never zero.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
from livekit import api
from prometheus_client.parser import text_string_to_metric_families

from ui.settings import Settings, StackSettings

ANSWER_WITHIN_S = 2.0
MAX_ANSWER_BYTES = 4 << 20


class State(StrEnum):
    READY = "ready"
    NOT_READY = "not ready"  # it says so itself
    FAILING = "failing"  # it answers with an error
    REFUSING = "refuses the key"
    SILENT = "does not answer"
    UNREACHABLE = "cannot be reached"
    ELSEWHERE = "not asked"  # a cloud does its work
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Model:
    """A model that a part can serve; None is what the part does not say.

    Args:
        memory_bytes: what it holds now.
        expected_bytes: what it will take once it is loaded.
        in_use: how many requests use it now.
        failure: why it cannot be loaded.
    """

    id: str
    state: str | None = None
    memory_bytes: int | None = None
    expected_bytes: int | None = None
    in_use: int | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Part:
    """One part of the stack.

    Args:
        where: host and port.
        detail: why it is in this state, for people.
        load: what it is doing now, for people.
        memory_bytes: what it says that it holds.
        memory_limit_bytes: what it says that it may hold.
        models: those it offers, if it tells.
    """

    name: str
    where: str | None
    state: State
    detail: str | None = None
    load: str | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    models: tuple[Model, ...] = ()


class Silence(Exception):
    """A part that gives no usable answer, and how."""

    def __init__(self, state: State, detail: str) -> None:
        super().__init__(detail)
        self.state = state
        self.detail = detail


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: a client that reads them for itself takes longer for it than for its question."""
    return ssl.create_default_context()


class Endpoints:
    """Asks one part's HTTP endpoints; every question is answered, or given up, in time."""

    def __init__(self, root: str, key: str | None = None) -> None:
        self._root = root
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def ask(self, path: str) -> httpx.Response:
        """The answer of whatever status.

        Raises:
            Silence: there was none in time, or none at all.
        """
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await self._get(path)
        except (TimeoutError, httpx.TimeoutException):
            raise Silence(State.SILENT, f"no answer within {ANSWER_WITHIN_S:.0f} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Silence(State.UNREACHABLE, f"no connection ({type(error).__name__})") from None

    async def _get(self, path: str) -> httpx.Response:
        async with (
            httpx.AsyncClient(
                timeout=ANSWER_WITHIN_S, trust_env=False, verify=_certificates()
            ) as client,
            client.stream("GET", self._root + path, headers=self._headers) as answer,
        ):
            body = b""
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > MAX_ANSWER_BYTES:
                    raise httpx.HTTPError("the answer is too long")
        return httpx.Response(answer.status_code, content=body)

    async def json(self, path: str) -> Any:
        """A JSON answer, or None where there is none."""
        try:
            answer = await self.ask(path)
            return answer.json() if answer.is_success else None
        except (Silence, ValueError):
            return None

    async def metrics(self) -> Metrics:
        """What `/metrics` says; nothing where it says nothing."""
        try:
            answer = await self.ask("/metrics")
            return Metrics.parse(answer.text if answer.is_success else "")
        except Silence:
            return Metrics({})


@dataclass(frozen=True)
class Metrics:
    """Prometheus samples by name, each with its labels."""

    samples: Mapping[str, Sequence[tuple[Mapping[str, str], float]]]

    @classmethod
    def parse(cls, text: str) -> Metrics:
        """Read the text format; what cannot be read says nothing."""
        samples: dict[str, list[tuple[Mapping[str, str], float]]] = {}
        try:
            for family in text_string_to_metric_families(text):
                samples.setdefault(family.name, [])
                for sample in family.samples:
                    samples.setdefault(sample.name, []).append((sample.labels, sample.value))
        except ValueError:
            return cls({})
        return cls(samples)

    def total(self, *names: str) -> float | None:
        """The sum over all labels of the first of these names that is there.

        One that is there with no labels yet has counted nothing yet.
        """
        for name in names:
            if (found := self.samples.get(name)) is not None:
                value = sum(value for _, value in found)
                return value if value == value and abs(value) != float("inf") else None
        return None

    def by(self, name: str, label: str) -> dict[str, float]:
        return {labels.get(label, ""): value for labels, value in self.samples.get(name, ())}


Look = Callable[[], Awaitable[Part]]


def looks(settings: Settings | None, stack: StackSettings) -> dict[str, Look]:
    """How to look at each part, by its name, in the order of a call.

    Args:
        settings: None where those of a call cannot work; the room server is then unknown.
    """
    return {
        "Room server": lambda: look_at_room_server(settings),
        "Model server": lambda: look_at_model_server(stack),
        "Generation": lambda: look_at_generation(stack),
        "Worker": lambda: look_at_worker(settings, stack),
        "Front desk": lambda: look_at_desk(stack),
    }


async def look_at_room_server(settings: Settings | None) -> Part:
    name = "Room server"
    if settings is None:
        return Part(name, None, State.UNKNOWN, "the page's settings for calls cannot work")
    part = Part(name, _where(settings.room_url), State.READY)
    try:
        # The client's own timeout does not hold for a server that takes the question and is silent.
        async with (
            asyncio.timeout(ANSWER_WITHIN_S),
            api.LiveKitAPI(settings.room_url, settings.room_key, settings.room_secret) as server,
        ):
            found = await server.room.list_rooms(api.ListRoomsRequest())
    except api.TwirpError as error:
        if error.status in (401, 403):
            return replace(part, state=State.REFUSING, detail="it does not take the page's key")
        return replace(part, state=State.FAILING, detail=f"it answers {error.code}")
    except TimeoutError:
        detail = f"no answer within {ANSWER_WITHIN_S:.0f} s"
        return replace(part, state=State.SILENT, detail=detail)
    except (aiohttp.ClientError, OSError) as error:
        detail = f"no connection ({type(error).__name__})"
        return replace(part, state=State.UNREACHABLE, detail=detail)
    people = sum(room.num_participants for room in found.rooms)
    load = f"{_count(len(found.rooms), 'room')}, {_count(people, 'participant')}"
    return replace(part, load=load)


async def look_at_model_server(stack: StackSettings) -> Part:
    part, endpoints = _start(
        "Model server", stack.model_server_url, stack.model_server_key, stack.stt_provider
    )
    if endpoints is None:
        return part
    try:
        alive, ready = await asyncio.gather(endpoints.ask("/health"), endpoints.ask("/ready"))
    except Silence as silence:
        return replace(part, state=silence.state, detail=silence.detail)
    part = _judged(part, ready if alive.is_success else alive)
    metrics, listed = await asyncio.gather(endpoints.metrics(), endpoints.json("/v1/models"))
    resident = metrics.by("model_server_resident_bytes", "model")
    models = tuple(
        replace(one, memory_bytes=one.memory_bytes or _bytes(resident.get(one.id)))
        for one in _models(listed)
    )
    held = [model.memory_bytes for model in models if model.memory_bytes is not None]
    in_flight = metrics.total("model_server_in_flight")
    return replace(
        part,
        load=None if in_flight is None else f"{in_flight:.0f} requests and sessions open",
        memory_bytes=sum(held) if held else _bytes(metrics.total("process_resident_memory_bytes")),
        memory_limit_bytes=_bytes(metrics.total("model_server_budget_bytes")),
        models=models,
    )


async def look_at_generation(stack: StackSettings) -> Part:
    part, endpoints = _start(
        "Generation", stack.generation_url, stack.generation_key, stack.llm_provider
    )
    if endpoints is None:
        return part
    try:
        part = _judged(part, await endpoints.ask("/health"))
    except Silence as silence:
        return replace(part, state=silence.state, detail=silence.detail)
    metrics, listed = await asyncio.gather(endpoints.metrics(), endpoints.json("/v1/models"))
    # llama.cpp's names and vLLM's.
    running = metrics.total("llamacpp:requests_processing", "vllm:num_requests_running")
    waiting = metrics.total("llamacpp:requests_deferred", "vllm:num_requests_waiting")
    cache = metrics.total("vllm:kv_cache_usage_perc", "llamacpp:kv_cache_usage_ratio")
    load = [
        *([] if running is None else [f"{running:.0f} running"]),
        *([] if waiting is None else [f"{waiting:.0f} waiting"]),
        *([] if cache is None else [f"KV cache {100 * cache:.0f} % full"]),
    ]
    return replace(
        part,
        load=", ".join(load) or None,
        memory_bytes=_bytes(metrics.total("process_resident_memory_bytes")),
        models=_models(listed),
    )


async def look_at_worker(settings: Settings | None, stack: StackSettings) -> Part:
    if settings is not None and not settings.is_local:
        detail = "it works for a room server beyond this machine, and need not be on this one"
        return Part("Worker", None, State.UNKNOWN, detail)
    part, endpoints = _start("Worker", stack.worker_url, None, "selfhosted")
    assert endpoints is not None
    try:
        part = _judged(part, await endpoints.ask("/"))
    except Silence as silence:
        return replace(part, state=silence.state, detail=silence.detail)
    said = await endpoints.json("/worker")
    if not isinstance(said, dict) or "worker_type" not in said:
        return part
    # The framework leaves a number out where it is 0, as Protobuf's JSON does.
    jobs, load = (_number(said.get(name, 0)) for name in ("active_jobs", "worker_load"))
    known = [
        *([] if jobs is None else [_count(int(jobs), "call")]),
        *([] if load is None else [f"load {100 * load:.0f} %"]),
    ]
    return replace(part, load=", ".join(known) or None)


async def look_at_desk(stack: StackSettings) -> Part:
    part, endpoints = _start("Front desk", stack.desk_url, None, "selfhosted")
    assert endpoints is not None
    try:
        answer = await endpoints.ask("/metrics")
    except Silence as silence:
        return replace(part, state=silence.state, detail=silence.detail)
    waiting = Metrics.parse(answer.text).total("hotel_voice_desk_messages_waiting")
    load = None if waiting is None else f"{_count(int(waiting), 'message')} to deliver"
    return replace(_judged(part, answer), load=load)


def _start(
    name: str, url: str | None, key: str | None, provider: str
) -> tuple[Part, Endpoints | None]:
    if url is None:
        return Part(name, None, State.ELSEWHERE, f"{provider} does this part's work"), None
    return Part(name, _where(url), State.UNKNOWN), Endpoints(url, key)


def _judged(part: Part, answer: httpx.Response) -> Part:
    """The part with what its own word on its health says."""
    if answer.is_success:
        return replace(part, state=State.READY)
    if answer.status_code in (401, 403):
        return replace(part, state=State.REFUSING, detail="it does not take the page's key")
    if answer.status_code == 503:
        return replace(part, state=State.NOT_READY, detail=_reason(answer))
    return replace(part, state=State.FAILING, detail=f"it answers HTTP {answer.status_code}")


def _reason(answer: httpx.Response) -> str | None:
    try:
        said = answer.json()
        error = said.get("error")
        reason = said.get("reason") or (error.get("message") if isinstance(error, dict) else error)
    except (ValueError, AttributeError):
        return None
    return str(reason)[:200] if reason else None


def _models(listed: Any) -> tuple[Model, ...]:
    """The models of an OpenAI-style list, with what a server adds to it, whoever it is."""
    data = listed.get("data") if isinstance(listed, dict) else None
    models = []
    for one in data if isinstance(data, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("id"), str):
            continue
        in_use = _number(one.get("in_use"))
        models.append(
            Model(
                one["id"],
                state=_text(one.get("state")),
                memory_bytes=_bytes(_number(one.get("memory_bytes"))),
                expected_bytes=_bytes(_number(one.get("expected_bytes"))),
                in_use=None if in_use is None else int(in_use),
                failure=_text(one.get("failure")),
            )
        )
    return tuple(models)


def _text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bytes(value: float | None) -> int | None:
    """A size that can be one: a gauge that nobody has set reads 0, and holds no answer."""
    return int(value) if value is not None and 0 < value < float("inf") else None


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _where(url: str) -> str | None:
    """Host and port alone: an address may hold a password."""
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        return None
