"""What goes wrong is said plainly, with what to do, and a call goes on where it can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Playwright, expect

from agent.timeline.events import TOPIC, EventType
from selfhost.ports import free_port
from tests.ui.browser import launch, open_window
from tests.ui.conftest import Answer, Open
from tests.ui.services import RoomServerProcess, page_server

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_denied_microphone_is_explained_and_typing_offered(
    open_page: Open, answer: Answer
) -> None:
    window = await open_page(microphone=False)
    page = window.page
    await window.call()
    await expect(window.note("microphone_denied")).to_contain_text("Allow the microphone")
    await page.get_by_role("button", name="Type instead").click()
    agent = await answer(window)
    await page.get_by_label("Type instead of talking").fill("Hello")
    await page.keyboard.press("Enter")
    await agent.until(lambda: agent.chat == ["Hello"])
    await expect(page.get_by_role("button", name="Mute the microphone")).to_have_count(0)


async def test_a_missing_microphone_is_explained(playwright: Playwright, page_url: str) -> None:
    browser = await launch(playwright)  # without the pretended device
    try:
        window = await open_window(browser, page_url)
        await window.call()
        await expect(window.note("microphone_missing")).to_contain_text("Connect one")
    finally:
        await browser.close()


async def test_a_room_server_that_is_down_is_explained(
    open_page: Open, services_folder: Path
) -> None:
    with page_server(services_folder, {"LIVEKIT_PORT": str(free_port()), "LIVEKIT_URL": ""}) as url:
        window = await open_page(url)
        page = window.page
        await window.call()
        problem = window.note("room_server_unreachable")
        await expect(problem).to_contain_text("The room server cannot be reached")
        await expect(problem).to_contain_text("python -m selfhost up")
        await expect(page.get_by_role("button", name="Try again")).to_be_enabled()


async def test_an_absent_agent_is_explained_until_it_comes(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    await window.call()
    absent = window.note("agent_absent")
    await expect(absent).to_contain_text("The agent worker is not running", timeout=15_000)
    await expect(absent).to_contain_text("python -m agent dev")
    agent = await answer(window)
    await expect(absent).to_have_count(0)
    await agent.say(0, "Good afternoon.")
    await expect(window.caption("hotel", "Good afternoon.")).to_be_visible()


async def test_an_agent_that_drops_out_may_be_followed_by_another(
    open_page: Open, answer: Answer
) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    first = await answer(window, identity="agent-1")
    await first.book(1, guests=2)
    await expect(page.locator("[data-field=guests] .value")).to_have_text("2")
    room = first.room.name
    await first.leave()
    await expect(window.note("agent_left")).to_contain_text("stay on the line")
    second = await answer(room, identity="agent-2")
    await second.say(0, "I am back.")
    await expect(window.note("agent_left")).to_have_count(0)
    await expect(window.caption("hotel", "I am back.")).to_be_visible()
    await expect(page.locator("[data-field=guests] .value")).to_have_text("2")


async def test_a_call_that_the_agent_ends_is_ended(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    await agent.emit(EventType.CALL_ENDED, 1, reason="task_completed")
    await agent.leave()
    await expect(page.locator(".status")).to_contain_text("Call ended")
    await expect(page.locator(".note")).to_have_count(0)


async def test_a_components_error_is_said_in_plain_words(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    await window.call()
    agent = await answer(window)
    await agent.emit(
        EventType.COMPONENT_ERROR, 1, component="stt", message="APIStatusError", recoverable=True
    )
    problem = window.note("stt_error")
    await expect(problem).to_contain_text("Please repeat what you said last")
    await expect(problem.get_by_text("APIStatusError")).not_to_be_visible()
    await agent.hear(1, [], "Two guests.", speech_to_final_ms=900)
    await expect(problem).to_have_count(0)
    # What cannot be read, or cannot be true, is said and not drawn.
    await agent.room.local_participant.publish_data('{"v": 9}', reliable=True, topic=TOPIC)
    await expect(window.note("other_version")).to_contain_text("different versions")
    await agent.emit(
        EventType.AGENT_SPEAKING, 1, final_to_speech_ms=None, gap_ms=200_000.0, waterfall=None
    )
    await expect(window.app).to_contain_text("cannot be true: turn 1: gap_ms of 200000")
    await expect(window.page.locator("[data-delay=gap_ms]")).to_contain_text("–")


async def test_a_lost_connection_comes_back_or_ends_the_call(
    open_page: Open, services_folder: Path
) -> None:
    process = RoomServerProcess(services_folder)
    process.start()
    try:
        with page_server(services_folder, process.server.environment) as url:
            window = await open_page(url)
            await window.call()
            await expect(window.app).to_have_attribute("data-phase", "waiting")
            process.kill()
            await expect(window.note("reconnecting")).to_be_visible(timeout=20_000)
            process.start()
            await expect(window.note("reconnecting")).to_have_count(0, timeout=30_000)
            await expect(window.app).to_have_attribute("data-phase", "waiting")
            process.kill()
            await expect(window.note("connection_lost")).to_be_visible(timeout=60_000)
            await expect(window.app).to_have_attribute("data-phase", "ended")
    finally:
        process.kill()


@pytest.fixture
def page_with_bad_settings(services_folder: Path) -> Iterator[str]:
    environment = {"LIVEKIT_URL": "wss://rooms.example", "LIVEKIT_API_KEY": ""}
    with page_server(services_folder, environment) as url:
        yield url


async def test_settings_that_cannot_work_are_said_on_the_page(
    open_page: Open, page_with_bad_settings: str
) -> None:
    window = await open_page(page_with_bad_settings)
    page = window.page
    await expect(page.get_by_text("needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET")).to_be_visible()
    await expect(page.get_by_text("Traceback")).to_have_count(0)
