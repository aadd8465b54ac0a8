# SPDX-License-Identifier: BSD-3-Clause
"""Figures: panels side by side, whose sizes follow from what they show."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._page import shown_lines
from ._drawing import Drawing, Plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_INCHES = 6.4  # the longer side of a panel
MARGIN_INCHES = (1.5, 1.1)  # around it: colour bar and labels, titles and ticks
HEADING_INCHES = 0.3
THIN = 0.35  # panels thinner than this are longer, so that they are not strips in an empty page
MOST_LONGER = 1.7  # times
SHORTEST_SIDE = 0.1  # of a panel, so that a long thin domain still shows its labels
THINNEST = 0.1  # what is thinner yet is stretched
FREE_SHAPE = (1.0, 0.62)  # of a panel whose directions have different units, and of a line
LINE_SHAPE = (1.0, 0.5)
WIDEST = 1.6  # width over height that the whole of several panels comes close to
DPI = 160
Size = tuple[float, float]


def new_figure(size: Size) -> Figure:
    """A figure that no window and no list of pyplot's holds. Notebooks show it."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            return encoded(self, "png", 100)

    return Picture(figsize=size, layout="constrained")


def encoded(figure: Figure, kind: str, dpi: float) -> bytes:
    """The bytes of a file. ValueError where matplotlib does not know the kind."""
    picture = io.BytesIO()
    figure.savefig(picture, dpi=dpi, format=kind)
    return picture.getvalue()


def panel_inches(drawing: Drawing, longest: float) -> Size:
    """As long in each direction as what is drawn, if both have the same unit."""
    shape = LINE_SHAPE
    if isinstance(drawing, Plane):
        shape = _extent(drawing) if keeps_shape(drawing) else FREE_SHAPE
    thickness = max(min(shape) / max(shape), SHORTEST_SIDE)
    if thickness < THIN:
        longest *= min((THIN / thickness) ** 0.5, MOST_LONGER)
    width, height = (longest * max(side / max(shape), SHORTEST_SIDE) for side in shape)
    return width, height


def drawn_inches(figure: Figure, axes: Axes, plane: Plane) -> Size:
    """About how large the plane is drawn in a figure made here, which is laid out when it is
    written.
    """
    place = axes.get_subplotspec()
    assert place is not None
    grid = place.get_gridspec()
    figure_width, figure_height = figure.get_size_inches()
    width = figure_width / grid.ncols - MARGIN_INCHES[0]
    height = (figure_height - HEADING_INCHES) / grid.nrows - MARGIN_INCHES[1]
    if keeps_shape(plane):
        across, up = _extent(plane)
        width, height = min(width, height * across / up), min(height, width * up / across)
    return max(width, 0.1), max(height, 0.1)


def keeps_shape(plane: Plane) -> bool:
    """Whether a square is drawn as a square."""
    shape = _extent(plane)
    return plane.keeps_shape and min(shape) >= THINNEST * max(shape)


def _extent(plane: Plane) -> Size:
    x, y = (plane.x.edges, plane.y.edges) if plane.corners is None else plane.corners
    return float(np.ptp(x)), float(np.ptp(y))


def panels(
    drawings: Sequence[Drawing], heading: str, size: Size | None
) -> tuple[Figure, list[Axes]]:
    """Room for each drawing, in rows of the number that suits their shape."""
    longest = (
        PANEL_INCHES if len(drawings) < 3 else PANEL_INCHES * (0.75 if len(drawings) < 5 else 0.6)
    )
    inches = [panel_inches(drawing, longest) for drawing in drawings]
    width, height = (max(side) for side in zip(*inches, strict=True))
    columns = _columns(len(drawings), width + MARGIN_INCHES[0], height + MARGIN_INCHES[1])
    return arranged(len(drawings), columns, (width, height), heading, size)


def arranged(
    count: int, columns: int, panel: Size, heading: str, size: Size | None
) -> tuple[Figure, list[Axes]]:
    """`count` panels of that size in inches, in rows of `columns`."""
    rows = -(-count // columns)
    whole = (
        (panel[0] + MARGIN_INCHES[0]) * columns,
        (panel[1] + MARGIN_INCHES[1]) * rows + HEADING_INCHES,
    )
    figure = new_figure(size or whole)
    figure.suptitle(shown_lines(heading), fontsize=11)
    axes = [figure.add_subplot(rows, columns, i + 1) for i in range(count)]
    return figure, axes


def _columns(count: int, width: float, height: float) -> int:
    """That which makes the whole neither too wide nor too high."""

    def is_off(columns: int) -> tuple[float, int]:
        rows = -(-count // columns)
        shape = columns * width / (rows * height)
        return abs(float(np.log(shape / WIDEST))) + 0.3 * (rows * columns - count), columns

    return min(range(1, count + 1), key=is_off)
