"""Stack: what each part is doing, from its own endpoints."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Literal

import streamlit as st

from ui.observer import Observer, Seen
from ui.parts import Look, Model, Part, State, looks
from ui.settings import BadSettings, Settings, StackSettings

REFRESH_S = 2.0
FIRST_LOOK_S = 0.3  # a part on this machine answers sooner
OLD_S = 15.0
WIDEST = "Model server"  # lists many models, so it has a column of its own

Colour = Literal["green", "orange", "red", "gray"]
COLOURS: dict[State, Colour] = {
    State.READY: "green",
    State.NOT_READY: "orange",
    State.FAILING: "red",
    State.REFUSING: "red",
    State.SILENT: "red",
    State.UNREACHABLE: "red",
    State.ELSEWHERE: "gray",
    State.UNKNOWN: "gray",
}
ICONS: dict[Colour, str] = {
    "green": ":material/check_circle:",
    "orange": ":material/hourglass_top:",
    "red": ":material/error:",
    "gray": ":material/help:",
}


@st.cache_resource(show_spinner=False)
def observers() -> dict[str, Observer[Part]]:
    """One observer for each part, shared by all sessions: fifty pages ask as much as one.

    Each part has its own, so that one that hangs keeps no other from being seen.
    """
    settings: Settings | None
    try:
        settings = Settings.load()
    except BadSettings:
        settings = None
    return {
        name: Observer(_blocking(look), max_age_s=REFRESH_S)
        for name, look in looks(settings, StackSettings.load()).items()
    }


def _blocking(look: Look) -> Callable[[], Part]:
    return lambda: asyncio.run(look())  # type: ignore[arg-type]


def show() -> None:
    with st.container(key="view", gap="medium"):
        st.markdown("# Stack")
        st.caption("What each part says of itself, asked every two seconds while this is open.")
        try:
            StackSettings.load()
        except BadSettings as error:
            st.error(f"These settings cannot work.\n\n{error}")
            return
        _parts()


@st.fragment(run_every=REFRESH_S)
def _parts() -> None:
    seen = {name: observer.latest() for name, observer in observers().items()}
    if any(one is None for one in seen.values()):
        seen = {name: observer.latest(FIRST_LOOK_S) for name, observer in observers().items()}
    columns = st.columns(2, gap="medium")
    for name, part in seen.items():
        with columns[1 if name == WIDEST else 0]:
            _card(name, part)


def _card(name: str, seen: Seen[Part] | None) -> None:
    with st.container(border=True, key=f"part-{name.lower().replace(' ', '-')}", gap="small"):
        part = seen.value if seen else Part(name, None, State.UNKNOWN, "being asked …")
        colour = COLOURS[part.state]
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"### {name}", width="stretch")
            st.badge(part.state.value, color=colour, icon=ICONS[colour])
        where = [*([f"`{part.where}`"] if part.where else []), *filter(None, [part.detail])]
        if seen and seen.age_s > OLD_S:
            where.append(f"seen {seen.age_s:.0f} s ago")
        if where:
            st.caption(" · ".join(where))
        memory = _memory(part.memory_bytes, part.memory_limit_bytes)
        st.markdown(f":gray[Load] &ensp; {part.load or 'unknown'}  \n:gray[Memory] &ensp; {memory}")
        # A server of many models has only some of them in memory.
        others = tuple(one for one in part.models if one.state == "not loaded")
        if in_memory := tuple(one for one in part.models if one not in others):
            _models(in_memory)
        if others:
            with st.expander(f"{len(others)} that are not loaded"):
                _models(others)


def _models(models: tuple[Model, ...]) -> None:
    # Markdown's own table: a data frame's libraries take seconds to import.
    rows = [
        f"| `{_plain(model.id)}` | {_plain(model.state or 'unknown')} "
        f"| {'unknown' if model.in_use is None else model.in_use} | {_model_memory(model)} |"
        for model in models
    ]
    st.markdown(
        "\n".join(["| Model | State | In use | Memory |", "|:--|:--|--:|--:|", *rows]),
    )
    for model in models:
        if model.failure:
            st.caption(f"{_plain(model.id)}: {_plain(model.failure)}")


def _model_memory(model: Model) -> str:
    if model.memory_bytes is None and model.expected_bytes is not None:
        return f":gray[would take {_gigabytes(model.expected_bytes)}]"
    return _memory(model.memory_bytes, None)


def _plain(text: str) -> str:
    """A name from elsewhere, without the signs that Markdown would read."""
    return re.sub(r"[^\w ./:@+,-]", "", text)


def _memory(held: int | None, limit: int | None) -> str:
    of = "" if limit is None else f" of {_gigabytes(limit)}"
    return ("unknown" if held is None else _gigabytes(held)) + of


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
