# SPDX-License-Identifier: BSD-3-Clause
"""Ratio against PSNR of several ways, as the AMRIC paper's figures 5, 7 and 16."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neve.plot._figure import new_figure

from ..figures import PANEL_INCHES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# By what a way's text begins with, the longest first: a method has its colour in every picture.
COLOURS = {
    "neve:auto": "#000000",
    "neve:dual_quant": "#1f77b4",
    "neve:axis_passes": "#17a2b8",
    "neve:lorenzo_regression": "#2ca02c",
    "neve:interpolation": "#ff7f0e",
    "neve:context": "#d62728",
    "amric:adaptive": "#006d2c",
    "amric:sle": "#41ab5d",
    "amric:lm": "#a1d99b",
    "amric:interp-linear": "#fdbe85",
    "amric:interp": "#d94701",
    "amrex:": "#7f7f7f",
    "tac:": "#8c564b",
    "zmesh:": "#bcbd22",
    "sz3:": "#9467bd",
    "zfp:": "#17becf",
    "sperr:": "#e377c2",
}
OTHER = "#444444"
LINES = ("-", "--", ":", "-.")
MARKERS = "osv^Dx+"

Row = dict[str, Any]
View = int | None  # a level; None: all of them together
Point = tuple[float, float, float]  # PSNR, ratio, bits per cell


def rate_distortion(
    title: str, field: str, rows: Sequence[Row], labels: Mapping[str, str]
) -> Figure | None:
    """PSNR against ratio (above) and bits per cell (below): all levels, then each alone, where the
    ways store levels apart. `labels` of the ways to show, by text. None: nothing has a curve.
    """
    mine = [row for row in rows if row["field"] == field and row.get("ratio")]
    level_count = max((len(row["levels"]) for row in mine), default=0)
    views: list[View] = [None] if level_count == 1 else [None, *range(level_count)]
    curves = {way: [_points(mine, way, view) for view in views] for way in labels}
    curves = {way: of_views for way, of_views in curves.items() if any(of_views)}
    if not curves:
        return None  # a field without errors, or without a range, has no curve
    width, height = PANEL_INCHES
    figure = new_figure((width * len(views) + 2.4, 2 * height))
    axes = figure.subplots(2, len(views), squeeze=False)
    styles = _styles(curves)
    for way, of_views in curves.items():
        for column, points in enumerate(of_views):
            if points:
                psnr, ratio, bits = np.array(points).T
                axes[0, column].plot(ratio, psnr, label=labels[way], **styles[way])
                axes[1, column].plot(bits, psnr, label=labels[way], **styles[way])
    for column, view in enumerate(views):
        _label_panels(axes[0, column], axes[1, column], view)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right upper", fontsize=7)
    figure.suptitle(f"{title}: {field}", fontsize=11)
    return figure


def _points(rows: Sequence[Row], way: str, view: View) -> list[Point]:
    """Of each bound, PSNR rising."""
    found = []
    for row in rows:
        part = row if view is None else row["levels"][view]
        if row["way"] != way or part["psnr_db"] is None or not part.get("stored_bytes"):
            continue
        cells = sum(level["cells"] for level in row["levels"]) if view is None else part["cells"]
        found.append((part["psnr_db"], part["ratio"], 8 * part["stored_bytes"] / cells))
    return sorted(found)


def _styles(ways: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Ways of one colour differ in line and marker."""
    styles = {}
    seen: dict[str, int] = {}
    for way in ways:
        colour = next((c for start, c in COLOURS.items() if way.startswith(start)), OTHER)
        turn = seen[colour] = seen.get(colour, -1) + 1
        styles[way] = {
            "color": colour,
            "linestyle": LINES[turn % len(LINES)],
            "linewidth": 1.2,
            "marker": MARKERS[turn % len(MARKERS)],
            "markersize": 4,
        }
    return styles


def _label_panels(above, below, view: View) -> None:
    from matplotlib.ticker import LogFormatter

    above.set_title("all levels" if view is None else f"level {view}", fontsize=10)
    above.set_xlabel("compression ratio")
    below.set_xlabel("bits per cell")
    above.set_xscale("log")
    for which in ("major", "minor"):  # plain numbers: the axes span a decade or two
        digits = LogFormatter(minor_thresholds=(2, 0.5))
        getattr(above.xaxis, f"set_{which}_formatter")(digits)
    for axes in (above, below):
        axes.set_ylabel("PSNR, dB")
        axes.grid(alpha=0.3)
