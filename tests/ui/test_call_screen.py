"""A call is shown as it happens: a real browser, a real room, and an agent that does as told."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from agent.timeline.events import EventType
from tests.ui.conftest import Answer, Open

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_call_is_shown_as_it_happens(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    await agent.say(0, "Good afternoon. When would you like to stay?")
    await expect(
        window.caption("hotel", "Good afternoon. When would you like to stay?")
    ).to_be_visible()

    await agent.emit(EventType.SPEECH_STARTED, 1)
    await agent.emit(EventType.PARTIAL_TRANSCRIPT, 1, text="From October")
    partial = page.locator(".line.guest[data-live=true]")
    await expect(partial).to_contain_text("From October")
    await agent.emit(EventType.PARTIAL_TRANSCRIPT, 1, text="From October sixteenth")
    await expect(partial).to_contain_text("From October sixteenth")
    await agent.emit(EventType.SPEECH_ENDED, 1)
    await agent.emit(
        EventType.FINAL_TRANSCRIPT, 1, text="From October sixteenth.", speech_to_final_ms=2310
    )
    await expect(partial).to_have_count(0)
    heard = window.caption("guest", "From October sixteenth.")
    await expect(heard).to_be_visible()

    await agent.book(1, ("check_in", None, "2026-10-16"), check_in="2026-10-16")
    await expect(page.locator("[data-field=check_in]")).to_contain_text("Fri, 16 Oct 2026")

    # The gap unfolds while it lasts …
    waterfall = page.locator(".waterfall")
    await expect(waterfall.locator("[data-part=final_transcript]")).to_be_visible()
    await expect(waterfall.locator("[data-part=reply_started] .growing")).to_be_visible()
    # … and is divided once it is over.
    parts = {"end_of_speech": 250.0, "first_sentence": 600.0, "network": 20.0}
    await agent.say(
        1, "From October 16. Until when?", final_to_speech_ms=640, gap_ms=1180, parts=parts
    )
    await expect(waterfall.locator("[data-part=first_sentence]")).to_contain_text("600 ms")
    await expect(waterfall.locator("[data-part=unexplained]")).to_contain_text("310 ms")
    await expect(waterfall.locator("[data-part=check]")).to_contain_text("unknown")
    await expect(waterfall.locator("[data-gap=told]")).to_have_text("1.18 s")
    await expect(heard.locator("[data-delay=speech_to_final_ms]")).to_contain_text("2.31 s")
    await expect(heard.locator("[data-delay=final_to_speech_ms]")).to_contain_text("0.64 s")
    await expect(heard.locator("[data-delay=gap_ms]")).to_contain_text("1.18 s")
    await expect(page.locator(".chart rect")).to_have_count(4)
    await expect(page.locator(".legend [data-delay=speech_to_final_ms]")).to_contain_text(
        "includes the time you spend speaking"
    )


async def test_the_agents_words_appear_while_it_speaks(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    writer = await agent.begin_words()
    await writer.write("Good after")
    live = page.locator(".line.hotel[data-live=true]")
    await expect(live).to_contain_text("Good after")
    await writer.write("noon.")
    await expect(live).to_contain_text("Good afternoon.")
    await writer.aclose(attributes={"lk.transcription_final": "true"})
    await expect(live).to_have_count(0)
    await expect(window.caption("hotel", "Good afternoon.")).to_be_visible()


async def test_the_agents_state_and_voice_are_shown(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    status = page.locator(".status")
    await expect(status).to_have_attribute("data-state", "connecting")
    agent = await answer(window)
    for state in ("listening", "thinking", "speaking"):
        await agent.state(state)
        await expect(status).to_have_attribute("data-state", state)
    await agent.tone(1.5)
    await page.wait_for_function(
        """() => [...document.querySelectorAll("*")].some((host) =>
          [...(host.shadowRoot?.querySelectorAll(".meter i") ?? [])].some(
            (bar) => Number(bar.style.getPropertyValue("--level")) > 0.2))"""
    )


async def test_a_corrected_value_stands_beside_the_struck_out_old_one(
    open_page: Open, answer: Answer
) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    await agent.book(1, ("check_in", None, "2026-10-16"), check_in="2026-10-16", guests=2)
    await agent.book(2, ("check_in", "2026-10-16", "2026-10-18"), check_in="2026-10-18", guests=2)
    check_in = page.locator("[data-field=check_in]")
    await expect(check_in.locator(".value")).to_have_text("Sun, 18 Oct 2026")
    await expect(check_in.locator("del")).to_contain_text("Fri, 16 Oct 2026")
    await expect(check_in.locator(".changed")).to_have_count(1)
    guests = page.locator("[data-field=guests]")
    await expect(guests.locator(".value")).to_have_text("2")
    await expect(guests.locator("del")).to_have_count(0)


async def test_what_was_told_before_the_page_listened_is_fetched(
    open_page: Open, answer: Answer
) -> None:
    window = await open_page()
    await window.call()
    agent = await answer(window, listening=False)
    await agent.emit(EventType.CALL_STARTED, 0, publish=False, call_id="c", providers={})
    await agent.emit(EventType.AGENT_STOPPED, 0, publish=False, text="Welcome.", interrupted=False)
    agent.answer_snapshots()
    await expect(window.caption("hotel", "Welcome.")).to_be_visible()


async def test_a_gap_in_the_sequence_is_filled_over_several_pages(
    open_page: Open, answer: Answer
) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    await agent.emit(EventType.AGENT_STOPPED, 0, text="Welcome.", interrupted=False)
    await expect(window.caption("hotel", "Welcome.")).to_be_visible()
    long = "a room with a view of the harbour " * 30
    for turn in range(1, 31):  # more than one answer of an RPC can carry
        await agent.emit(
            EventType.FINAL_TRANSCRIPT,
            turn,
            publish=False,
            text=f"Turn {turn}: {long}",
            speech_to_final_ms=None,
        )
    await agent.emit(EventType.FINAL_TRANSCRIPT, 31, text="After it.", speech_to_final_ms=None)
    await expect(window.caption("guest", "After it.")).to_be_visible()
    await expect(page.locator(".line.guest")).to_have_count(31)
    assert agent.snapshots_asked > 2


async def test_only_the_agent_is_believed(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    forger = await answer(agent.room.name, identity="agent", kind="standard")
    forged: dict[str, Any] = {"text": "The forged words.", "speech_to_final_ms": 1}
    await forger.emit(EventType.FINAL_TRANSCRIPT, 1, **forged)
    await forger.say(1, "The forged reply.")
    await forger.state("speaking")
    await agent.emit(EventType.FINAL_TRANSCRIPT, 1, text="The true words.", speech_to_final_ms=1)
    await agent.state("thinking")
    await expect(window.caption("guest", "The true words.")).to_be_visible()
    await expect(page.locator(".status")).to_have_attribute("data-state", "thinking")
    await expect(window.app).not_to_contain_text("forged")


async def test_the_captions_stay_at_their_end_until_someone_scrolls_up(
    open_page: Open, answer: Answer
) -> None:
    window = await open_page(height=600)
    await window.call()
    agent = await answer(window)
    for turn in range(1, 9):
        await agent.hear(turn, [f"Partial {turn}"], f"Turn {turn}.", speech_to_final_ms=900)
        await agent.emit(EventType.AGENT_STOPPED, turn, text=f"Reply {turn}.", interrupted=False)
    await expect(window.caption("hotel", "Reply 8.")).to_be_in_viewport()

    await window.caption("guest", "Turn 1.").scroll_into_view_if_needed()
    await agent.hear(9, [], "Turn 9.", speech_to_final_ms=900)
    await expect(window.caption("guest", "Turn 9.")).to_have_count(1)
    await expect(window.caption("guest", "Turn 1.")).to_be_in_viewport()
    await expect(window.caption("guest", "Turn 9.")).not_to_be_in_viewport()
