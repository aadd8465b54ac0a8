# SPDX-License-Identifier: BSD-3-Clause
"""One picture of a plane, with the outlines of its boxes, or of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._page import shown_lines
from ._drawing import Axis, Line, Masked, Outline, Plane, finite
from ._figure import Size, drawn_inches, keeps_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

# By level, coarsest first: against the dark map of the field, and the pale one of the error.
FIELD_OUTLINES = ("#ffffff", "#ffb000", "#ff4d4d", "#40e0d0", "#d06bff")
ERROR_OUTLINES = ("#666666", "#b36b00", "#108060", "#6a00b0", "#000000")
NO_VALUE = "no finite value lies here"
MISSING = "#c4c4c4"  # where there is no value
BAR = 0.03  # width of a colour bar, of the longer side of its picture
LEGEND_INCHES = (0.8, 0.17)  # of a level's line
MOST_HIDDEN = 0.25  # of a side, by a legend
BELOW_LABELS = 4.5  # of the legend's letters: under the labels of an axis
MANY_DAYS = 10
LINE_ROOM = 0.04  # of a line's range, above and below it
MANY_OUTLINES = 400  # of one level: from here on they are drawn thinner


def draw_panel(
    figure: Figure,
    axes: Axes,
    plane: Plane,
    title: str,
    outlines: Sequence[str],
    *,
    cmap: str,
    norm: Normalize,
    is_empty: bool = False,
) -> None:
    """One plane of cells and a colour bar; boxes outlined in `outlines`, coarsest level first.
    `is_empty`: without a finite value there is nothing for a colour bar to tell.
    """
    image = _draw_values(axes, plane, cmap, norm)
    axes.set_facecolor(MISSING)
    drawn = _draw_outlines(axes, plane.outlines, outlines)
    size = drawn_inches(figure, axes, plane)
    if len(drawn) > 1:
        _draw_legend(axes, drawn, "#404040" if outlines is FIELD_OUTLINES else "#ffffff", size)
    _tell_dates(axes.xaxis, plane.x)
    _tell_dates(axes.yaxis, plane.y)
    axes.set_xlabel(shown_lines(plane.x.label))
    axes.set_ylabel(shown_lines(plane.y.label))
    axes.set_title(shown_lines(title), fontsize=10)
    if is_empty:
        axes.text(0.5, 0.5, NO_VALUE, transform=axes.transAxes, ha="center", va="center")
        return
    # Inset: beside the picture, a bar would keep the height that the picture gives up.
    bar = BAR * max(size) / size[0]
    figure.colorbar(
        image,
        cax=axes.inset_axes((1 + bar * 2 / 3, 0, bar, 1)),
        label=shown_lines(plane.units),
        extend=_beyond(plane.values, norm),
    )


def draw_line(axes: Axes, line: Line, title: str, norm: Normalize | None) -> None:
    """Values over their places; `norm` gives the ends and the kind of the vertical scale."""
    from matplotlib.colors import LogNorm

    axes.plot(line.x.points, line.values, linewidth=1)
    axes.set_xlabel(shown_lines(line.x.label))
    name = f"{line.field} ({line.units})" if line.units else line.field
    axes.set_ylabel(shown_lines(name))
    axes.set_title(shown_lines(title), fontsize=10)
    axes.grid(alpha=0.3)
    _tell_dates(axes.xaxis, line.x)
    if isinstance(norm, LogNorm):
        axes.set_yscale("log")
    if norm is not None and norm.vmin is not None and norm.vmax is not None:
        span = (norm.vmax - norm.vmin) or abs(norm.vmax) or 1.0
        room = 0 if isinstance(norm, LogNorm) else LINE_ROOM * span
        axes.set_ylim(norm.vmin - room, norm.vmax + room)


def _tell_dates(along: XAxis | YAxis, coordinates: Axis) -> None:
    """Ticks as dates, where the coordinates are times; of few days with the time of day."""
    from matplotlib.ticker import MaxNLocator

    clock = coordinates.clock
    if clock is not None:
        days = float(np.ptp(coordinates.points)) * clock.seconds / 86400
        length = len("1990-06-15") if days > MANY_DAYS else None
        along.set_major_locator(MaxNLocator(6))
        along.set_major_formatter(lambda value, _: clock.date(value)[:length])


def _draw_values(axes: Axes, plane: Plane, cmap: str, norm: Normalize) -> ScalarMappable:
    aspect: Literal["equal", "auto"] = "equal" if keeps_shape(plane) else "auto"
    x, y = plane.x.edges, plane.y.edges
    values = _harmless(plane.values)
    image: ScalarMappable
    if plane.corners is not None:
        image = axes.pcolormesh(*plane.corners, values, cmap=cmap, norm=norm, rasterized=True)
        axes.set_aspect(aspect)
    elif plane.x.is_regular and plane.y.is_regular:
        image = axes.imshow(
            values,
            origin="lower",
            extent=(x[0], x[-1], y[0], y[-1]),
            interpolation="nearest",
            aspect=aspect,
            cmap=cmap,
            norm=norm,
        )
    else:
        image = axes.pcolormesh(x, y, values, cmap=cmap, norm=norm, rasterized=True)
        axes.set_aspect(aspect)
    if plane.corners is None:
        axes.set_xlim(x.min(), x.max())
        low, high = (y.max(), y.min()) if plane.y.points_down else (y.min(), y.max())
        axes.set_ylim(low, high)
    return image


def _harmless(values: Masked) -> Masked:
    """matplotlib computes with masked numbers, too: not with 1e35."""
    mask = np.ma.getmaskarray(values)
    numbers = finite(values)
    if not mask.any() or not numbers.size:
        return values
    return np.ma.array(np.where(mask, numbers[0], np.ma.getdata(values)), mask=mask)


def _draw_outlines(
    axes: Axes, outlines: Sequence[Outline], colours: Sequence[str]
) -> dict[int, str]:
    """The colour of each level that has boxes in the plane."""
    from matplotlib.collections import LineCollection

    drawn = {}
    for level in sorted({level for level, _ in outlines}):
        boxes = np.array([extent for at, extent in outlines if at == level])
        x0, x1, y0, y1 = boxes.T
        corners = np.stack([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])  # [5, 2, boxes]
        width = 0.8 * min(1.0, (MANY_OUTLINES / len(boxes)) ** 0.5)
        colour = drawn[level] = colours[level % len(colours)]
        lines = LineCollection(list(corners.transpose(2, 0, 1)), colors=colour, linewidths=width)
        axes.add_collection(lines, autolim=False)
    return drawn


def _draw_legend(axes: Axes, drawn: dict[int, str], background: str, size: Size) -> None:
    """In a corner of the picture; below it where it would hide much of its height or width."""
    from matplotlib.lines import Line2D

    width, height = LEGEND_INCHES[0], LEGEND_INCHES[1] * len(drawn)
    hides_much = width > MOST_HIDDEN * size[0] or height > MOST_HIDDEN * size[1]
    is_wide = size[0] > size[1]
    axes.legend(
        [Line2D([], [], color=colour) for colour in drawn.values()],
        [f"level {level}" for level in drawn],
        facecolor=background,
        labelcolor="linecolor",
        fontsize=7,
        framealpha=0.7,
        loc="upper right" if is_wide or not hides_much else "upper center",
        bbox_to_anchor=(1.0 if is_wide else 0.5, 0.0) if hides_much else None,
        borderaxespad=BELOW_LABELS if hides_much else None,
        ncols=len(drawn) if hides_much and is_wide else 1,
    )


def _beyond(values: Masked, norm: Normalize) -> str:
    """Which end of the scale some values lie beyond, as matplotlib calls it."""
    numbers = finite(values)
    if not numbers.size or norm.vmin is None or norm.vmax is None:
        return "neither"
    below, above = numbers.min() < norm.vmin, numbers.max() > norm.vmax
    return {(True, True): "both", (True, False): "min", (False, True): "max"}.get(
        (bool(below), bool(above)), "neither"
    )
