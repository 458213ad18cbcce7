"""Stack: what each part is doing, from its own endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from html import escape

import streamlit as st

from ui.observer import Observer, Seen
from ui.parts import Look, Model, Part, State, looks
from ui.settings import BadSettings, Settings, StackSettings

REFRESH_S = 4.0
LOOK_S = 2.0
FIRST_LOOK_S = 0.3  # a part on this machine answers sooner
OLD_S = 15.0
WIDEST = "Model server"  # lists many models, so it has a column of its own

SIGNS = {State.READY: ("good", "✓"), State.NOT_READY: ("waits", "…")}
NEUTRAL = (State.ELSEWHERE, State.UNKNOWN)


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
        name: Observer(_blocking(look), max_age_s=LOOK_S)
        for name, look in looks(settings, StackSettings.load()).items()
    }


def _blocking(look: Look) -> Callable[[], Part]:
    return lambda: asyncio.run(look())  # type: ignore[arg-type]


def show() -> None:
    with st.container(key="view", gap="medium"):
        st.markdown("# Stack")
        st.caption("What each part says of itself, asked every few seconds while this is open.")
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
    # One element, and not one for each word: it is made anew for every open page.
    st.html(html(seen))


def html(seen: dict[str, Seen[Part] | None]) -> str:
    """The parts as cards; what they say of themselves is text, whatever is in it."""
    left = [_card(name, part) for name, part in seen.items() if name != WIDEST]
    right = [_card(name, part) for name, part in seen.items() if name == WIDEST]
    return f'<div class="parts"><div>{"".join(left)}</div><div>{"".join(right)}</div></div>'


def _card(name: str, seen: Seen[Part] | None) -> str:
    part = seen.value if seen else Part(name, None, State.UNKNOWN, "being asked …")
    kind, sign = SIGNS.get(part.state, ("neutral", "?") if part.state in NEUTRAL else ("bad", "!"))
    about = [*([f"<code>{escape(part.where)}</code>"] if part.where else [])]
    about += [escape(part.detail)] if part.detail else []
    about += [f"seen {seen.age_s:.0f} s ago"] if seen and seen.age_s > OLD_S else []
    others = [one for one in part.models if one.state == "not loaded"]
    in_memory = [one for one in part.models if one not in others]
    memory = _memory(part.memory_bytes, part.memory_limit_bytes)
    return (
        f'<section class="part part-{name.lower().replace(" ", "-")}">'
        f"<header><h3>{escape(name)}</h3>"
        f'<span class="state {kind}"><i aria-hidden="true">{sign}</i> {part.state}</span></header>'
        f"<p>{' · '.join(about)}</p>"
        f"<dl><dt>Load</dt><dd>{escape(part.load or 'unknown')}</dd>"
        f"<dt>Memory</dt><dd>{memory}</dd></dl>"
        f"{_table(in_memory)}"
        + (
            # A server of many models has only some of them in memory.
            f"<details><summary>{len(others)} not loaded</summary>{_table(others)}</details>"
            if others
            else ""
        )
        + "</section>"
    )


def _table(models: Iterable[Model]) -> str:
    rows = [
        f"<tr><td><code>{escape(model.id)}</code></td>"
        f"<td>{escape(model.state or 'unknown')}{_failure(model)}</td>"
        f"<td>{'unknown' if model.in_use is None else model.in_use}</td>"
        f"<td>{_model_memory(model)}</td></tr>"
        for model in models
    ]
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{one}</th>' for one in ("Model", "State", "In use", "Memory"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _failure(model: Model) -> str:
    return f": {escape(model.failure)}" if model.failure else ""


def _model_memory(model: Model) -> str:
    if model.memory_bytes is None and model.expected_bytes is not None:
        return f"would take {_gigabytes(model.expected_bytes)}"
    return _memory(model.memory_bytes, None)


def _memory(held: int | None, limit: int | None) -> str:
    of = "" if limit is None else f" of {_gigabytes(limit)}"
    return ("unknown" if held is None else _gigabytes(held)) + of


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
