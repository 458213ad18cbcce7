"""The call's part of the page: the component that holds the call, in whichever view one is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from ui.reception import admit
from ui.settings import BadSettings, Settings

BUILT = Path(__file__).resolve().parent / "component" / "dist"
KEY = "call"
_OPENED = "call_view_opened"


@st.cache_resource
def call_screen() -> Any:
    """The component, registered once for all sessions."""
    return st.components.v2.component(
        "hotel_voice_call",
        css=(BUILT / "styles.css").read_text(encoding="utf-8"),
        js=(BUILT / "call.js").read_text(encoding="utf-8"),
    )


def answer_call() -> None:
    """Answer the caller who has just pressed the button.

    The token is signed now and not with the page, which may have been open for hours.
    """
    asked = st.session_state[KEY].call
    if asked:
        st.session_state.answer = {
            "request": asked["request"],
            "pass": admit(Settings.load()).to_dict(),
        }


def keep(is_shown: bool) -> None:
    """Mount the component before the view, so that a call lives on while another view is open.

    What stands in the page's own script stays where it is when the view changes. A page that has
    not been to the call view has no call to keep, and is spared the component.
    """
    if is_shown:
        st.session_state[_OPENED] = True
    if not st.session_state.get(_OPENED):
        return
    try:
        settings = Settings.load()
    except BadSettings:
        return  # `show` says so
    call_screen()(
        key=KEY,
        # An answer is sent once: a token is of no use to a later run of this script.
        data={
            "hotel_name": settings.hotel_name,
            "is_shown": is_shown,
            "answer": st.session_state.pop("answer", None),
        },
        on_call_change=answer_call,
    )


def show() -> None:
    """The call view: the component is all of it, unless there can be no call."""
    try:
        Settings.load()
    except BadSettings as error:
        show_bad_settings(error)


def show_bad_settings(error: BadSettings) -> None:
    """What is wrong with the settings, for whoever runs this page."""
    st.error(f"The page's settings cannot work.\n\n{error}")
    st.markdown("They come from the environment and `.env`; `.env.example` lists them all.")
