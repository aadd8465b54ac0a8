# SPDX-License-Identifier: BSD-3-Clause
"""Planes through decoded hierarchies: errors of several ways beside each other (figures 6, 9 and 15
of the AMRIC paper), and the original beside what ways make of it (its figure 10). They are written
by neve._picture.write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neve._errors import Error
from neve.plot._amr_source import AmrSource
from neve.plot._colours import Scale, extent_of, norm_of
from neve.plot._drawing import Axis, Masked, Plane, finite
from neve.plot._figure import arranged, panel_inches
from neve.plot._panel import ERROR_OUTLINES, draw_panel
from neve.plot._place import Place

from .. import report
from .artifact import artifact
from .decoded_source import plotfile_of
from .hierarchy import Hierarchy
from .measure import Measured
from .subject import Subject
from .way import Levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

MIDDLE = Place()
PANEL_INCHES = 4.6  # the longer side
TITLE_INCHES = 0.35  # of its lines after the first
FIELDS = "viridis"
BORDERS = "#ff4d4d"  # between levels
ERRORS = "Blues"
PERCENTILE = 99  # of the errors of the ways that are to be compared: few cells have larger ones
SPAN_OF_BEST = 3  # colours of errors end at this many times the best way's largest
ZOOM = 4  # times as large is the part where the artifact is largest
Window = tuple[slice, slice]  # rows and columns of a plane's values


@dataclass(frozen=True)
class Shown:
    """A way in a picture. Each may have a bound of its own, as at equal ratio."""

    label: str
    subject: Subject
    measured: Measured


def plane_of(
    hierarchy: Hierarchy, subject: Subject, values: Levels | None, place: Place = MIDDLE
) -> Plane:
    """All levels at the resolution of the finest; `values` None: the original ones. neve.Error
    where there is no such plane.
    """
    source = AmrSource(plotfile_of(hierarchy, subject, values))
    drawing = source.draw(subject.field, place)
    if not isinstance(drawing, Plane):
        raise Error(f"{hierarchy.name}: what is left is a line; a picture needs a plane of cells")
    return drawing


def error_slices(
    hierarchy: Hierarchy,
    shown: Sequence[Shown],
    place: Place = MIDDLE,
    compared: int | None = None,
) -> Figure:
    """|error| of several ways on one scale: that of the first `compared`, to see which of them errs
    more; None: that of the best, so that the others do not pale it.
    """
    original = plane_of(hierarchy, shown[0].subject, None, place)
    errors = [_absolute(_error(original, hierarchy, one, place)) for one in shown]
    norm = _norm_of_errors([error.values for error in errors], compared)
    heading = f"{_heading(hierarchy, original)}: |error|, colours end at {norm.vmax:.3g}"
    figure, axes = arranged(len(shown), len(shown), _panel(original), heading, None)
    for one, error, panel_axes in zip(shown, errors, axes, strict=True):
        draw_panel(figure, panel_axes, error, _title(one), ERROR_OUTLINES, cmap=ERRORS, norm=norm)
    return figure


def side_by_side(
    hierarchy: Hierarchy,
    shown: Sequence[Shown],
    place: Place = MIDDLE,
    compared: int | None = None,
) -> Figure:
    """A row: the original, then what each way makes of it, with the borders between levels dotted
    and one scale of colours. Below it the part where an artifact is largest, and there |error|, on
    a scale as that of error_slices.
    """
    original = plane_of(hierarchy, shown[0].subject, None, place)
    decoded = [plane_of(hierarchy, s.subject, s.measured.values, place) for s in shown]
    signed = [_difference(original, plane) for plane in decoded]
    errors = [_absolute(plane) for plane in signed]
    columns = 1 + len(shown)
    heading = _heading(hierarchy, original)
    figure, axes = arranged(3 * columns, columns, _panel(original), heading, None)
    norm = norm_of(extent_of([original.values]), Scale(), original.field, original.may_be_log)
    titles = ["original", *map(_title_with_artifact, shown)]
    for panel_axes, plane, title in zip(axes, [original, *decoded], titles, strict=False):
        _draw(figure, panel_axes, plane, title, FIELDS, norm)

    window = _largest_artifact(shown, signed)
    for panel_axes, plane in zip(axes[columns:], [original, *decoded], strict=False):
        _draw(figure, panel_axes, plane, "", FIELDS, norm, window)
    axes[2 * columns].set_visible(False)  # the original has no error
    norm = _norm_of_errors([error.values[window] for error in errors], compared)
    for panel_axes, error in zip(axes[2 * columns + 1 :], errors, strict=True):
        _draw(figure, panel_axes, error, "|error|", ERRORS, norm, window)
    return figure


def _draw(
    figure: Figure,
    axes: Axes,
    plane: Plane,
    title: str,
    cmap: str,
    norm: Normalize,
    window: Window | None = None,
) -> None:
    """With dotted borders between levels, instead of the outlines of boxes."""
    draw_panel(figure, axes, replace(plane, outlines=()), title, (), cmap=cmap, norm=norm)
    _draw_borders(axes, plane)
    if window is not None:
        down, across = window
        axes.set_xlim(plane.x.edges[across.start], plane.x.edges[across.stop])
        axes.set_ylim(plane.y.edges[down.start], plane.y.edges[down.stop])


def _panel(plane: Plane) -> tuple[float, float]:
    width, height = panel_inches(plane, PANEL_INCHES)
    return width, height + TITLE_INCHES


def _heading(hierarchy: Hierarchy, plane: Plane) -> str:
    return f"{hierarchy.name}: {plane.field}, {plane.where}"


def _title(one: Shown) -> str:
    row = one.measured.row
    psnr = report.number(row["psnr_db"])
    return f"{one.label}\nratio {report.number(row['ratio'])}, PSNR {psnr} dB"


def _title_with_artifact(one: Shown) -> str:
    found = artifact(one.subject, one.measured.values)
    if found["border_faces"] == 0:
        return _title(one)
    band, jump = report.number(found["band"]), report.number(found["jump"])
    return f"{_title(one)}\nat level borders: error x {band}, jump x {jump}"


def _error(original: Plane, hierarchy: Hierarchy, one: Shown, place: Place) -> Plane:
    return _difference(original, plane_of(hierarchy, one.subject, one.measured.values, place))


def _difference(original: Plane, decoded: Plane) -> Plane:
    error = decoded.values.astype(np.float64) - original.values.astype(np.float64)
    return replace(decoded, values=np.ma.masked_invalid(error), may_be_log=False)


def _absolute(error: Plane) -> Plane:
    return replace(error, values=np.ma.abs(error.values))


def _norm_of_errors(errors: Sequence[Masked], compared: int | None) -> Normalize:
    from matplotlib.colors import Normalize

    if compared is not None:
        there = [found for error in errors[:compared] if (found := finite(error)).size]
        return Normalize(0, max((np.percentile(e, PERCENTILE) for e in there), default=0) or 1.0)
    largest = [float(finite(error).max(initial=0.0)) for error in errors]
    return Normalize(0, min(max(largest), SPAN_OF_BEST * min(largest)) or max(largest) or 1.0)


def _largest_artifact(shown: Sequence[Shown], errors: Sequence[Plane]) -> Window:
    """Around the largest jump of the error from level to level, in units of the levels' bounds;
    where the plane has no borders, around the largest error.
    """
    best, middle = -1.0, (0, 0)
    for one, plane in zip(shown, errors, strict=True):
        error = _in_bounds(one.subject, plane)
        jumps = _jumps(error, _levels(plane))
        if not (jumps > 0).any():
            jumps = np.abs(error)
        where = np.unravel_index(int(np.argmax(jumps)), jumps.shape)
        if jumps[where] > best:
            best, middle = float(jumps[where]), (int(where[0]), int(where[1]))
    rows, columns = errors[0].values.shape
    return _around(middle[0], rows), _around(middle[1], columns)


def _around(at: int, count: int) -> slice:
    width = max(1, count // ZOOM)
    begin = min(max(at - width // 2, 0), count - width)
    return slice(begin, begin + width)


def _levels(plane: Plane) -> np.ndarray:
    assert plane.levels is not None
    return plane.levels


def _in_bounds(subject: Subject, plane: Plane) -> np.ndarray:
    """Errors in units of their level's bound; 0 where there is none."""
    unit = np.array([part.bound_abs or 1.0 for part in subject.parts])
    return np.ma.filled(plane.values, 0.0) / unit[np.maximum(_levels(plane), 0)]


def _jumps(error: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """In each cell, the difference from the neighbours after it that are of another level."""
    found = np.zeros(error.shape)
    for axis in (0, 1):
        is_border = np.diff(levels, axis=axis) != 0
        is_border &= np.minimum(*_neighbours(levels, axis)) >= 0
        jump = np.where(is_border, np.abs(np.diff(error, axis=axis)), 0.0)
        here = _neighbours(found, axis)[0]
        np.maximum(here, jump, out=here)
    return found


def _neighbours(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Views: all but the last, and all but the first."""
    return (values[:-1], values[1:]) if axis == 0 else (values[:, :-1], values[:, 1:])


def _draw_borders(axes: Axes, plane: Plane) -> None:
    from matplotlib.collections import LineCollection

    levels = _levels(plane)
    across = _lines(levels[:, 1:] != levels[:, :-1], plane.x, plane.y)
    along = _lines((levels[1:] != levels[:-1]).T, plane.y, plane.x)
    lines = [*across, *(line[:, ::-1] for line in along)]
    axes.add_collection(
        LineCollection(lines, colors=BORDERS, linestyles="dotted", linewidths=1.2), autolim=False
    )


def _lines(is_border: np.ndarray, across: Axis, along: Axis) -> list[np.ndarray]:
    """Of is_border[n, m], between columns m and m + 1 of row n: a line for each run of rows."""
    found = []
    for column in np.flatnonzero(is_border.any(axis=0)):
        padded = np.concatenate([[False], is_border[:, column], [False]])
        ends = np.flatnonzero(np.diff(padded.astype(np.int8)))
        at = across.edges[column + 1]
        for begin, end in ends.reshape(-1, 2):
            found.append(np.array([[at, along.edges[begin]], [at, along.edges[end]]]))
    return found
