"""The recordings that this page shows, one library for all sessions."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.recordings import Library
from ui.settings import PageSettings


@st.cache_resource(show_spinner=False)
def _library(folder: Path) -> Library:
    return Library(folder)


def library() -> Library:
    return _library(PageSettings.load().recordings)


def say_empty() -> None:
    """What to do where there is nothing to show yet."""
    st.info(
        f"There are no recordings in `{library().folder}` yet.\n\n"
        "Each call is recorded while it goes on: make one in the *Call* view, or let the simulated "
        "caller speak one with `python -m selfhost call tests/calls/simple-booking.yaml`. "
        "`RECORDINGS` names another folder; with `RECORD_CALLS=false` nothing is kept.",
        icon=":material/graphic_eq:",
    )
