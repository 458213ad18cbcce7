"""A whole call through the page: a spoken file as Chromium's microphone, and the real stack."""

from __future__ import annotations

import os
import re
import wave
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import Playwright, expect

from selfhost.load.voice import SAMPLE_RATE, ServedVoice
from tests.stack import Stack
from tests.ui.browser import file_microphone, launch, open_window

pytestmark = pytest.mark.asyncio(loop_scope="session")

PICTURE = Path(__file__).resolve().parents[2] / "ui" / "screenshots" / "call.png"
FILE_RATE_HZ = 2 * SAMPLE_RATE  # what a browser's microphone gives
GREETING_S = 9.0  # the file starts with the call, and the agent has the first word
REPLY_S = 12.0  # the file cannot wait for the agent, so it leaves time for a long reply
TURN_TIMEOUT_MS = 60_000

# A month that is surely to come, so that no day of it can be meant for another year.
MONTH = datetime.now(UTC) + timedelta(days=75)
TURNS = (
    "I would like a double room for two guests.",
    f"From {MONTH:%B} sixteenth to {MONTH:%B} twentieth.",
    "My name is Anna Miller.",
    f"Sorry, please change the check-in date to {MONTH:%B} eighteenth.",
)


@pytest.fixture(scope="module")
def spoken(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The caller's turns with pauses for the agent's, as a 48 kHz WAV."""
    voice = ServedVoice(
        stack.model_server_url, stack.environment.get("MODEL_SERVER_API_KEY", ""), "hibari"
    )
    parts = [silence(GREETING_S)]
    for text in TURNS:
        parts += [voice.speak(text, 1.0), silence(REPLY_S)]
    samples = np.concatenate(parts)
    at = np.arange(2 * len(samples)) / 2
    upsampled = np.interp(at, np.arange(len(samples)), samples)
    file = tmp_path_factory.mktemp("caller") / "caller.wav"
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(FILE_RATE_HZ)
        out.writeframes((upsampled * 32767).astype("<i2").tobytes())
    return file


def silence(duration_s: float) -> np.ndarray:
    return np.zeros(int(duration_s * SAMPLE_RATE), dtype=np.float32)


@pytest.mark.timeout(400)
async def test_a_spoken_call_fills_the_booking_and_shows_where_the_time_went(
    playwright: Playwright, stack: Stack, spoken: Path, tmp_path: Path
) -> None:
    browser = await launch(playwright, *file_microphone(spoken))
    window = await open_window(browser, stack.page_url, scale=2)
    page = window.page
    try:
        expect.set_options(timeout=TURN_TIMEOUT_MS)
        await window.call()
        await expect(window.caption("hotel", re.compile("."))).not_to_have_count(0)

        # The first turns: partial words, then the final ones, then what was understood.
        await expect(page.locator(".line.guest[data-live=true]")).to_have_count(1)
        await expect(window.caption("guest", "double")).to_be_visible()
        field = {
            name: page.locator(f"[data-field={name}]")
            for name in ("check_in", "check_out", "guests", "room_type", "guest_name")
        }
        await expect(field["check_in"].locator(".value")).to_contain_text(f"16 {MONTH:%b %Y}")
        await expect(field["check_out"].locator(".value")).to_contain_text(f"20 {MONTH:%b %Y}")
        await expect(field["guests"].locator(".value")).to_have_text("2")
        await expect(field["room_type"].locator(".value")).to_contain_text("Double")
        await expect(page.locator(".status")).to_have_attribute("data-state", "speaking")

        # Then a name.
        await expect(field["guest_name"].locator(".value")).to_contain_text("Anna")

        # At last a correction, which leaves the rest as it was.
        await expect(field["check_in"].locator(".value")).to_contain_text(f"18 {MONTH:%b %Y}")
        await expect(field["check_in"].locator("del")).to_contain_text(f"16 {MONTH:%b %Y}")
        await expect(field["guests"].locator(".value")).to_have_text("2")

        # Where the time went, of each turn and on the chart.
        for delay in ("speech_to_final_ms", "final_to_speech_ms", "gap_ms"):
            await expect(page.locator(f".line.guest [data-delay={delay}]").nth(1)).to_be_visible()
        await expect(page.locator(".waterfall")).to_be_visible()
        await expect(page.locator(".chart rect[data-turn='2']").first).to_be_visible()
        latest = page.locator(".line.hotel").last
        await expect(latest).to_contain_text(re.compile(r"(\S+\s+){6}"))
        await expect(latest).to_be_in_viewport()
        await page.screenshot(path=picture(tmp_path))

        # On a busy machine the language model may miss its deadline, which is no fault of the page.
        await expect(page.locator(".note:not([data-code=llm_error])")).to_have_count(0)
        assert window.errors == []
        assert window.elsewhere == []
        await page.get_by_role("button", name="Hang up").click()
        await expect(window.app).to_have_attribute("data-phase", "ended")
    finally:
        expect.set_options(timeout=5_000)
        await page.screenshot(path=tmp_path / "end.png")  # what a failure looked like
        await browser.close()


def picture(folder: Path) -> Path:
    """Where the picture of the call goes: into the README only where that is asked for."""
    if os.environ.get("UPDATE_SCREENSHOT") != "1":
        return folder / PICTURE.name
    PICTURE.parent.mkdir(exist_ok=True)
    return PICTURE
