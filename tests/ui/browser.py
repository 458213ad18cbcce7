"""Chromium as a caller: a window with a microphone, which sees only this machine."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jwt
from playwright.async_api import Browser, BrowserContext, Locator, Page, Playwright

LOCAL = ("127.0.0.1", "localhost")
FLAGS = (
    "--no-sandbox",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
FAKE_MICROPHONE = "--use-fake-device-for-media-stream"

# What the page gives to WebRTC as ICE servers, noted before anything connects.
NOTE_ICE_SERVERS = """
window.iceServers = [];
const Original = window.RTCPeerConnection;
window.RTCPeerConnection = new Proxy(Original, {
  construct(target, [configuration]) {
    for (const server of configuration?.iceServers ?? []) window.iceServers.push(server.urls);
    const connection = new target(configuration);
    const set = connection.setConfiguration.bind(connection);
    connection.setConfiguration = (changed) => {
      for (const server of changed?.iceServers ?? []) window.iceServers.push(server.urls);
      set(changed);
    };
    return connection;
  },
});
"""


async def launch(playwright: Playwright, *flags: str) -> Browser:
    """The system's Chromium, or Playwright's own where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    system = next(filter(None, map(shutil.which, names)), None)
    return await playwright.chromium.launch(executable_path=system, args=[*FLAGS, *flags])


def file_microphone(sound: Path) -> Sequence[str]:
    """The flags that make a WAV file the microphone; it starts when the page opens the device."""
    return (FAKE_MICROPHONE, f"--use-file-for-fake-audio-capture={sound}%noloop")


class Window:
    """A browser window on the page, what it asked the network for, and the rooms it joined."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.context = context
        self.page = page
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        self._rooms: list[str] = []
        self._joined: asyncio.Queue[str] = asyncio.Queue()
        page.on("request", lambda request: self._note(request.url))
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme not in ("data", "blob") and address.hostname not in LOCAL:
            self.elsewhere.append(url)
        for token in parse_qs(address.query).get("access_token", []):
            room = jwt.decode(token, options={"verify_signature": False})["video"]["room"]
            if room not in self._rooms:
                self._rooms.append(room)
                self._joined.put_nowait(room)

    @property
    def app(self) -> Locator:
        """The call screen; its attribute `data-phase` tells where a call stands."""
        return self.page.locator(".app")

    @property
    def call_button(self) -> Locator:
        return self.page.get_by_role("button", name="Call the hotel")

    async def call(self) -> None:
        await self.call_button.click()

    def note(self, code: str) -> Locator:
        """The note that tells of a problem."""
        return self.page.locator(f".note[data-code={code}]")

    def caption(self, who: str, text: str | re.Pattern[str]) -> Locator:
        """The line of "guest" or "hotel" with this text in it."""
        return self.page.locator(f".line[data-who={who}]").filter(has_text=text)

    async def next_room(self, timeout_s: float = 20) -> str:
        """The room of the window's next call, as its token names it."""
        return await asyncio.wait_for(self._joined.get(), timeout_s)


async def open_window(
    browser: Browser,
    url: str,
    *,
    width: int = 1280,
    height: int = 800,
    microphone: bool = True,
    dark: bool = False,
    scale: float = 1,
) -> Window:
    """A new window on the page; `microphone=False` is a caller who denies it."""
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        device_scale_factor=scale,
        permissions=["microphone"] if microphone else [],
    )
    await context.add_init_script(NOTE_ICE_SERVERS)
    window = Window(context, await context.new_page())
    await window.page.goto(url)
    return window
