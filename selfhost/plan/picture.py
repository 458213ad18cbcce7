"""The plan as a picture: a stacked bar for each model and for all, and the card's limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfhost.errors import SetupError
from selfhost.plan.cards import describe
from selfhost.plan.estimate import GIB
from selfhost.plan.outcome import Plan, Row

if TYPE_CHECKING:  # it takes a second to load, which only a picture is worth
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart with every kind of colour blindness; hatching besides, for
# print in grey.
PARTS = (
    ("weights", "Weights", "#0072B2", ""),
    ("cache", "KV cache for the workload", "#56B4E9", "//"),
    ("activations", "Activations and workspace", "#E69F00", ".."),
    ("overhead", "Runtime overhead", "#999999", ""),
)
LIMIT = "#D55E00"
FORMATS = (".png", ".svg", ".pdf")


def draw(plan: Plan, path: Path) -> None:
    """Write the picture.

    Args:
        plan: what to show.
        path: of the file; its ending is its format.

    Raises:
        SetupError: the format is not known, or the file cannot be written.
    """
    if path.suffix.lower() not in FORMATS:
        raise SetupError(f"Expected a picture ending in {', '.join(FORMATS)}, got {path}.")
    try:
        figure(plan).savefig(path)
    except OSError as error:
        raise SetupError(f"Could not write {path}: {error.strerror}.") from None


def figure(plan: Plan) -> Figure:
    """The picture itself.

    Args:
        plan: what to show.
    """
    # A figure without pyplot: it needs no screen and leaves nothing open.
    from matplotlib.figure import Figure

    labels = [row.name for row in plan.rows] + ["Together"]
    height = 1.9 + 0.5 * len(labels)
    picture = Figure(figsize=(11, height), dpi=130, layout="constrained")
    axes = picture.add_subplot()
    positions = list(range(len(labels)))
    _bars(axes, plan)
    _totals(axes, plan)
    _limit(axes, plan)
    axes.set_yticks(positions, labels, fontsize=10)
    axes.get_yticklabels()[-1].set_fontweight("bold")
    axes.invert_yaxis()
    axes.axhline(len(plan.rows) - 0.5, color="#bbbbbb", linewidth=0.8)
    axes.set_xlabel("GiB" + (" on each card" if _is_shared(plan) else ""))
    axes.set_xlim(0, _right_edge(plan))
    axes.grid(axis="x", color="#e5e5e5", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(_title(plan), loc="left", fontsize=11)
    handles, names = axes.get_legend_handles_labels()
    # Lines come first otherwise, and the bars' parts are what the picture is about.
    in_order = sorted(range(len(names)), key=lambda one: names[one].startswith(("Room", "Error")))
    picture.legend(
        [handles[one] for one in in_order],
        [names[one] for one in in_order],
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=9.5,
    )
    return picture


def _is_shared(plan: Plan) -> bool:
    return any(row.generation and row.generation.ranks > 1 for row in plan.rows)


def _title(plan: Plan) -> str:
    verdicts = f"models fit: {plan.models_fit.value}; workload fits: {plan.workload_fits.value}"
    return f"{describe(plan.card)}\n{verdicts}"


def _right_edge(plan: Plan) -> float:
    # Room for the total's figures beside the end of its error bar.
    return max(1.25 * plan.all.high, 1.05 * plan.room_bytes) / GIB


def _bars(axes: Any, plan: Plan) -> None:
    left = [0.0] * (len(plan.rows) + 1)
    positions = list(range(len(left)))
    for part, label, colour, hatch in PARTS:
        widths = [_gib(row, part) for row in plan.rows]
        widths.append(sum(widths))
        axes.barh(
            positions,
            widths,
            left=left,
            height=0.62,
            label=label,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.6,
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]


def _gib(row: Row, part: str) -> float:
    return float(getattr(row, part).bytes) / GIB


def _totals(axes: Any, plan: Plan) -> None:
    estimates = [row.all for row in plan.rows] + [plan.all]
    gap = 0.008 * _right_edge(plan)
    for position, estimate in enumerate(estimates):
        low, middle, high = (size / GIB for size in (estimate.low, estimate.bytes, estimate.high))
        last = position == len(plan.rows)
        if last and high > low:
            axes.errorbar(
                middle,
                position,
                xerr=[[middle - low], [high - middle]],
                color="#222222",
                capsize=4,
                linewidth=1.2,
                label="Error band",
            )
        text = f"{middle:.2f}"
        if last and high > low:
            text += f"  ({low:.2f} to {high:.2f})"
        axes.text(
            (high if last else middle) + gap,
            position,
            text,
            va="center",
            fontsize=9,
            fontweight="bold" if last else "normal",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )


def _limit(axes: Any, plan: Plan) -> None:
    room = plan.room_bytes / GIB
    axes.axvline(
        room,
        color=LIMIT,
        linewidth=1.8,
        linestyle="--",
        label=f"Room for models: {room:.2f} GiB",
    )
