"""What a caller does with the page, and what the page does not do behind a caller's back."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from tests.ui.conftest import Answer, Open

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_caller_can_mute_type_and_hang_up(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    caller = await agent.caller()
    await page.get_by_role("button", name="Mute the microphone").click()
    await agent.until(lambda: all(one.muted for one in caller.track_publications.values()))
    await page.get_by_role("button", name="Unmute the microphone").click()
    await agent.until(lambda: not any(one.muted for one in caller.track_publications.values()))

    await page.get_by_label("Type instead of talking").fill("Two guests, please")
    await page.keyboard.press("Enter")
    await agent.until(lambda: agent.chat == ["Two guests, please"])
    await expect(window.caption("guest", "Two guests, please")).to_be_visible()

    await page.get_by_role("button", name="Hang up").click()
    await expect(page.locator(".status")).to_contain_text("Call ended")
    await agent.until(lambda: not agent.room.remote_participants)
    await expect(window.caption("guest", "Two guests, please")).to_be_visible()


async def test_a_call_can_be_made_with_the_keyboard_alone(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call_button.wait_for()
    for _ in range(10):
        await page.keyboard.press("Tab")
        if await window.call_button.evaluate("(one) => one.getRootNode().activeElement === one"):
            break
    await page.keyboard.press("Enter")
    agent = await answer(window)
    await expect(window.app).to_have_attribute("data-phase", "talking")
    for _ in range(10):
        await page.keyboard.press("Tab")
        hang_up = page.get_by_role("button", name="Hang up")
        if await hang_up.evaluate("(one) => one.getRootNode().activeElement === one"):
            break
    await page.keyboard.press("Space")
    await expect(window.app).to_have_attribute("data-phase", "ended")
    await agent.until(lambda: not agent.room.remote_participants)


async def test_a_reloaded_page_calls_again_in_a_new_room(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    first = await answer(window)
    await expect(window.app).to_have_attribute("data-phase", "talking")
    await page.reload()
    await first.until(lambda: not first.room.remote_participants)
    await window.call()
    second = await answer(window)
    await second.say(0, "Good afternoon.")
    await expect(window.caption("hotel", "Good afternoon.")).to_be_visible()
    assert second.room.name != first.room.name


async def test_nothing_but_this_machine_is_contacted(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    await window.call()
    agent = await answer(window)
    await agent.say(0, "Good afternoon.")
    await expect(window.caption("hotel", "Good afternoon.")).to_be_visible()
    assert window.elsewhere == []
    servers = await window.page.evaluate("window.iceServers.flat()")
    assert servers, "no ICE servers were noted: this test sees nothing"
    assert [one for one in servers if not re.match(r"(stun|turns?):127\.0\.0\.1[:?]", one)] == []


@pytest.mark.parametrize("width", [360, 768, 1280])
async def test_the_screen_fits_its_window(open_page: Open, answer: Answer, width: int) -> None:
    window = await open_page(width=width, height=740)
    page = window.page
    await window.call_button.wait_for()
    assert await overflow(page) <= 0
    await window.call()
    agent = await answer(window)
    await agent.hear(1, [], "A-very-long-word-" * 12, speech_to_final_ms=12_345)
    await agent.book(1, guest_name="Wolfeschlegelsteinhausenbergerdorff " * 2, guests=2)
    await agent.say(1, "A reply. " * 40, final_to_speech_ms=10_000, gap_ms=11_000)
    await expect(page.locator(".chart rect")).not_to_have_count(0)
    assert await overflow(page) <= 0
    for button in await page.get_by_role("button").all():
        box = await button.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


async def overflow(page: Page) -> int:
    """How many pixels of the page lie beyond the window's right edge."""
    beyond: int = await page.evaluate(
        "Math.max(...[document.scrollingElement, ...document.querySelectorAll('.stMain')]"
        ".map((one) => one.scrollWidth - one.clientWidth))"
    )
    return beyond
