# SPDX-License-Identifier: BSD-3-Clause
"""Figures of fields, and of what a copy's error is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._errors import Error
from ._amr_source import AmrSource
from ._borders import INTERIOR, BorderErrors
from ._colours import Extent, extent_of, norm_of
from ._compare import Worst, bounds_of, check_alike, error_of, reach_of, worst_of
from ._drawing import Drawing, Line, Plane
from ._figure import arranged, panel_inches, panels
from ._panel import ERROR_OUTLINES, FIELD_OUTLINES, draw_line, draw_panel
from ._sources import PlotSource
from ._view import View, draw, fields_of, heading_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

ERROR_MAP = "RdBu_r"
COMPARED_INCHES = 4.6  # the longer side of a panel of a comparison
LONGEST_TITLE = 44  # characters in one line


@dataclass(frozen=True)
class Picture:
    figure: Figure
    fields: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what is not drawn, and why
    told: tuple[str, ...] = ()  # what has been found out, a line each


def title_of(drawing: Drawing) -> str:
    if not drawing.where:
        return drawing.field
    is_long = len(drawing.field) + len(drawing.where) > LONGEST_TITLE
    return f"{drawing.field}{chr(10) if is_long else '   '}({drawing.where})"


def draw_fields(
    source: PlotSource,
    asked: str | Sequence[str] | None,
    view: View,
    extents: dict[str, Extent] | None = None,
) -> Picture:
    """A panel for each field. `extents`: what their scales cover, if it is not theirs alone."""
    fields, notes = fields_of(source, asked)
    drawings = [draw(source, field, fields, view) for field in fields]
    figure, axes = panels(drawings, heading_of(source), view.size)
    known = [(extents or {}).get(d.field) or extent_of([d.values]) for d in drawings]
    if all(extent.is_empty for extent in known):
        raise Error(f"{source.path}: no finite value lies in {title_of(drawings[0])}")
    for place, drawing, extent in zip(axes, drawings, known, strict=True):
        if extent.is_empty:
            notes.append(f"{drawing.field}: no finite value lies there")
        norm = norm_of(extent, view.scale, drawing.field, drawing.may_be_log)
        title = title_of(drawing)
        draw_one(figure, place, drawing, title, norm, view.scale.cmap, extent.is_empty)
    notes += [note for drawing in drawings for note in drawing.notes]
    return finished(figure, fields, notes)


def draw_one(
    figure: Figure,
    axes: Axes,
    drawing: Drawing,
    title: str,
    norm: Normalize,
    cmap: str,
    is_empty: bool = False,
) -> None:
    if isinstance(drawing, Line):
        draw_line(axes, drawing, title, norm)
        return
    draw_panel(
        figure, axes, drawing, title, FIELD_OUTLINES, cmap=cmap, norm=norm, is_empty=is_empty
    )


def finished(
    figure: Figure, fields: Sequence[str], notes: Sequence[str], told: Sequence[str] = ()
) -> Picture:
    """Notes stand below the panels, too."""
    notes = list(dict.fromkeys(notes))
    if notes:
        figure.supxlabel("\n".join(notes), fontsize=7)
    return Picture(figure, tuple(fields), tuple(notes), tuple(told))


@dataclass(frozen=True)
class _Pair:
    """One field of an original and its copy."""

    original: Drawing
    copy: Drawing
    error: Drawing
    worst: Worst
    borders: BorderErrors | None  # where they are drawn


def draw_against(
    copy: PlotSource, original: PlotSource, asked: str | Sequence[str] | None, view: View
) -> Picture:
    """The copy's fields, each with its error beside it."""
    pairs, notes = _pairs(copy, original, asked, view, is_short=True)
    return _draw_rows(pairs, notes, heading_of(copy), view, is_short=True)


def draw_compared(
    original: PlotSource, copy: PlotSource, asked: str | Sequence[str] | None, view: View
) -> Picture:
    """Original, copy and error of each field; of AMR files also errors by the distance from the
    borders of boxes and levels.
    """
    pairs, notes = _pairs(copy, original, asked, view, is_short=False)
    heading = f"{heading_of(original)}   and its copy {copy.path.name}"
    return _draw_rows(pairs, notes, heading, view, is_short=False)


def _pairs(
    copy: PlotSource,
    original: PlotSource,
    asked: str | Sequence[str] | None,
    view: View,
    is_short: bool,
) -> tuple[list[_Pair], list[str]]:
    check_alike(copy, original)
    fields, notes = fields_of(copy, asked)
    if asked is None:
        fields, notes = fields[:1], []
        count = len(copy.first_fields())
        if count > 1:
            notes = [f"{fields[0]} is compared, of {count} fields; --field NAME compares others"]
    pairs = []
    for field in fields:
        theirs = _name_in(original, copy, field)
        mine = draw(copy, field, fields, view)
        other = draw(original, theirs, fields if theirs == field else [theirs], view)
        error = error_of(mine, other)
        level = mine.level if isinstance(mine, Plane) else _last_level(copy, view)
        borders = None if is_short else _borders(copy, field, level)
        worst = worst_of(copy, original, (field, theirs), level, borders)
        pairs.append(_Pair(other, mine, error, worst, borders))
        notes += [*error.notes, *([worst.broken()] if worst.broken() else [])]
    return pairs, notes


def _borders(copy: PlotSource, field: str, last: int) -> BorderErrors | None:
    if not isinstance(copy, AmrSource):
        return None
    bounds = bounds_of(copy, field, last)
    return BorderErrors(copy.plotfile, last, bounds if _divides(bounds) else (1.0,) * (last + 1))


def _divides(bounds: Sequence[float]) -> bool:
    """Bounds are what errors are compared to, if there are some and none is 0."""
    return bool(bounds) and min(bounds) > 0


def _last_level(copy: PlotSource, view: View) -> int:
    if not isinstance(copy, AmrSource):
        return 0
    return len(copy.plotfile) - 1 if view.place.level is None else view.place.level


def _name_in(original: PlotSource, copy: PlotSource, field: str) -> str:
    """The field's name in the other file: where both hold one array, names do not matter."""
    if field not in original.fields() and len(original.fields()) == len(copy.fields()) == 1:
        return original.fields()[0]
    return field


def _draw_rows(
    pairs: Sequence[_Pair], notes: Sequence[str], heading: str, view: View, is_short: bool
) -> Picture:
    """A row of panels for each pair; one pair alone in as many rows as suit."""
    has_borders = pairs[0].borders is not None
    count = 2 if is_short else 4 if has_borders else 3
    if len(pairs) == 1:
        pair = pairs[0]
        shown = [pair.copy, pair.error, pair.original, pair.error][:count]
        figure, axes = panels(shown, heading, view.size)
    else:
        panel = panel_inches(pairs[0].copy, COMPARED_INCHES)
        figure, axes = arranged(count * len(pairs), count, panel, heading, view.size)
    for row, pair in enumerate(pairs):
        mine = axes[row * count : (row + 1) * count]
        _draw_row(figure, mine, pair, view, is_short)
        if pair.borders is not None:
            _draw_borders(mine[3], pair.borders, _divides(pair.worst.bounds))
    told = [pair.worst.text(pair.copy.field).replace("\n", "; ") for pair in pairs]
    return finished(figure, [pair.copy.field for pair in pairs], notes, told)


def _draw_row(
    figure: Figure, axes: Sequence[Axes], pair: _Pair, view: View, is_short: bool
) -> None:
    from matplotlib.colors import Normalize

    shown = [("original: ", pair.original), ("copy: ", pair.copy)]
    shown = [("", pair.copy)] if is_short else shown
    extent = extent_of([drawing.values for _, drawing in shown])
    norm = norm_of(extent, view.scale, pair.copy.field, pair.copy.may_be_log)
    for place, (word, drawing) in zip(axes, shown, strict=False):
        draw_one(figure, place, drawing, word + title_of(drawing), norm, view.scale.cmap)
    title = pair.worst.text(pair.copy.field)
    reach = reach_of(pair.error)
    scale = Normalize(-reach, reach)
    place = axes[len(shown)]
    if isinstance(pair.error, Line):
        draw_line(place, pair.error, title, scale)
        place.set_ylabel("error")
    else:
        draw_panel(figure, place, pair.error, title, ERROR_OUTLINES, cmap=ERROR_MAP, norm=scale)


def _draw_borders(axes: Axes, borders: BorderErrors, by_bound: bool) -> None:
    distance = np.arange(INTERIOR + 1)
    names = ("border of a box", "border of a level")
    styles = (("#1f77b4", 7), ("#d62728", 4))  # colour, and size of markers that may coincide
    for name, curve, (colour, size) in zip(names, borders.curves(), styles, strict=True):
        if not curve.cells[:INTERIOR].any():
            continue  # one level on all of the domain has no border
        for values, line, word in ((curve.worst, "--", "largest"), (curve.rms, "-", "rms")):
            axes.plot(
                *(distance, values, line),
                color=colour,
                marker="o",
                markersize=size,
                label=f"{word}, {name}",
            )
    axes.set_xticks(distance, [*map(str, distance[:-1]), f"{INTERIOR} and more"])
    axes.set_xlabel("distance from the border, cells")
    axes.set_ylabel("error / bound" if by_bound else "error")
    axes.set_ylim(bottom=0)
    axes.set_title("errors beside borders and in the interior", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
