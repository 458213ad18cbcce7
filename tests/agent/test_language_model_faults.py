"""Whatever the language model does, the caller is answered sensibly and the request goes on.

The endpoint here is a double, since a real model cannot be made to fail in these ways on demand;
the client, the session and the receptionist are the real ones.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from livekit.agents import AgentSession
from livekit.agents.llm import ChatMessage
from livekit.plugins import openai

from agent.booking.hotel import load_hotel
from agent.booking.store import open_store
from agent.receptionist import Receptionist
from agent.session import LLM_CONNECT, MAX_UNRECOVERABLE_ERRORS, SessionConnectOptions
from agent.timeline.clock import CallClock
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]

BOOKING = (
    "I'd like a room from October 16th to the 20th.",
    "No wait, October 18th, not the 16th.",
    "Two guests, a double room.",
    "My name is Sarah Johnson.",
    "Is my booking confirmed?",
    "Yes, that's right.",
)
NEVER = re.compile(
    r"[*#<>]|John Doe|\b(is|are|been|have|I've) (now |already )?(booked|confirmed|reserved)\b"
    r"|October eighth\b|October 8\b",
    re.I,
)


def says(*deltas: str, then: Callable[[], Awaitable[None]] | None = None) -> Answer:
    """An endpoint that streams these pieces of text, then ends, or does `then` before it ends."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta in deltas:
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "double",
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": delta}}],
            }
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        if then is not None:
            await then()
        await response.write(b"data: [DONE]\n\n")
        return response

    return answer


async def stalls(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    raise AssertionError


async def fails(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": {"message": "out of memory"}}, status=500)


async def answers_no_json(request: web.Request) -> web.StreamResponse:
    return web.Response(text="data: {oops\n\n", content_type="text/event-stream")


FAULTS: dict[str, Answer] = {
    "fails": fails,
    "stalls": stalls,
    "no JSON": answers_no_json,
    "says nothing": says(),
    "stalls in mid-sentence": says("Which room", then=lambda: asyncio.sleep(3600)),
    "only thinks": says("<think>The user wants a room. I should", " ask."),
    "claims": says("Your booking is confirmed. ", "It is booked for October 8th."),
    "invents a guest": says("Thank you, John Doe. ", "You are all set."),
    "lists": says("* Single\n", "* Double\n", "# Rooms\n"),
    "speaks code": says("```python\nprint('hello')\n```"),
    "another language": says("请问您想要什么房间？"),
    "never ends": says(*(f"Sentence number {n}. " for n in range(400))),
}


@pytest.fixture
async def call(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[AgentSession[None], Receptionist, Timeline]]:
    """A typed call whose language model is the endpoint that the test names."""
    answer: Answer | None = request.param
    app = web.Application()
    if answer is not None:
        app.router.add_post("/v1/chat/completions", answer)
    server = TestServer(app)
    await server.start_server()
    base_url = str(server.make_url("/v1"))
    if answer is None:
        await server.close()  # nobody listens there any more
    timeline = Timeline(CallClock())
    receptionist = Receptionist(
        call_id="call",
        hotel=load_hotel(),
        store=open_store(f"sqlite:///{tmp_path}/requests.sqlite3"),
        timeline=timeline,
        today=lambda: date(2026, 11, 30),
        reply_deadline_s=0.2,
    )
    session: AgentSession[None] = AgentSession(
        llm=openai.LLM(model="double", base_url=base_url, api_key="none"),
        conn_options=SessionConnectOptions(
            llm_conn_options=LLM_CONNECT, max_unrecoverable_errors=MAX_UNRECOVERABLE_ERRORS
        ),
    )
    await session.start(receptionist)
    yield session, receptionist, timeline
    await session.aclose()
    await server.close()


async def say(session: AgentSession[None], text: str) -> str:
    """One typed turn, and the reply to it."""
    await asyncio.wait_for(session.run(user_input=text), timeout=20)
    last = session.history.items[-1]
    assert isinstance(last, ChatMessage)
    assert last.role == "assistant"
    return (last.text_content or "").strip()


@pytest.mark.parametrize("call", [None, *FAULTS.values()], ids=["refuses", *FAULTS], indirect=True)
async def test_a_whole_booking_succeeds(
    call: tuple[AgentSession[None], Receptionist, Timeline],
) -> None:
    session, receptionist, _ = call
    replies = [await say(session, text) for text in BOOKING]
    for reply in replies:
        assert reply.strip()
        assert not NEVER.search(reply), reply
        assert len(re.findall(r"[.?!](?=\s|$)", reply)) <= 3, reply
    booked = receptionist.request
    assert booked.confirmed
    assert booked.to_dict() == {
        "check_in": "2027-10-18",
        "check_out": "2027-10-20",
        "guests": 2,
        "room_type": "double",
        "guest_name": "Sarah Johnson",
        "reference": None,
    }
    assert "October eighteenth" in replies[3]
    assert "sixteenth" not in replies[3]
    assert replies[4].startswith("Not yet")
    assert "front desk will confirm" in replies[5]


@pytest.mark.parametrize("call", [FAULTS["claims"]], indirect=True)
async def test_a_replaced_sentence_is_written_down_with_its_reason(
    call: tuple[AgentSession[None], Receptionist, Timeline],
) -> None:
    session, _, timeline = call
    await say(session, BOOKING[0])
    replaced = [event for event in timeline.events if event.type is EventType.REPLY_REPLACED]
    assert [event.fields["reason"] for event in replaced] == ["false_claim"]


@pytest.mark.parametrize(
    "call", [says("Breakfast is served from 7 to 10:30 and is included.")], indirect=True
)
async def test_good_words_are_spoken_as_the_model_chose_them(
    call: tuple[AgentSession[None], Receptionist, Timeline],
) -> None:
    session, _, timeline = call
    reply = await say(session, "Is breakfast included?")
    assert reply.startswith("Breakfast is served from seven to ten thirty")
    assert reply.endswith("Which dates would you like to stay?")
    assert not [event for event in timeline.events if event.type is EventType.REPLY_REPLACED]


@pytest.mark.parametrize("call", [stalls], indirect=True)
async def test_a_question_that_the_model_does_not_answer_is_answered_by_the_fact(
    call: tuple[AgentSession[None], Receptionist, Timeline],
) -> None:
    session, _, _ = call
    reply = await say(session, "Is breakfast included?")
    assert reply.startswith("Breakfast is served from seven to ten thirty and is included.")


@pytest.mark.parametrize("call", [stalls], indirect=True)
async def test_a_question_that_no_fact_answers_gets_an_honest_answer(
    call: tuple[AgentSession[None], Receptionist, Timeline],
) -> None:
    session, _, _ = call
    reply = await say(session, "Do you have a helicopter pad?")
    assert reply.startswith("Let me see. I don't know that, but the front desk can tell you.")


@pytest.mark.parametrize("call", [says("I will gladly help you with that.")], indirect=True)
async def test_a_reply_without_its_question_gets_it(
    call: tuple[AgentSession[None], Receptionist, Timeline],
) -> None:
    session, _, _ = call
    assert (await say(session, BOOKING[2])).endswith("Which dates would you like to stay?")
