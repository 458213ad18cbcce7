"""The views beside the call, in a real browser: nothing but the page and a folder of recordings."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from selfhost.ports import free_port
from tests.ui.conftest import Answer, Open
from tests.ui.endpoints import answering, hanging
from tests.ui.recorded_calls import BEGAN, CLOUD, booking_call
from tests.ui.services import page_server

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOADED_MS = 30_000  # a view's libraries are imported when it is opened for the first time


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good recordings of two provider sets, and one that is damaged."""
    folder = tmp_path_factory.mktemp("recordings")
    booking_call(folder, "RM_first")
    booking_call(folder, "RM_second", providers=CLOUD, began=BEGAN + timedelta(days=1))
    damaged = booking_call(folder, "RM_damaged", began=BEGAN + timedelta(days=2))
    lines = [json.loads(line) for line in damaged.read_text().splitlines()]
    del lines[4]
    for line in lines:
        if line["turn"] == 2 and line["type"] == "agent_speaking":
            line["gap_ms"] = 200_000
        if line["turn"] == 3 and line["type"] == "final_transcript":
            line["v"] = 9
    damaged.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def views_url(services_folder: Path, folder: Path) -> Iterator[str]:
    """The page with recordings alone: its settings could not take a call, and no part answers."""
    environment = {"RECORDINGS": str(folder), "LIVEKIT_URL": "wss://rooms.example"}
    for name in ("LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "PAGE_VIEWS"):
        environment[name] = ""
    with page_server(services_folder, environment) as url:
        yield url


def named(folder: Path, call_id: str = "RM_first") -> str:
    return next(folder.glob(f"*{call_id}.jsonl")).name


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Moment of the call")


async def test_a_recording_replays_without_a_room_a_model_or_a_key(
    open_page: Open, views_url: str
) -> None:
    window = await open_page(f"{views_url}replay")
    page = window.page
    rows = page.locator("table tbody tr")
    await expect(rows).to_have_count(3, timeout=LOADED_MS)
    oldest = rows.last
    await expect(oldest).to_contain_text("0:21")
    await expect(oldest).to_contain_text("2.30 s")
    await oldest.get_by_role("button").press("Enter")
    await expect(slider(page)).to_be_visible()
    await expect(page.locator(".line")).to_have_count(0)

    # By keyboard, wherever the focus is: on by turns, then on by seconds.
    await slider(page).press("n")
    await slider(page).press("ArrowRight")
    await slider(page).press("ArrowRight")
    await expect(page.locator(".line.guest[data-live=true]")).to_have_text(re.compile("From Oct"))
    await expect(page.locator("[data-field=check_in]")).to_contain_text("not yet given")
    await slider(page).press("Shift+ArrowRight")
    await expect(page.locator("[data-field=check_in]")).to_contain_text("Fri, 16 Oct 2026")
    heard = window.caption("guest", "From October sixteenth to October twentieth.")
    await expect(heard.locator("[data-delay=gap_ms]")).to_contain_text("1.00 s")
    await expect(page.locator(".chart rect[data-turn='1']")).to_have_count(2)
    final = page.locator(".waterfall [data-part=final_transcript]")
    await expect(final).to_contain_text("150 ms")  # the second turn's, which was told in parts

    # To a turn of choice, and played to the end from there.
    await page.get_by_label("Go to a turn").select_option("Turn 3 · gap 1.00 s")
    await expect(window.caption("guest", "A double room.")).to_have_count(0)
    await page.get_by_role("button", name="4×").click()
    await page.get_by_role("button", name="Play").click()
    await expect(window.caption("hotel", "A double room. What is the name?")).to_be_visible()
    await expect(page.locator(".status")).to_have_attribute("data-state", "ended")
    await expect(page.get_by_role("button", name="Play")).to_be_visible()
    await expect(final).to_contain_text("400 ms")  # and the third's, which was not
    assert window.elsewhere == []


async def test_a_link_leads_to_its_place(open_page: Open, views_url: str, folder: Path) -> None:
    name = named(folder)
    events = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    answered = next(e for e in events if e["turn"] == 2 and e["type"] == "agent_speaking")
    window = await open_page(f"{views_url}replay?recording={name}&seq={answered['seq']}")
    await expect(window.app).to_have_attribute("data-seq", str(answered["seq"]), timeout=LOADED_MS)
    await expect(window.caption("guest", "For two guests, please.")).to_be_visible()
    # And a turn, by its number in the events.
    window = await open_page(f"{views_url}replay?recording={name}&turn=3")
    await expect(window.page.get_by_label("Go to a turn")).to_have_value("3", timeout=LOADED_MS)
    # What is no number leads to the beginning.
    window = await open_page(f"{views_url}replay?recording={name}&seq=-1&turn=%F0%9D%9F%9A")
    await expect(slider(window.page)).to_have_value("0", timeout=LOADED_MS)


async def test_what_a_reader_found_wrong_is_said_and_not_drawn(
    open_page: Open, views_url: str, folder: Path
) -> None:
    name = named(folder, "RM_damaged")
    window = await open_page(f"{views_url}replay?recording={name}")
    note = window.note("recording_damaged")
    await expect(note).to_contain_text("gap_ms is 200000, more than 120000", timeout=LOADED_MS)
    await expect(note).to_contain_text("timeline version 9; this reader knows 1")
    await expect(note).to_contain_text(re.compile(r"events \d+ to \d+ are missing"))
    await slider(window.page).press("End")
    await expect(window.caption("guest", "For two guests, please.")).to_be_visible()
    await expect(window.page.locator(".line [data-delay=gap_ms]")).to_have_count(2)
    await expect(window.app).not_to_contain_text("200.00 s")


async def test_an_address_names_nothing_but_the_folders_recordings(
    open_page: Open, views_url: str
) -> None:
    page = (await open_page(f"{views_url}replay?recording=..%2F..%2Fetc%2Fpasswd")).page
    await expect(page.get_by_text("There is no recording of this name")).to_be_visible(
        timeout=LOADED_MS
    )
    await page.get_by_role("button", name="All recordings").click()
    await expect(page.locator("table tbody tr")).to_have_count(3)


async def test_a_file_from_disk_is_opened_and_can_be_put_away(
    open_page: Open, views_url: str, tmp_path: Path
) -> None:
    window = await open_page(f"{views_url}replay")
    page = window.page
    await page.get_by_text("Open a file from your disk").click(timeout=LOADED_MS)
    await page.locator("input[type=file]").set_input_files(booking_call(tmp_path))
    await slider(page).press("End")
    await expect(window.caption("guest", "A double room.")).to_be_visible()
    await page.get_by_role("button", name="All recordings").click()
    await expect(page.locator("table tbody tr")).to_have_count(3)


async def test_latency_compares_two_sets_and_leads_to_the_slow_turns(
    open_page: Open, views_url: str, folder: Path, tmp_path: Path
) -> None:
    page = (await open_page(f"{views_url}latency")).page
    # Of nine turns, one has an impossible gap and one no final transcript of this version.
    gap = page.get_by_role("row").filter(has_text=re.compile("^Gap"))
    await expect(gap).to_contain_text("1.00 s", timeout=LOADED_MS)
    await expect(page.get_by_text("2026-10-01 to 2026-10-03 (UTC)")).to_be_visible()

    async def choose(label: str, option: str) -> None:
        await page.get_by_role("combobox", name=label).click()
        await page.get_by_role("option").filter(has_text=option).click()

    await choose("Turns", "Day: 2026-10-01")
    await choose("Compare with", "openrouter")
    # Of the delays, and of the parts that one turn of each set was told in.
    await expect(page.get_by_role("columnheader", name="B − A")).to_have_count(2)
    sentence = page.get_by_role("row").filter(has_text=re.compile("^First sentence"))
    await expect(sentence).to_contain_text("1.50")
    await expect(gap.get_by_role("cell").last).to_have_text("+0.00")

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download all turns as CSV").click()
    await (await download.value).save_as(tmp_path / "latency.csv")
    with (tmp_path / "latency.csv").open() as file:
        gaps = [row["gap_ms"] for row in csv.DictReader(file) if row["gap_ms"]]
    assert gaps.count("2300.0") == 2

    await page.get_by_role("link").filter(has_text="2.30 s").click()
    await expect(page).to_have_url(re.compile(rf"/replay\?recording={named(folder)}&seq=\d+"))
    await expect(page.get_by_label("Go to a turn")).to_have_value("2")


async def test_an_empty_folder_says_what_to_do(open_page: Open) -> None:
    page = (await open_page()).page
    for view in ("Latency", "Replay"):
        await page.get_by_role("link", name=view).click(timeout=LOADED_MS)
        await expect(page.get_by_role("link", name=view)).to_have_attribute("aria-current", "page")
        await expect(page.get_by_text("There are no recordings in")).to_be_visible(
            timeout=LOADED_MS
        )


async def test_the_views_are_reached_by_keyboard_and_on_a_phone(
    open_page: Open, views_url: str
) -> None:
    page = (await open_page(f"{views_url}latency")).page
    views = page.get_by_role("navigation")
    await views.get_by_role("link", name="Replay").press("Enter", timeout=LOADED_MS)
    await expect(page.get_by_role("heading", name="Recorded calls")).to_be_visible()
    current = views.locator("[aria-current=page]")
    await expect(current).to_have_text("Replay")

    page = (await open_page(f"{views_url}latency", width=390, height=844)).page
    await expect(page.get_by_role("heading", name="Latency")).to_be_visible(timeout=LOADED_MS)
    await page.get_by_test_id("stExpandSidebarButton").click()
    await page.get_by_role("link", name="Replay").click()
    await expect(page.get_by_role("heading", name="Recorded calls")).to_be_visible()
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


async def test_a_call_goes_on_while_another_view_is_open(open_page: Open, answer: Answer) -> None:
    window = await open_page()
    page = window.page
    await window.call()
    agent = await answer(window)
    await agent.say(0, "Good afternoon. When would you like to stay?")
    await page.get_by_role("link", name="Replay").click()
    bar = page.get_by_role("region", name="Your call")
    await expect(bar).to_contain_text("Your call goes on")
    await expect(page.get_by_text("There are no recordings in")).to_be_visible(timeout=LOADED_MS)
    await agent.hear(1, [], "From October sixteenth.", speech_to_final_ms=900)
    await bar.get_by_role("button", name="Mute the microphone").click()
    await expect(bar.get_by_role("button", name="Unmute the microphone")).to_be_visible()

    await page.go_back()
    await expect(window.caption("hotel", "Good afternoon.")).to_be_visible()
    await expect(window.caption("guest", "From October sixteenth.")).to_be_visible()
    await expect(window.app).to_have_attribute("data-phase", "talking")
    assert len(agent.room.remote_participants) == 1

    await page.get_by_role("link", name="Stack").click()
    await bar.get_by_role("button", name="Hang up").click()
    await expect(bar).to_have_count(0)
    await agent.until(lambda: not agent.room.remote_participants)


async def test_a_back_end_that_hangs_leaves_the_page_usable(
    open_page: Open, services_folder: Path
) -> None:
    with hanging() as port:
        environment: dict[str, Any] = {
            "LIVEKIT_URL": f"ws://127.0.0.1:{port}",
            "MODEL_SERVER_PORT": str(port),
            "GENERATION_PORT": str(port),
            "WORKER_PORT": str(port),
        }
        with page_server(services_folder, environment) as url:
            window = await open_page(f"{url}stack")
            silent = window.page.get_by_text("does not answer")
            await expect(silent).to_have_count(4, timeout=LOADED_MS)
            # The browser is dropped with a request under way, and opened again.
            await window.page.goto(url)
            await window.call()
            await window.context.close()
            window = await open_page(f"{url}stack")
            await expect(window.page.get_by_text("does not answer")).to_have_count(4)
            await window.page.get_by_role("link", name="Call").click()
            await expect(window.call_button).to_be_visible()


async def test_the_stack_view_goes_on_after_reloads_and_when_parts_come_and_go(
    open_page: Open, services_folder: Path
) -> None:
    answers = {
        "/": (200, "OK"),
        "/worker": (200, json.dumps({"worker_type": "JT_ROOM", "active_jobs": 1})),
    }
    nowhere = str(free_port())
    with answering(answers) as worker:
        environment = {
            "LIVEKIT_URL": "",
            "LIVEKIT_PORT": nowhere,
            "MODEL_SERVER_PORT": nowhere,
            "GENERATION_PORT": nowhere,
            "WORKER_PORT": str(worker),
        }
        with page_server(services_folder, environment) as url:
            page = (await open_page(f"{url}stack")).page
            part = page.locator(".part-worker")
            for _ in range(3):
                await expect(part).to_contain_text("1 call", timeout=LOADED_MS)
                await page.reload()
            await expect(part).to_contain_text("1 call", timeout=LOADED_MS)
            model_server = page.locator(".part-model-server")
            await expect(model_server).to_contain_text("cannot be reached")
            await expect(model_server).to_contain_text("unknown")
            # What changes is shown without a reload.
            answers["/worker"] = (200, json.dumps({"worker_type": "JT_ROOM", "active_jobs": 2}))
            await expect(part).to_contain_text("2 calls", timeout=LOADED_MS)
            answers["/"] = (500, "")
            await expect(part).to_contain_text("failing", timeout=LOADED_MS)
            await expect(page.get_by_text("does not exist")).to_have_count(0)
            await expect(page.get_by_test_id("stException")).to_have_count(0)


async def test_whoever_comes_by_another_name_sees_the_call_alone(
    open_page: Open, page_url: str
) -> None:
    elsewhere = page_url.replace("127.0.0.1", "hotel.localhost")
    window = await open_page(elsewhere)
    await expect(window.call_button).to_be_visible(timeout=LOADED_MS)
    await expect(window.page.get_by_role("link", name="Replay")).to_have_count(0)
    await window.page.goto(f"{elsewhere}replay")
    await expect(window.call_button).to_be_visible(timeout=LOADED_MS)
