"""Replay: a recorded call, seen again as it was, without a room, a model or a key."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from agent.timeline.recording import Recording, RecordingError, read
from ui.call import BUILT
from ui.navigation import LIVE, RECORDING, SEQ, TURN
from ui.recordings import Listed
from ui.settings import PageSettings
from ui.views.library import library, say_empty

KEY = "replay"
MOST_LISTED = 200
MAX_FILE_MB = 20
_CLOSED = "replay.closed"  # how many were closed: a new number lets go of an uploaded file


@st.cache_resource
def replay_screen() -> Any:
    """The component, registered once for all sessions."""
    return st.components.v2.component(
        "hotel_voice_replay",
        css=(BUILT / "styles.css").read_text(encoding="utf-8"),
        js=(BUILT / "replay.js").read_text(encoding="utf-8"),
    )


def show() -> None:
    with st.container(key="view", gap="medium"):
        name = st.query_params.get(RECORDING)
        room = st.query_params.get(LIVE)
        if name is not None:
            _show_named(name)
        elif room is not None:
            _watch(room)
        else:
            _choose()


def _show_named(name: str) -> None:
    try:
        recording = library().open(name)
    except RecordingError as error:
        st.error(str(error))
        st.button("All recordings", on_click=_close)
        return
    _play(name, recording, is_linkable=True)


def _choose() -> None:
    shown = st.empty()
    with st.expander("Open a file from your disk", expanded=False):
        uploaded = st.file_uploader(
            "A recording (.jsonl); it is not kept",
            type=["jsonl"],
            max_upload_size=MAX_FILE_MB,
            key=f"{KEY}.file.{st.session_state.get(_CLOSED, 0)}",
        )
    with shown.container():
        if uploaded is not None:
            try:
                recording = _read_uploaded(uploaded.getvalue())
            except RecordingError as error:
                st.error(str(error))
            else:
                _play(uploaded.name, recording, is_linkable=False)
                return
        listed = library().listed()
        replay_screen()(
            key=f"{KEY}.list",
            data={
                "list": [_line(one) for one in listed[:MOST_LISTED]],
                "left_out": max(0, len(listed) - MOST_LISTED),
            },
            on_open_change=_open,
            on_watch_change=_open_live,
        )
        if not listed:
            say_empty()


def _watch(room: str) -> None:
    """A call that goes on: the component follows it by itself (`ui/live.py`)."""
    replay_screen()(
        key=f"{KEY}.live",
        data={"hotel_name": PageSettings.load().hotel_name, "live": room},
        on_close_change=_close,
    )


def _read_uploaded(content: bytes) -> Recording:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.jsonl"
        path.write_bytes(content)
        try:
            return read(path)
        except RecordingError as error:
            raise RecordingError(str(error).replace(str(path), "This file")) from None


def _play(name: str, recording: Recording, *, is_linkable: bool) -> None:
    replay_screen()(
        key=f"{KEY}.player",
        data={
            "hotel_name": PageSettings.load().hotel_name,
            "recording": name,
            "is_linkable": is_linkable,
            "began": recording.events[0].wall.isoformat(),
            "events": [json.loads(event.to_json()) for event in recording.events],
            "problems": list(recording.problems),
            "place": {"turn": _count(TURN), "seq": _count(SEQ)} if is_linkable else None,
        },
        on_close_change=_close,
    )


def _line(listed: Listed) -> dict[str, Any]:
    call = listed.call
    if call is None:
        return {"name": listed.name, "problem": listed.problem}
    return {
        "name": listed.name,
        "began": call.began.isoformat(),
        "length_ms": call.length_ms,
        "turns": call.heard_turns,
        "slowest_gap_ms": call.slowest_gap_ms,
        "problems": len(call.problems),
    }


def _count(parameter: str) -> int | None:
    """A number of the address; None where there is none, or what stands there is none."""
    text = st.query_params.get(parameter, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _open() -> None:
    name = st.session_state[f"{KEY}.list"].open
    if name:
        st.query_params.from_dict({RECORDING: str(name)})


def _open_live() -> None:
    room = st.session_state[f"{KEY}.list"].watch
    if room:
        st.query_params.from_dict({LIVE: str(room)})


def _close() -> None:
    st.query_params.clear()
    st.session_state[_CLOSED] = st.session_state.get(_CLOSED, 0) + 1
