"""Words that come before the reply is heard belong to the turn: one reply, to all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from livekit.agents import AgentSession, AgentStateChangedEvent, llm

from agent.booking.hotel import load_hotel
from agent.booking.store import open_store
from agent.receptionist import Receptionist
from agent.timeline.clock import CallClock
from agent.timeline.events import EventType
from agent.timeline.timeline import Timeline


class Call:
    """A call in which a turn is over when the test says so, and a reply heard when it says so."""

    def __init__(self, folder: Path) -> None:
        self.store = open_store(f"sqlite:///{folder}/requests.sqlite3")
        self.timeline = Timeline(CallClock())
        self.session: AgentSession[None] = AgentSession()
        self.receptionist = Receptionist(
            call_id="call",
            hotel=load_hotel(),
            store=self.store,
            timeline=self.timeline,
            today=lambda: date(2026, 11, 30),
            reply_deadline_s=0.2,
        )

    async def says(self, text: str) -> str:
        """The caller's turn is over; returns the reply that is begun."""
        message = llm.ChatMessage(role="user", content=[text])
        talk = llm.ChatContext.empty()
        await self.receptionist.on_user_turn_completed(talk, message)
        talk.items.append(message)
        sentences = self.receptionist.llm_node(talk, [], None)  # type: ignore[arg-type]
        return " ".join([sentence.strip() async for sentence in sentences])

    def hears(self) -> None:
        """The caller hears the reply."""
        event = AgentStateChangedEvent(old_state="thinking", new_state="speaking")
        self.session.emit("agent_state_changed", event)


@pytest.fixture
async def call(tmp_path: Path) -> AsyncIterator[Call]:
    call = Call(tmp_path)
    await call.session.start(call.receptionist)
    yield call
    await call.session.aclose()
    call.store.close()


async def test_a_second_thought_replaces_the_first_in_one_reply(call: Call) -> None:
    await call.says("Check in on the fourth of March.")
    reply = await call.says("No, the fifth.")
    assert call.receptionist.request.check_in == date(2027, 3, 5)
    assert "fifth" in reply
    assert "fourth" not in reply


async def test_a_yes_that_goes_on_is_one_yes(call: Call) -> None:
    await call.says("A twin room from March third to March sixth for two guests.")
    call.hears()
    await call.says("Anna Taylor.")
    call.hears()
    first = await call.says("Yes.")
    both = await call.says("Sure.")
    assert "request number" in first
    assert both == first
    call.hears()
    assert "request number" not in await call.says("Sure.")


async def test_a_yes_that_is_taken_back_before_its_reply_is_heard_confirms_nothing(
    call: Call,
) -> None:
    await call.says("A twin room from March third to March sixth for two guests.")
    call.hears()
    await call.says("Anna Taylor.")
    call.hears()
    await call.says("Yes.")
    assert "Is that right?" in await call.says("No wait, three guests.")
    request = call.receptionist.request
    assert (request.guests, request.confirmed) == (3, False)
    (kept,) = call.store.list_requests()
    assert (kept.request.guests, kept.request.confirmed) == (3, False)
    published = [event for event in call.timeline.events if event.type is EventType.BOOKING_UPDATED]
    assert published[-1].fields["confirmed"] is False
