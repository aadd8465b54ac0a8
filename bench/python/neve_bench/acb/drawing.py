# SPDX-License-Identifier: BSD-3-Clause
"""The study's pictures, as PNG. Colours of Okabe and Ito, which the colour-blind tell apart; lines
have markers, too.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from neve._picture import pyplot

from .strategies import AGGREGATED, COLLECTIVE, COMPRESSED, HDF5, INDEPENDENT, SKELETON, label

DPI = 110
PANEL_INCHES = (4.6, 3.6)
INCHES_OF_NAME = 1.4  # in a legend
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#000000"
STYLES = {
    label(INDEPENDENT): (VERMILION, "o"),
    label(COLLECTIVE): (BLUE, "s"),
    label(AGGREGATED): (GREEN, "^"),
    label(SKELETON): (PURPLE, "D"),
    label(COMPRESSED): (ORANGE, "v"),
    HDF5[INDEPENDENT]: (VERMILION, "o"),
    HDF5[COLLECTIVE]: (BLUE, "s"),
    HDF5[AGGREGATED]: (GREEN, "^"),
    AGGREGATED: (SKY, "P"),
    SKELETON: (PURPLE, "D"),
    COMPRESSED: (ORANGE, "v"),
}
VIEWS = {"front": (0, 2), "side": (1, 2), "above": (0, 1)}  # the axes that are seen
HOLLOW = (label(SKELETON), SKELETON)
LEVEL_COLOURS = (SKY, ORANGE, GREEN, VERMILION, PURPLE)
Values = Sequence[float | None]
Boxes = Sequence[tuple[Sequence[int], Sequence[int]]]


def _style(name: str) -> tuple[str, str]:
    return STYLES.get(name, (BLACK, "x"))


def _panels(count: int, shared: bool):
    width, height = PANEL_INCHES
    figure, axes = pyplot().subplots(
        1,
        count,
        figsize=(max(width * count, 6), height),
        layout="constrained",
        squeeze=False,
        sharey=shared,
    )
    return figure, list(axes.flat)


def lines(
    title: str,
    across: str,
    places: Sequence[str],
    panels: Mapping[str, Mapping[str, Values]],
    shared: bool = True,
) -> bytes:
    """Seconds over `places`, on a log axis: a line each name. Panels with axes of their own have
    titles that name what they show.
    """
    figure, axes = _panels(len(panels), shared)
    for place, (panel, drawn) in zip(axes, panels.items(), strict=True):
        for name, values in drawn.items():
            colour, marker = _style(name)
            there = np.array([np.nan if v is None or v <= 0 else v for v in values], dtype=float)
            # A hollow mark, as two strategies may take the same time.
            hollow = {"markersize": 8, "markerfacecolor": "none", "linestyle": "--"}
            filled = {"markersize": 5, "linewidth": 1.3}
            form = hollow if name in HOLLOW else filled
            place.plot(range(len(places)), there, color=colour, marker=marker, label=name, **form)
        place.set_xticks(range(len(places)), places, fontsize=8)
        place.set_xlabel(across, fontsize=8)
        place.set_yscale("log")
        place.set_title(panel, fontsize=9)
        place.grid(linewidth=0.3, alpha=0.6, which="both")
        if not shared:
            place.legend(fontsize=6)
    if shared:
        axes[0].set_ylabel("seconds", fontsize=8)
        _legend_below(figure, axes[0])
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def bars(
    title: str, what: str, places: Sequence[str], drawn: Mapping[str, Sequence[float]]
) -> bytes:
    """Groups of bars at `places`, on a log axis."""
    figure, (axes,) = _panels(1, False)
    figure.set_size_inches(max(1.1 * len(places) + 2.5, 6), PANEL_INCHES[1])
    width = 0.8 / len(drawn)
    for number, (name, values) in enumerate(drawn.items()):
        shift = (number - (len(drawn) - 1) / 2) * width
        axes.bar(np.arange(len(places)) + shift, values, width, label=name, color=_style(name)[0])
    axes.set_xticks(range(len(places)), [one.replace(", ", ",\n") for one in places], fontsize=7)
    axes.set_yscale("log")
    axes.set_ylabel(what, fontsize=8)
    axes.grid(axis="y", linewidth=0.3, alpha=0.6)
    _legend_below(figure, axes)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def sizes(title: str, panels: Mapping[str, Mapping[str, Mapping[str, int]]]) -> bytes:
    """Counts of writes by range of sizes, on a log axis, as figures 10 and 11."""
    figure, axes = _panels(len(panels), False)
    for place, (panel, drawn) in zip(axes, panels.items(), strict=True):
        width = 0.8 / len(drawn)
        for number, (name, bins) in enumerate(drawn.items()):
            shift = (number - (len(drawn) - 1) / 2) * width
            there = [count or np.nan for count in bins.values()]
            colour = _style(name)[0]
            place.bar(np.arange(len(bins)) + shift, there, width, label=name, color=colour)
        names = list(next(iter(drawn.values())))
        place.set_xticks(range(len(names)), names, fontsize=6, rotation=45)
        place.set_xlabel("size of a write, bytes", fontsize=8)
        place.set_ylabel("writes", fontsize=8)
        place.set_yscale("log")
        place.set_ylim(bottom=0.7)
        place.set_title(panel, fontsize=9)
        place.grid(axis="y", linewidth=0.3, alpha=0.6)
    _legend_below(figure, axes[0])
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def views(title: str, levels: Sequence[Mapping[str, Any]]) -> bytes:
    """A 3D grid from the front, from the side and from above, finer levels above coarser."""
    figure, axes = _panels(3, False)
    names = ("x", "y", "z")
    for place, (view, seen) in zip(axes, VIEWS.items(), strict=True):
        _outlines(place, levels, seen)
        place.set_title(view, fontsize=9)
        place.set_xlabel(f"{names[seen[0]]}, cells of the coarsest level", fontsize=8)
        place.set_ylabel(names[seen[1]], fontsize=8)
    _legend_of_levels(figure, levels)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def flat(title: str, levels: Sequence[Mapping[str, Any]]) -> bytes:
    """A 2D grid, and the surroundings of its finest boxes' first one."""
    figure, axes = _panels(2, False)
    for place in axes:
        _outlines(place, levels, (0, 1))
        place.set_xlabel("x, cells of the coarsest level", fontsize=8)
        place.set_ylabel("y", fontsize=8)
    finest = levels[-1]
    scale = finest["domain"][0] / levels[0]["domain"][0]
    (x, y), _ = finest["boxes"][len(finest["boxes"]) // 2]
    reach = levels[0]["domain"][0] / 12
    axes[1].set_xlim(x / scale - reach, x / scale + reach)
    axes[1].set_ylim(y / scale - reach, y / scale + reach)
    axes[1].set_title("a part of it", fontsize=9)
    _legend_of_levels(figure, levels)
    figure.suptitle(title, fontsize=10)
    return _png(figure)


def _outlines(place: Any, levels: Sequence[Mapping[str, Any]], axes: tuple[int, int]) -> None:
    """Of boxes, in cells of the coarsest level; what lies behind another is drawn once."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    coarse = levels[0]["domain"]
    for number, level in enumerate(levels):
        scale = level["domain"][0] / coarse[0]
        drawn = {
            tuple((lo[a] / scale, shape[a] / scale) for a in axes) for lo, shape in level["boxes"]
        }
        patches = [Rectangle((x, y), w, h) for (x, w), (y, h) in sorted(drawn)]
        colour = LEVEL_COLOURS[number % len(LEVEL_COLOURS)]
        place.add_collection(
            PatchCollection(patches, facecolor=colour, edgecolor="black", linewidth=0.3, alpha=0.8)
        )
    place.set_xlim(0, coarse[axes[0]])
    place.set_ylim(0, coarse[axes[1]])
    place.set_aspect("equal")


def _legend_of_levels(figure, levels: Sequence[Mapping[str, Any]]) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(
            color=LEVEL_COLOURS[number % len(LEVEL_COLOURS)],
            label=f"level {number}: {len(level['boxes'])} box{'es' * (len(level['boxes']) > 1)}",
        )
        for number, level in enumerate(levels)
    ]
    figure.legend(handles=handles, fontsize=7, loc="outside lower center", ncols=len(handles))


def _legend_below(figure, axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    columns = min(len(names), int(figure.get_size_inches()[0] / INCHES_OF_NAME))
    figure.legend(handles, names, fontsize=7, loc="outside lower center", ncols=columns)


def _png(figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot().close(figure)
    return buffer.getvalue()
