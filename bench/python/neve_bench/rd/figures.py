# SPDX-License-Identifier: BSD-3-Clause
"""The AMRIC paper's figures: ratio against PSNR, error slices, the parts of a write."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neve._errors import FAILURE, Error
from neve._picture import pyplot, save
from neve.plot._amr_source import plane_of_slice
from neve.plot._panel import ERROR_OUTLINES, draw_panel
from neve.plotfile import Slice

from .write_times import STAGES

PANEL_INCHES = (5.2, 3.8)
# By what a method's name begins with, so that a codec has its colour in every picture.
COLOURS = {
    "auto": "#000000",
    "dual_quant": "#1f77b4",
    "lorenzo_regression": "#2ca02c",
    "interpolation": "#ff7f0e",
    "context": "#d62728",
    "amrex-1d": "#7f7f7f",
    "SZ3 Lorenzo+reg": "#8c564b",
    "SZ3": "#9467bd",
    "ZFP": "#17becf",
    "SPERR": "#e377c2",
}
LINES = ("-", "--", ":", "-.")
MARKERS = "osv^Dx+"
SPAN_OF_BEST = 3  # error slices: colours end at this many times the best method's largest error


def _pyplot():
    try:
        return pyplot()
    except ImportError:
        raise Error("pictures need matplotlib: pip install 'neve[plot]'", FAILURE) from None


def check_at_hand() -> None:
    _pyplot()


def picture(panels: int, columns: int = 3):
    """A figure and its panels, some in a row, with room for a legend beside them."""
    rows = math.ceil(panels / columns)
    figure, axes = _pyplot().subplots(
        rows,
        columns,
        figsize=(0.8 * PANEL_INCHES[0] * columns + 2, PANEL_INCHES[1] * rows),
        layout="constrained",
        squeeze=False,
    )
    for unused in axes.flat[panels:]:
        unused.set_visible(False)
    return figure, axes.flat[:panels]


def save_picture(figure, path: Path) -> Path:
    save(figure, path)
    return path


def _colour(method: str) -> str:
    return next(c for name, c in COLOURS.items() if method.startswith(name))


View = int | None  # a level; None: all of them together


def rate_distortion(
    path: Path, title: str, field: str, rows: Sequence[dict[str, Any]], methods: Sequence[str]
) -> Path | None:
    """PSNR against ratio (above) and bits per cell (below): all levels, then each alone."""
    mine = [row for row in rows if row["field"] == field and "ratio" in row]
    level_count = max((len(row["levels"]) for row in mine), default=0)
    views: list[View] = [None] if level_count == 1 else [None, *range(level_count)]
    curves = {method: [_points(mine, method, view) for view in views] for method in methods}
    curves = {method: of_views for method, of_views in curves.items() if any(of_views)}
    if not curves:
        return None  # a field without errors, or without a range, has no curve
    figure, axes = _pyplot().subplots(
        2,
        len(views),
        figsize=(PANEL_INCHES[0] * len(views) + 2.4, 2 * PANEL_INCHES[1]),
        layout="constrained",
        squeeze=False,
    )
    styles = _styles(curves)
    for method, of_views in curves.items():
        for column, points in enumerate(of_views):
            if points:
                psnr, ratio, bits = np.array(points).T
                axes[0, column].plot(ratio, psnr, label=method, **styles[method])
                axes[1, column].plot(bits, psnr, label=method, **styles[method])
    for column, view in enumerate(views):
        _label_panels(axes[0, column], axes[1, column], view)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=7)
    figure.suptitle(f"{title}: {field}", fontsize=11)
    return save_picture(figure, path)


def _points(
    rows: Sequence[dict[str, Any]], method: str, view: View
) -> list[tuple[float, float, float]]:
    """(PSNR, ratio, bits per cell) of each bound, PSNR rising."""
    found = []
    for row in rows:
        part = row if view is None else row["levels"][view]
        if row["method"] != method or part["psnr_db"] is None or part["stored_bytes"] == 0:
            continue
        cells = sum(level["cells"] for level in row["levels"]) if view is None else part["cells"]
        ratio = part["raw_bytes"] / part["stored_bytes"]
        found.append((part["psnr_db"], ratio, 8 * part["stored_bytes"] / cells))
    return sorted(found)


def _styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Methods of one colour differ in line and marker."""
    styles = {}
    seen: dict[str, int] = {}
    for method in methods:
        colour = _colour(method)
        turn = seen[colour] = seen.get(colour, -1) + 1
        styles[method] = {
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


def error_slices(path: Path, title: str, panels: Sequence[tuple[str, Slice, np.ndarray]]) -> Path:
    """|error| of several methods, side by side on one scale: that of the best, so that the others
    do not pale it.
    """
    plt = _pyplot()
    worst = [float(np.nanmax(error)) for _, _, error in panels]
    reach = min(max(worst), SPAN_OF_BEST * min(worst)) or max(worst) or 1.0
    figure, axes = plt.subplots(
        1, len(panels), figsize=(5.6 * len(panels), 5.0), layout="constrained", squeeze=False
    )
    for place, (label, shown, error) in zip(axes.flat, panels, strict=True):
        norm = plt.Normalize(0, reach)
        plane = plane_of_slice(label, replace(shown, values=error), dims=3)
        draw_panel(figure, place, plane, label, ERROR_OUTLINES, cmap="Blues", norm=norm)
    figure.suptitle(f"{title}; colours end at {reach:.3g}", fontsize=11)
    return save_picture(figure, path)


def write_times(path: Path, title: str, rows: Sequence[dict[str, Any]]) -> Path:
    plt = _pyplot()
    figure, axis = plt.subplots(figsize=(1.2 * len(rows) + 3, 4.2), layout="constrained")
    labels = [f"{row['strategy']}\non {row['ranks']}" for row in rows]
    bottom = np.zeros(len(rows))
    for stage in STAGES:
        height = np.array([1e3 * row["seconds"][stage] for row in rows])
        axis.bar(labels, height, bottom=bottom, label=stage, width=0.65)
        bottom += height
    axis.set_xlabel("strategy, MPI ranks")
    axis.set_ylabel("ms")
    axis.set_title(title, fontsize=11)
    axis.legend(fontsize=8)
    return save_picture(figure, path)
