"""Requests: what callers asked for, each value with the words that it was heard in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

import streamlit as st

from desk.database import DatabaseError
from desk.export import to_csv
from desk.migrate import open_database
from desk.requests import Kept, Requests
from ui import front_desk
from ui.front_desk import Value
from ui.observer import Observer
from ui.settings import PageSettings

REFRESH_S = 3.0
FIRST_LOOK_S = 2.0
MOST_SHOWN = 50

Look = list[Kept] | DatabaseError


@st.cache_resource(show_spinner=False)
def _observer(database_url: str) -> Observer[Look]:
    """One for all sessions: fifty pages read the database as often as one."""
    requests: Requests | None = None

    def look() -> Look:
        nonlocal requests
        try:
            if requests is None:
                requests = Requests(open_database(database_url), now=lambda: datetime.now(UTC))
            return requests.newest()
        except DatabaseError as error:
            return error

    return Observer(look, max_age_s=REFRESH_S)


def show() -> None:
    with st.container(key="view", gap="medium"):
        st.markdown("# Requests")
        st.caption(
            "What callers asked for, the newest first. A request is saved while it is being told, "
            "so one that is not finished may belong to a call that goes on."
        )
        wanted = st.text_input(
            "Find", placeholder="a number, a name, a date as 2027-10-18", key="requests.find"
        )
        _requests(wanted)


@st.fragment(run_every=REFRESH_S)
def _requests(wanted: str) -> None:
    seen = _observer(PageSettings.load().database_url).latest(FIRST_LOOK_S)
    if seen is None:
        st.caption("Reading the requests …")
        return
    if isinstance(seen.value, DatabaseError):
        st.error(str(seen.value))
        return
    found = front_desk.matching(seen.value, wanted)
    if not found:
        st.info("Nothing matches." if seen.value else "No request was kept yet.")
        return
    st.download_button(
        "Download as CSV",
        # The mark tells a spreadsheet that this is UTF-8.
        lambda: to_csv(found).encode("utf-8-sig"),
        file_name="requests.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    # One element, and not one for each request: it is made anew for every open page.
    st.html(table(found[:MOST_SHOWN]))
    if len(found) > MOST_SHOWN:
        st.caption(f"{len(found) - MOST_SHOWN} more; say above what you look for.")
    by_call = {kept.call_id: kept for kept in found}
    # By its call, so that it stays open when others come before it.
    opened = st.selectbox(
        "Open a request",
        list(by_call),
        index=None,
        format_func=lambda call: front_desk.title(by_call[call]),
        placeholder="Choose one, to see what the caller said for each value",
        key="requests.opened",
    )
    if opened in by_call:
        st.html(card(by_call[opened]))


def table(requests: Sequence[Kept]) -> str:
    """Requests as a table; what callers said is text, whatever is in it."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in front_desk.summary(kept).values())
        + "</tr>"
        for kept in requests
    )
    return f'<div class="part requests"><table>{_head(front_desk.COLUMNS)}{rows}</table></div>'


def card(kept: Kept) -> str:
    """One request: each value as it stands, and the words that it was heard in."""
    rows = "".join(map(_row, front_desk.values(kept.request)))
    times = f"begun {kept.created_at:%Y-%m-%d %H:%M}, last changed {kept.updated_at:%H:%M} UTC"
    return (
        f'<section class="part request"><h3>{escape(front_desk.title(kept))}</h3>'
        f"<p>{times} · call <code>{escape(kept.call_id)}</code></p>"
        f"<table>{_head(('Value', 'Now', 'As the caller said'))}{rows}</table></section>"
    )


def _head(names: Iterable[str]) -> str:
    cells = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<tr>{cells}</tr>"


def _row(value: Value) -> str:
    return (
        f'<tr><th scope="row">{escape(value.name)}</th><td>{escape(value.now)}</td>'
        f"<td>{'<br>'.join(_said(value)) or '–'}</td></tr>"
    )


def _said(value: Value) -> Iterable[str]:
    """The words for the value as it stands, then those for what it was before."""
    for number, said in enumerate(value.said):
        words = f"“{escape(said.words)}”"
        turn = "" if said.turn is None else f" (turn {said.turn})"
        yield f"{words}{turn}" if number == 0 else f"<s>{escape(said.value)}</s> {words}{turn}"
