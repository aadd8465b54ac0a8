# SPDX-License-Identifier: BSD-3-Clause
"""What plotfiles, levels, fields and slices show of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ._errors import Error
from ._hierarchy import Box, Source
from ._tables import Table, as_html, as_text, bound_text, counted, size_text

if TYPE_CHECKING:
    from .plotfile import Field, Level, Plotfile, Slice


def _bound(source: Source, level: int, component: int) -> str:
    """Nothing of a file that is closed, damaged there, or records none."""
    try:
        return bound_text(source.bound_abs(level, component))
    except (Error, OSError, ValueError, RuntimeError):
        return ""


def _cells(boxes: Sequence[Box]) -> int:
    return sum(box.cells for box in boxes)


def _values_bytes(source: Source) -> int:
    cells = sum(_cells(level.boxes) for level in source.levels)
    return cells * len(source.components) * source.dtype.itemsize


def _corners(box: Box) -> str:
    return f"{tuple(box.lo)} .. {tuple(box.hi)}".replace(",)", ")")


def _spacing(dx: Sequence[float]) -> str:
    return " ".join(f"{d:.4g}" for d in dx[:1] if len(set(dx)) == 1) or " ".join(
        f"{d:.4g}" for d in dx
    )


def _sizes(source: Source, path: Path) -> str:
    """Of the values, and of the file that holds them; a folder is not looked through."""
    raw = _values_bytes(source)
    if not path.is_file():
        return f"{size_text(raw)} of values"
    stored = path.stat().st_size
    ratio = f", ratio {raw / stored:.2f}" if stored else ""
    return f"{size_text(raw)} of values in {size_text(stored)}{ratio}"


def _plotfile_head(plotfile: Plotfile, source: Source) -> str:
    return (
        f"<neve plotfile {plotfile.path.name!r} ({plotfile.kind}): {plotfile.dims}D, "
        f"{plotfile.dtype}, time {plotfile.time:g}, {counted(len(plotfile), 'level')}, "
        f"{counted(len(plotfile.components), 'field')}; {_sizes(source, plotfile.path)}>"
    )


def _level_table(plotfile: Plotfile) -> Table:
    rows = [
        (
            str(level.index),
            f"{len(level.boxes):,}",
            f"{_cells(level.boxes):,}",
            _corners(level.domain),
            _spacing(level.dx),
        )
        for level in plotfile
    ]
    return Table(("level", "boxes", "cells", "domain", "cell size"), rows)


def _bound_table(source: Source, levels: Sequence[int]) -> Table:
    """A row a field, with its bound on each level."""
    rows = [
        (name, *(_bound(source, level, number) for level in levels))
        for number, name in enumerate(source.components)
    ]
    heads = tuple(f"bound, level {level}" for level in levels)
    if not any(cell for row in rows for cell in row[1:]):  # an AMReX plotfile, for one
        return Table(("field",), [row[:1] for row in rows])
    return Table(("field", *heads), rows)


def plotfile_text(plotfile: Plotfile, source: Source) -> str:
    bounds = _bound_table(source, range(len(source.levels)))
    head = as_text(_plotfile_head(plotfile, source), _level_table(plotfile))
    return as_text(head, bounds)


def plotfile_html(plotfile: Plotfile, source: Source) -> str:
    bounds = _bound_table(source, range(len(source.levels)))
    return as_html(_plotfile_head(plotfile, source), _level_table(plotfile)) + as_html("", bounds)


def _level_head(level: Level) -> str:
    return (
        f"<neve level {level.index}: {counted(len(level.boxes), 'box', 'boxes')}, "
        f"{_cells(level.boxes):,} cells, domain {_corners(level.domain)}, "
        f"cell size {_spacing(level.dx)}, {counted(len(level), 'field')}>"
    )


def level_text(level: Level, source: Source) -> str:
    return as_text(_level_head(level), _bound_table(source, [level.index]))


def level_html(level: Level, source: Source) -> str:
    return as_html(_level_head(level), _bound_table(source, [level.index]))


def field_text(field: Field, source: Source, level: int, component: int) -> str:
    cells = _cells(field.boxes)
    bound = _bound(source, level, component)
    told = f", bound {bound}" if bound else ""
    return (
        f"<neve field {field.name!r} of level {level}: "
        f"{counted(len(field), 'box', 'boxes')}, {cells:,} cells, {source.dtype}, "
        f"{size_text(cells * source.dtype.itemsize)}{told}>"
    )


def slice_text(plane: Slice) -> str:
    shape = " x ".join(map(str, plane.values.shape))
    finite = plane.values[np.isfinite(plane.values)]
    values = f"{finite.min():.6g} .. {finite.max():.6g}" if finite.size else "no finite values"
    shown = sorted(int(level) for level in np.unique(plane.levels) if level >= 0)
    return (
        f"<neve slice {plane.axis} = {plane.coord:g}: {shape} cells along "
        f"{', '.join(plane.axes)} at the resolution of level {plane.level}, from "
        f"{counted(len(plane.outlines), 'box', 'boxes')} of levels "
        f"{', '.join(map(str, shown)) or 'none'}; {values}>"
    )
