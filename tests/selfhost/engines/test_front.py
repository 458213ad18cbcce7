"""llama.cpp with the real model behind its front, in the running stack."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest

from selfhost.engines import llama
from selfhost.plan.product import SEQUENCES_ON_CPU
from tests.stack import Stack

SYSTEM = {
    "role": "system",
    "content": "You are the receptionist of a small hotel. "
    + " ".join(f"Room {number} looks out on the garden." for number in range(1, 20)),
}


def user(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


async def ask(client: httpx.AsyncClient, *messages: dict[str, str]) -> dict[str, Any]:
    answer = await client.post(
        "/v1/chat/completions",
        json={"model": llama.MODEL, "messages": list(messages), "max_tokens": 4},
    )
    answer.raise_for_status()
    return dict(answer.json())


def cached_tokens(answer: dict[str, Any]) -> int:
    return int(answer["usage"]["prompt_tokens_details"]["cached_tokens"])


def engine(stack: Stack) -> httpx.AsyncClient:
    base_url = stack.generation_url.removesuffix("/v1")
    return httpx.AsyncClient(base_url=base_url, timeout=60, trust_env=False)


async def test_no_call_reads_instructions_again_that_another_has_read(stack: Stack) -> None:
    stack.wait_ready()
    async with engine(stack) as client:
        first = await ask(client, SYSTEM, user("Hello, this is Ann."))
        instructions = first["usage"]["prompt_tokens"] - 40
        for name in ("Bob", "Eve", "Joe", "Kim"):  # with Ann, one more than there are slots
            answer = await ask(client, SYSTEM, user(f"Hello, this is {name}."))
            assert cached_tokens(answer) > instructions


async def test_calls_that_take_turns_do_not_evict_each_other(stack: Stack) -> None:
    stack.wait_ready()
    talks = {name: [SYSTEM, user(f"My name is {name}. " * 8)] for name in ("Ann", "Bob", "Eve")}
    async with engine(stack) as client:
        for talk in talks.values():
            await ask(client, *talk)
        for talk in talks.values():
            read_before = cached_tokens(await ask(client, *talk))
            talk += [{"role": "assistant", "content": "Hello."}, user("A double, please.")]
            answer = await ask(client, *talk)
            assert cached_tokens(answer) >= read_before - 8


async def test_a_client_that_leaves_before_the_first_word_frees_its_slot(stack: Stack) -> None:
    stack.wait_ready()
    long = {"role": "system", "content": "The garden has many old trees. " * 300}
    async with engine(stack) as client:
        with pytest.raises(httpx.TimeoutException):
            await client.post(
                "/v1/chat/completions",
                json={"messages": [long, user("Hello")], "stream": True},
                timeout=1.0,
            )
        # Read to its end, this prompt would take the engine more than half a minute.
        deadline = time.monotonic() + 20.0
        while any(slot["is_processing"] for slot in (await client.get("/slots")).json()):
            assert time.monotonic() < deadline
            await asyncio.sleep(1.5)  # asking more often would keep the engine from noticing


async def test_more_requests_than_slots_are_all_answered(stack: Stack) -> None:
    stack.wait_ready()
    async with engine(stack) as client:
        questions = [ask(client, user(f"Say {number}.")) for number in range(SEQUENCES_ON_CPU + 3)]
        answers = await asyncio.gather(*questions)
    assert all(answer["choices"][0]["message"]["content"] for answer in answers)


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"{}", b'{"messages": []}'])
async def test_a_request_that_is_not_one_is_told_so(stack: Stack, body: bytes) -> None:
    stack.wait_ready()
    async with engine(stack) as client:
        answer = await client.post("/v1/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages"


async def test_what_the_engine_refuses_is_passed_on_as_it_said_it(stack: Stack) -> None:
    stack.wait_ready()
    async with engine(stack) as client:
        answer = await client.post(
            "/v1/chat/completions", json={"messages": [{"role": "user", "content": 7}]}
        )
    assert 400 <= answer.status_code < 600
    assert answer.json()["error"]["message"]
