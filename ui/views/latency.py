"""Latency: where the time went in the recorded calls, and which turns were slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import streamlit as st

from ui import latency
from ui.latency import DELAYS, GAP, PARTS_OF_GAP, STAGES, Call, Figures, Stage, Turn
from ui.navigation import RECORDING, SEQ, replay_view
from ui.views.library import library, say_empty

SLOWEST = 10
LONGEST = 3  # of each of these turns' parts
FEW = 20  # below this, a p95 is little more than the slowest value
NONE = "Nothing"
COLOURS = {"light": ("#0b6275", "#b8631a"), "dark": ("#6cc5d6", "#e3a25a")}


def show() -> None:
    with st.container(key="view", gap="medium"):
        st.markdown("# Latency")
        with st.spinner("Reading the recordings …", show_time=True):
            listed = library().listed()
        calls = [one.call for one in listed if one.call is not None]
        turns = [turn for call in calls for turn in call.turns]
        if not listed:
            say_empty()
            return
        _say_what_is_counted(calls, turns, unreadable=len(listed) - len(calls))
        if not turns:
            return
        chosen = _choose(latency.sets(turns))
        _stages(chosen)
        _by_day_and_providers(turns)
        _slowest(next(iter(chosen.values())))
        st.download_button(
            "Download all turns as CSV",
            latency.to_csv(turns),
            file_name="latency.csv",
            mime="text/csv",
            icon=":material/download:",
        )


def _say_what_is_counted(calls: Sequence[Call], turns: Sequence[Turn], unreadable: int) -> None:
    days = sorted(turn.day for turn in turns)
    damaged = sum(bool(call.problems) for call in calls)
    parts = [
        f"{_count(len(turns), 'timed turn')} in {_count(len(calls), 'call')}",
        *([" to ".join(dict.fromkeys((days[0], days[-1]))) + " (UTC)"] if days else []),
        *(
            [f"{_count(damaged, 'call')} with something missing or impossible, left out"]
            if damaged
            else []
        ),
        *([f"{_count(unreadable, 'file')} without a recording"] if unreadable else []),
    ]
    st.caption(" · ".join(parts))
    if not turns:
        st.info("Nothing was timed in these calls: nobody spoke, or all of it was typed.")


def _choose(sets: Mapping[str, list[Turn]]) -> dict[str, list[Turn]]:
    """One set, or two to hold side by side."""
    names = list(sets)
    one, other = st.columns(2)
    first = one.selectbox("Turns", names, key="latency.first")
    second = other.selectbox(
        "Compare with", [NONE, *(name for name in names if name != first)], key="latency.second"
    )
    chosen = [first] if second == NONE else [first, second]
    return {name: sets[name] for name in chosen if name in sets}


def _stages(chosen: Mapping[str, list[Turn]]) -> None:
    st.markdown("## Each stage")
    if len(chosen) == 2:
        names = [f"**{one}**: {_escaped(name)}" for one, name in zip("AB", chosen, strict=True)]
        st.markdown("  \n".join([*names, "In seconds; B − A is the difference of the medians."]))
        chosen = dict(zip("AB", chosen.values(), strict=True))
    _figures_of(chosen, DELAYS)
    st.markdown("## What the gap was spent on")
    if any(latency.having(turns, stage) for turns in chosen.values() for stage in PARTS_OF_GAP):
        st.caption(
            "Each part is what it added: work that was done while the caller still spoke added "
            "nothing. In one turn the parts add up to its gap; their percentiles do not."
        )
        _figures_of(chosen, PARTS_OF_GAP)
    else:
        st.caption("These calls were recorded without it.")
    with st.expander("What these stages are"):
        st.markdown("\n".join(f"- **{stage.name}**: {stage.meaning}" for stage in STAGES))
        st.markdown(
            "p50: half of the turns were at most so slow. p95: of twenty turns, nineteen. "
            f"With fewer than {FEW} turns (n), p95 is little more than the slowest."
        )


def _figures_of(chosen: Mapping[str, list[Turn]], stages: Sequence[Stage]) -> None:
    """These stages of one set of turns, or of two side by side: a table, and a chart of it."""
    found = {
        name: {stage.field: latency.figures(turns, stage) for stage in stages}
        for name, turns in chosen.items()
    }
    rows = [
        {
            "": f"**{stage.name}**" if stage.whole else stage.name,
            **(
                _cells(found[next(iter(found))][stage.field])
                if len(found) == 1
                else _side_by_side([found[name][stage.field] for name in found])
            ),
        }
        for stage in stages
    ]
    st.table(rows, border="horizontal", hide_index=True, alt="Percentiles of each stage")
    chart = _stage_chart(found, stages)
    st.altair_chart(chart, width="stretch", alt=_told(found, stages))


def _cells(figures: Figures) -> dict[str, str]:
    return {"p50": _s(figures.p50_ms), "p95": _s(figures.p95_ms), "n": str(figures.n)}


def _side_by_side(pair: Sequence[Figures]) -> dict[str, str]:
    """In seconds: a phone has no room for units in seven columns."""
    a, b = pair
    known = a.p50_ms is not None and b.p50_ms is not None
    return {
        **{
            f"{letter} {name}": value.removesuffix(" s")
            for letter, figures in zip("AB", pair, strict=True)
            for name, value in _cells(figures).items()
        },
        "B − A": f"{(b.p50_ms - a.p50_ms) / 1000:+.2f}" if known else "–",  # type: ignore[operator]
    }


def _stage_chart(
    found: Mapping[str, Mapping[str, Figures]], shown: Sequence[Stage]
) -> alt.LayerChart | alt.FacetChart:
    rows = [
        {
            "stage": stage.name,
            "set": name,
            "p50_s": figures.p50_ms / 1000,
            "p95_s": figures.p95_ms / 1000,
            "n": figures.n,
        }
        for name, stages in found.items()
        for stage in shown
        if (figures := stages[stage.field]).p50_ms is not None and figures.p95_ms is not None
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("stage:N", sort=[stage.name for stage in shown], title=None),
        yOffset=alt.YOffset("set:N", sort=list(found)),
        color=_colours(list(found)),
        tooltip=[
            alt.Tooltip("set:N", title="Turns"),
            alt.Tooltip("stage:N", title="Stage"),
            alt.Tooltip("p50_s:Q", title="p50 (s)", format=".2f"),
            alt.Tooltip("p95_s:Q", title="p95 (s)", format=".2f"),
            alt.Tooltip("n:Q"),
        ],
    )
    x = alt.X(
        "p50_s:Q",
        title="seconds, from p50 (dot) to p95 (bar's end)",
        axis=alt.Axis(tickCount=8),
        scale=alt.Scale(zero=True),
    )
    return alt.layer(
        base.mark_bar(height=6, opacity=0.45, cornerRadius=3).encode(x=x, x2="p95_s:Q"),
        base.mark_circle(size=130, opacity=1).encode(x=x),
    ).properties(height=60 + (28 + 12 * (len(found) - 1)) * len(shown))


def _by_day_and_providers(turns: Sequence[Turn]) -> None:
    measured = [stage for stage in STAGES if latency.having(turns, stage)]
    if not measured:
        return
    st.markdown("## By day and by provider set")
    stage = st.selectbox(
        "Stage",
        measured,
        index=measured.index(GAP) if GAP in measured else 0,
        format_func=lambda one: one.name,
        key="latency.stage",
    )
    turns = latency.having(turns, stage)
    days = latency.grouped(turns, lambda turn: turn.day)
    if len(days) > 1:
        _over_days(days, stage)
    _table("Providers", latency.grouped(turns, lambda turn: turn.provider_set), stage)


def _over_days(days: dict[str, list[Turn]], stage: Stage) -> None:
    rows = []
    for day, group in days.items():
        figures = latency.figures(group, stage)
        for name, value in (("p50", figures.p50_ms), ("p95", figures.p95_ms)):
            if value is not None:
                rows.append({"day": day, "of": name, "s": value / 1000, "n": figures.n})
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=alt.OverlayMarkDef(size=70))
        .encode(
            x=alt.X("day:O", title="day (UTC)", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("s:Q", title=f"{stage.name}, seconds"),
            color=_colours(["p50", "p95"], field="of"),
            tooltip=["day:O", "of:N", alt.Tooltip("s:Q", title="seconds", format=".2f"), "n:Q"],
        )
        .properties(height=240)
    )
    told = f"{stage.name}: p50 and p95 by day; the table has them"
    st.altair_chart(chart, width="stretch", alt=told)
    _table("Day (UTC)", dict(reversed(days.items())), stage)


def _table(title: str, groups: Mapping[str, list[Turn]], stage: Stage) -> None:
    st.table(
        [
            {title: _escaped(name), **_cells(latency.figures(group, stage))}
            for name, group in groups.items()
        ],
        border="horizontal",
        hide_index=True,
        alt=f"{stage.name} by {title.lower()}",
    )


def _slowest(turns: Sequence[Turn]) -> None:
    st.markdown("## The slowest turns")
    with st.container(gap="xxsmall"):
        for turn in latency.slowest(turns, SLOWEST):
            stages = latency.longest_parts(turn, LONGEST) or [
                stage for stage in DELAYS if not stage.whole and stage.field in turn.delays_ms
            ]
            rest = ", ".join(f"{stage.name} {_s(turn.delays_ms[stage.field])}" for stage in stages)
            st.page_link(
                replay_view(),
                label=f"**{_s(turn.delays_ms[GAP.field])}** · {turn.began:%d %b %H:%M} UTC, "
                f"turn {turn.number} · {rest}",
                icon=":material/play_circle:",
                query_params={RECORDING: turn.recording, SEQ: str(turn.seq)},
            )


def _colours(names: Sequence[str], field: str = "set") -> alt.Color:
    palette = COLOURS.get(st.context.theme.type or "light", COLOURS["light"])
    legend: Any = alt.Legend(title=None, orient="top", labelLimit=600) if len(names) > 1 else None
    scale = alt.Scale(domain=list(names), range=list(palette[: len(names)]))
    return alt.Color(f"{field}:N", scale=scale, legend=legend)


def _told(found: Mapping[str, Mapping[str, Figures]], shown: Sequence[Stage]) -> str:
    """The chart in words, for who does not see it."""
    return "; ".join(
        f"{name}: "
        + ", ".join(f"{stage.name} p50 {_s(stages[stage.field].p50_ms)}" for stage in shown)
        for name, stages in found.items()
    )


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _s(ms: float | None) -> str:
    return "–" if ms is None else f"{ms / 1000:.2f} s"


def _escaped(text: str) -> str:
    """A name as it is, where Markdown would read signs into it."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>$:~|" else sign for sign in text)
