"""Watching a call that goes on, from its beginning, as whoever opens the page later sees it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.navigation import LIVE, replay_view
from ui.settings import BadSettings, PageSettings, Settings
from ui.watching import Watched, Watching

KEY = "live"
OFFER_S = 3.0
POLL_S = 0.7
FIRST_LOOK_S = 0.5
# Two runs in short order may reach the browser as one: each sends a little of what went before.
SENT_AGAIN = 40
_SENT = f"{KEY}.sent"  # how many events this page has been sent


@st.cache_resource(show_spinner=False)
def _watching() -> Watching | None:
    """One for all sessions; None where the settings could not take a call."""
    try:
        return Watching(Settings.load())
    except BadSettings:
        return None


@st.fragment(run_every=OFFER_S)
def offer() -> None:
    """Links to the calls that go on; nothing where there are none, or no room server."""
    watching = _watching()
    for call in watching.calls(FIRST_LOOK_S) if watching else ():
        st.page_link(
            replay_view(),
            label=f"A call goes on since {call.began:%H:%M} UTC: **watch it**",
            icon=":material/sensors:",
            query_params={LIVE: call.room},
        )


def show(screen: Any, room: str, on_close: Callable[[], None]) -> None:
    """One call as it goes on.

    Args:
        screen: the replay's component.
        room: its name, from whoever made the link.
        on_close: what leads back to the recordings.
    """
    watching = _watching()
    if watching is None:
        st.error("The page's settings cannot take a call, so there is none to watch.")
        return
    st.session_state[_SENT] = 0
    is_over = watching.watch(room).is_over
    fragment = st.fragment(_draw, run_every=None if is_over else POLL_S)
    fragment(screen, watching, room, on_close, is_over)


def _draw(
    screen: Any, watching: Watching, room: str, on_close: Callable[[], None], was_over: bool
) -> None:
    seen = watching.watch(room)
    if LIVE not in st.query_params or seen.is_over != was_over:
        st.rerun()  # it was closed, or nothing more will come: without polling, then
    begin = max(0, st.session_state[_SENT] - SENT_AGAIN)
    st.session_state[_SENT] = len(seen.events)
    screen(
        key=f"{KEY}.screen",
        data=_data(room, seen, begin),
        on_whole_change=_send_all,
        on_close_change=on_close,
    )


def _send_all() -> None:
    """The browser misses something: from the beginning again."""
    st.session_state[_SENT] = 0


def _data(room: str, seen: Watched, begin: int) -> dict[str, Any]:
    return {
        "hotel_name": PageSettings.load().hotel_name,
        "live": room,
        "events": [json.loads(event.to_json()) for event in seen.events[begin:]],
        "is_over": seen.is_over,
        "problem": seen.problem,
    }
