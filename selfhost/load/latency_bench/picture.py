"""The benchmark as a picture: both sides' gaps, and what ours is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent.timeline.waterfall import PARTS
from selfhost.load.latency_bench.figures import GAP_P50_MS
from selfhost.load.latency_bench.turns import BenchCall

# Okabe and Ito's palette, told apart with every kind of colour blindness.
SIDES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
PART_COLOURS = (
    *("#0072B2", "#56B4E9", "#009E73", "#F0E442", "#E69F00"),
    *("#D55E00", "#CC79A7", "#882255", "#44AA99", "#999999"),
)
SPREAD = 0.16  # how far turns lie from their side's line, so that they do not hide each other


def draw(path: Path, sides: Mapping[str, Sequence[BenchCall]], title: str) -> None:
    """Write the picture as a PNG.

    Args:
        path: of the file.
        sides: the calls of each side by its name; the waterfall is the first one's.
        title: which machine, and how busy it was.
    """
    # A figure without pyplot: it needs no screen and leaves nothing open.
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10, 3.4 + 0.7 * len(sides)), dpi=130, layout="constrained")
    above, below = picture.subplots(2, 1, height_ratios=(1 + len(sides), 1.2))
    _gaps(above, sides)
    above.set_title(title, loc="left", fontsize=10)
    handles = _waterfall(below, next(iter(sides.values()), ()))
    picture.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path)


def _gaps(axes: Any, sides: Mapping[str, Sequence[BenchCall]]) -> None:
    """Every turn as a dot, on the line of its side, with the middle half and the median."""
    scatter = np.random.default_rng(seed=0)
    labels = []
    for line, (name, calls) in enumerate(sides.items()):
        gaps_s = [
            turn.uncut_gap_ms / 1000
            for call in calls
            for turn in call.turns
            if turn.uncut_gap_ms is not None
        ]
        labels.append(f"{name}, n {len(gaps_s)}")
        if not gaps_s:
            continue
        colour = SIDES[line % len(SIDES)]
        offsets = scatter.uniform(-SPREAD, SPREAD, len(gaps_s))
        axes.scatter(gaps_s, line + offsets, s=14, color=colour, alpha=0.55, linewidths=0)
        low, middle, high, late = np.percentile(gaps_s, [25, 50, 75, 95])
        axes.plot([low, high], [line, line], color=colour, linewidth=5, alpha=0.35)
        axes.plot([middle], [line], marker="|", markersize=26, markeredgewidth=3, color=colour)
        axes.annotate(
            f"p50 {middle:.2f} s, p95 {late:.2f} s",
            (middle, line - 0.3),
            ha="center",
            fontsize=9,
            fontweight="bold",
            color=colour,
        )
    axes.axvline(GAP_P50_MS / 1000, color="#777777", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel("gap: the caller's last sound to the reply that is not cut off, s")
    axes.grid(axis="x", color="#e5e5e5", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _waterfall(axes: Any, calls: Sequence[BenchCall]) -> list[Any]:
    """The median of each part, one behind the other; medians need not add up to the median gap."""
    known = [turn.parts for call in calls for turn in call.turns if turn.parts]
    left, handles = 0.0, []
    for part, colour in zip(PARTS, PART_COLOURS, strict=True):
        values = [ms for parts in known if (ms := parts.get(part)) is not None]
        width = float(np.median(values)) if values else 0.0
        label = (
            f"{part.replace('_', ' ')}: {width:.0f} ms"
            if values
            else f"{part.replace('_', ' ')}: unknown"
        )
        handles.append(
            axes.barh(0, width, left=left, color=colour, edgecolor="white", label=label)[0]
        )
        handles[-1].set_label(label)
        left += width
    axes.set_yticks([0], [f"median of each part, n {len(known)}"])
    axes.set_xlabel("ms after the caller's last sound")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return handles
