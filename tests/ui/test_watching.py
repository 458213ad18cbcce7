"""A call is watched from the server: whole, whoever joins when, and on the agent's word alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack

import aiohttp
import pytest
from livekit import api
from playwright.async_api import expect

from agent.timeline.events import EventType
from tests.ui.conftest import Answer, Open
from tests.ui.services import RoomServer
from tests.ui.test_reception import claims, settings_for
from ui.room_watch import Watched, observer_token
from ui.watching import Watching

pytestmark = pytest.mark.asyncio(loop_scope="session")


def count(watched: Watched) -> int:
    return sum(len(leg) for leg in watched.legs)


async def seen(watching: Watching, room: str, holds: Callable[[Watched], bool]) -> Watched:
    """What is watched, once something holds of it."""
    async with asyncio.timeout(15):
        while not holds(watched := watching.watch(room)):  # noqa: ASYNC110 - pages poll it, too
            await asyncio.sleep(0.05)
    return watched


async def test_whoever_looks_on_in_the_middle_of_a_call_sees_all_of_it(
    rooms: RoomServer, answer: Answer
) -> None:
    room = "call-watched"
    agent = await answer(room)
    caller = await answer(room, identity="caller-1", kind="standard")
    long = "a room with a view of the harbour " * 30
    for turn in range(1, 31):  # more than one answer of an RPC can carry
        await agent.emit(
            EventType.FINAL_TRANSCRIPT,
            turn,
            publish=turn % 2 == 0,
            text=f"Turn {turn}: {long}",
            speech_to_final_ms=None,
        )
    watching = Watching(settings_for(rooms))
    whole = await seen(watching, room, lambda watched: count(watched) == 30)
    assert sorted(event.seq for event in whole.legs[0]) == list(range(1, 31))

    # What comes afterwards is pushed; what was lost on the way is asked for.
    await agent.emit(EventType.SPEECH_STARTED, 31, publish=False)
    await agent.emit(EventType.SPEECH_ENDED, 31)
    await seen(watching, room, lambda watched: count(watched) == 32)

    # Nobody but the agent is believed, by whatever name.
    for forger in (caller, await answer(room, identity="agent-2", kind="standard")):
        forger.events = list(agent.events)
        await forger.emit(EventType.AGENT_STOPPED, 32, text="The forged words.", interrupted=False)
    await agent.emit(EventType.CALL_ENDED, 32, reason="task_completed")
    told = await seen(watching, room, lambda watched: count(watched) == 33)
    assert "forged" not in str(told.legs)
    await agent.leave()
    await seen(watching, room, lambda watched: watched.is_over)


async def until_told(socket: aiohttp.ClientWebSocketResponse, text: str) -> None:
    async with asyncio.timeout(15):
        while text not in await socket.receive_str():
            pass


async def test_fifty_pages_that_look_on_are_one_observer_to_the_call(
    page_url: str, rooms: RoomServer, answer: Answer
) -> None:
    room = "call-of-many"
    agent = await answer(room)
    await answer(room, identity="caller-1", kind="standard")
    await agent.emit(EventType.FINAL_TRANSCRIPT, 1, text="Before.", speech_to_final_ms=None)

    url = f"{page_url.replace('http', 'ws', 1)}live/{room}"
    async with AsyncExitStack() as pages, aiohttp.ClientSession() as client:
        sockets = [await pages.enter_async_context(client.ws_connect(url)) for _ in range(50)]
        await asyncio.gather(*(until_told(socket, "Before.") for socket in sockets))
        await agent.emit(EventType.FINAL_TRANSCRIPT, 1, text="After.", speech_to_final_ms=None)
        await asyncio.gather(*(until_told(socket, "After.") for socket in sockets))
    async with api.LiveKitAPI(rooms.url, rooms.key, rooms.secret) as server:
        here = await server.room.list_participants(api.ListParticipantsRequest(room=room))
    assert sum(one.identity.startswith("observer") for one in here.participants) == 1
    assert agent.snapshots_asked <= 2


@pytest.mark.parametrize(
    "headers", [{"Host": "hotel.example"}, {"Origin": "https://elsewhere.example"}]
)
async def test_no_others_page_and_nobody_from_elsewhere_looks_on(
    page_url: str, headers: dict[str, str]
) -> None:
    async with aiohttp.ClientSession(headers=headers) as client:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(f"{page_url.replace('http', 'ws', 1)}live/call-x")
        async with client.get(f"{page_url}live") as answer:
            assert answer.status == 403 or "Host" not in headers
            # What another page may ask for, it may not read.
            assert "Access-Control-Allow-Origin" not in answer.headers


async def test_looking_for_a_call_that_is_none_makes_no_room(rooms: RoomServer) -> None:
    watching = Watching(settings_for(rooms))
    none = await seen(watching, "call-of-nobody", lambda watched: watched.is_over)
    assert "there is none of this name" in str(none.problem)
    async with api.LiveKitAPI(rooms.url, rooms.key, rooms.secret) as server:
        found = await server.room.list_rooms(api.ListRoomsRequest(names=["call-of-nobody"]))
    assert not found.rooms


async def test_a_page_that_is_opened_in_the_middle_of_a_call_goes_on_with_it(
    open_page: Open, answer: Answer
) -> None:
    room = "call-looked-at"
    agent = await answer(room)
    await answer(room, identity="caller-1", kind="standard")
    await agent.hear(1, ["From"], "From October sixteenth.", speech_to_final_ms=900)
    await agent.book(1, check_in="2026-10-16")
    await agent.say(1, "From October 16. Until when?", final_to_speech_ms=640, gap_ms=1180)
    window = await open_page()
    page = window.page
    await page.get_by_role("link", name="Replay").click()
    # The room server counts a room's people every five seconds.
    watch = page.locator(f"[data-room={room}]")
    await expect(watch).to_contain_text("Watch the call that goes on", timeout=20_000)
    await watch.click()
    await expect(window.caption("guest", "From October sixteenth.")).to_be_visible(timeout=15_000)
    await expect(window.caption("hotel", "Until when?")).to_be_visible()
    await expect(page.locator("[data-field=check_in]")).to_contain_text("Fri, 16 Oct 2026")

    await agent.emit(EventType.PARTIAL_TRANSCRIPT, 2, text="To the twentieth")
    await expect(page.locator(".line.guest[data-live=true]")).to_contain_text("To the twentieth")
    await agent.emit(EventType.CALL_ENDED, 2, reason="participant_disconnected")
    await expect(page.locator(".status")).to_have_attribute("data-state", "ended")
    await page.get_by_role("button", name="All recordings").click()
    await expect(page).to_have_url(re.compile(r"/replay(\?(?!.*live=).*)?$"))


async def test_an_observers_token_speaks_for_nobody(rooms: RoomServer) -> None:
    token = claims(observer_token(settings_for(rooms), "call-x"))
    assert token["kind"] == "egress"  # which no agent takes for a caller, and no page for an agent
    video = token["video"]
    assert isinstance(video, dict)
    assert video["room"] == "call-x"
    assert not video.get("canPublish")
    assert not video.get("agent")
