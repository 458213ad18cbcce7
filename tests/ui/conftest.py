"""Services and a browser for the page's tests, started once for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Playwright, async_playwright, expect

from selfhost.ports import free_port
from tests.ui.browser import FAKE_MICROPHONE, Window, launch, open_window
from tests.ui.scripted_agent import ScriptedAgent
from tests.ui.services import RoomServer, RoomServerProcess, page_server

Open = Callable[..., Awaitable[Window]]
Answer = Callable[..., Awaitable[ScriptedAgent]]


@pytest.fixture(scope="session")
def services_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("services")


@pytest.fixture(scope="session")
def rooms(services_folder: Path) -> Iterator[RoomServer]:
    """A room server."""
    process = RoomServerProcess(services_folder)
    process.start()
    yield process.server
    process.kill()


@pytest.fixture(scope="session")
def page_url(services_folder: Path, rooms: RoomServer) -> Iterator[str]:
    """The page, with that room server, no worker and no recordings."""
    environment = {
        **rooms.environment,
        "WORKER_PORT": str(free_port()),
        "RECORDINGS": str(services_folder / "recordings"),
    }
    with page_server(services_folder, environment) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as started:
        yield started


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(playwright: Playwright) -> AsyncIterator[Browser]:
    """Chromium with a microphone that beeps."""
    browser = await launch(playwright, FAKE_MICROPHONE)
    yield browser
    await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, page_url: str) -> AsyncIterator[Open]:
    """Opens the page in a window of its own; all of them must run without a script error."""
    windows: list[Window] = []

    async def open_page(url: str = page_url, **options: Any) -> Window:
        windows.append(await open_window(browser, url, **options))
        return windows[-1]

    yield open_page
    for window in windows:
        await window.context.close()
        assert window.errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def answer(rooms: RoomServer) -> AsyncIterator[Answer]:
    """Answers a window's call, or joins the room of one, as an agent unless told otherwise."""
    async with AsyncExitStack() as agents:

        async def answer(call: Window | str, **options: Any) -> ScriptedAgent:
            room = call if isinstance(call, str) else await call.next_room()
            agent = await ScriptedAgent.join(rooms, room, **options)
            agents.push_async_callback(agent.leave)
            if isinstance(call, Window):  # an agent may be there before its caller
                await expect(call.app).to_have_attribute("data-phase", "talking")
            return agent

        yield answer
