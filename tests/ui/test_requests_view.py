"""The front desk's view, in a real browser, over a real database."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from desk.migrate import open_database
from desk.requests import Kept, Requests, Status
from tests.ui.conftest import Open
from tests.ui.services import page_server
from ui.front_desk import matching, title
from ui.views.requests import card, table

LOADED_MS = 30_000
FORGED = '<img src=x onerror="alert(1)">'
CORRECTED = {
    "check_in": "2027-10-18",
    "check_out": "2027-10-20",
    "guests": 2,
    "room_type": "double",
    "guest_name": "Priya Raman",
    "reference": None,
    "nights": None,
    "month": None,
    "confirmed": True,
    "history": [
        {"field": "check_in", "new": "2027-10-16", "words": "October sixteenth", "turn": 1},
        {"field": "check_in", "new": "2027-10-18", "words": "no wait, the eighteenth", "turn": 2},
        {"field": "guest_name", "new": "Priya Raman", "words": "R A M A N", "turn": 3},
    ],
}


def kept(request: dict[str, Any], number: str | None = "1001") -> Kept:
    at = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    return Kept("RM_1", Status.FINISHED if number else Status.OPEN, number, request, at, at)


def test_what_a_caller_said_is_text_and_no_markup() -> None:
    history = [{"field": "guest_name", "new": FORGED, "words": FORGED, "turn": 1}] * 2
    forged = kept({"guest_name": FORGED, "history": history})
    assert "<img" not in card(forged) + table([forged])


def test_a_request_of_which_nothing_is_known_yet_says_so() -> None:
    empty = kept({"guest_name": None, "check_in": None, "history": []}, number=None)
    assert title(empty) == "No number · not finished"
    assert "unknown" in card(empty)


def test_requests_are_found_by_all_of_the_words() -> None:
    request = kept(CORRECTED)
    assert matching([request], "raman 2027-10-18") == [request]
    assert matching([request], "1001") == [request]
    assert matching([request], "raman 2027-10-16") == []


@pytest.fixture(scope="module")
def desk_url(
    services_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Requests]]:
    database_url = f"sqlite:///{tmp_path_factory.mktemp('desk') / 'hotel.sqlite3'}"
    database = open_database(database_url)
    requests = Requests(database, now=lambda: datetime.now(UTC))
    with page_server(services_folder, {"DATABASE_URL": database_url, "PAGE_VIEWS": ""}) as url:
        yield url, requests
    database.close()


@pytest.mark.asyncio(loop_scope="session")
async def test_the_desk_sees_each_values_words_and_takes_all_away_as_csv(
    open_page: Open, desk_url: tuple[str, Requests]
) -> None:
    url, requests = desk_url
    window = await open_page(f"{url}requests")
    page = window.page
    await expect(page.get_by_text("No request was kept yet.")).to_be_visible(timeout=LOADED_MS)
    requests.save("RM_open", {"guest_name": "Ana", "history": []})
    number = requests.finish("RM_1", CORRECTED)
    # Without a reload: the view looks again by itself.
    rows = page.locator(".requests tr")
    await expect(rows).to_have_count(3, timeout=LOADED_MS)
    await page.get_by_role("combobox", name="Open a request").click()
    await page.get_by_role("option", name=f"No. {number}").click()
    shown = page.locator(".request")
    await expect(shown).to_contain_text("Mon 18 Oct 2027")
    await expect(shown).to_contain_text("“no wait, the eighteenth” (turn 2)")
    await expect(shown.locator("s")).to_have_text("Sat 16 Oct 2027")
    requests.save("RM_new", {"guest_name": "Zoë", "history": []})
    await expect(rows).to_have_count(4, timeout=LOADED_MS)
    await expect(shown).to_contain_text("Priya Raman")
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Download as CSV").click()
    file = Path(await (await started.value).path())
    text = await asyncio.to_thread(file.read_text, encoding="utf-8-sig")
    exported = list(csv.DictReader(text.splitlines()))
    assert {row["guest_name"] for row in exported} == {"Priya Raman", "Ana", "Zoë"}
