"""The page's views and their addresses."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import Page

from ui import call

REQUESTS = "requests"
LATENCY = "latency"
REPLAY = "replay"
STACK = "stack"

# The parameters of a link to a place in a recording.
RECORDING = "recording"
TURN = "turn"
SEQ = "seq"
LIVE = "live"  # a room's name: the call that goes on in it


def views(all_views: bool) -> list[Page]:
    """The views that are offered here; the call is always the first."""
    calling = st.Page(call.show, title="Call", default=True)
    if not all_views:
        return [calling]
    return [calling, requests_view(), latency_view(), replay_view(), stack_view()]


# Each view is imported when it is opened: a call waits for none of their libraries.


def requests_view() -> Page:
    return st.Page(_requests, title="Requests", url_path=REQUESTS)


def latency_view() -> Page:
    return st.Page(_latency, title="Latency", url_path=LATENCY)


def replay_view() -> Page:
    return st.Page(_replay, title="Replay", url_path=REPLAY)


def stack_view() -> Page:
    return st.Page(_stack, title="Stack", url_path=STACK)


def _requests() -> None:
    from ui.views import requests

    requests.show()


def _latency() -> None:
    from ui.views import latency

    latency.show()


def _replay() -> None:
    from ui.views import replay

    replay.show()


def _stack() -> None:
    from ui.views import stack

    stack.show()
