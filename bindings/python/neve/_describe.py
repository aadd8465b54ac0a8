# SPDX-License-Identifier: BSD-3-Clause
"""What plotfiles, levels, fields and slices show of themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import Error
from ._hierarchy import Box, Source
from ._tables import Table, as_html, as_text, bound_text, counted, size_text


def _bound(source: Source, level: int, component: int) -> str:
    """Nothing of a file that is closed, damaged there, or records none."""
    try:
        return bound_text(source.bound_abs(level, component))
    except (Error, OSError, ValueError, RuntimeError):
        return ""


def _cells(boxes: Sequence[Box]) -> int:
    return sum(math.prod(box.shape) for box in boxes)


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


def _plotfile_head(source: Source, path: Path) -> str:
    return (
        f"<neve plotfile {path.name!r} ({source.kind}): {source.dims}D, {source.dtype}, "
        f"time {source.time:g}, {counted(len(source.levels), 'level')}, "
        f"{counted(len(source.components), 'field')}; {_sizes(source, path)}>"
    )


def _level_table(source: Source) -> Table:
    rows = [
        (
            str(number),
            f"{len(level.boxes):,}",
            f"{_cells(level.boxes):,}",
            _corners(level.domain),
            _spacing(level.dx),
        )
        for number, level in enumerate(source.levels)
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


def plotfile_text(source: Source, path: Path) -> str:
    head = as_text(_plotfile_head(source, path), _level_table(source))
    return as_text(head, _bound_table(source, range(len(source.levels))))


def plotfile_html(source: Source, path: Path) -> str:
    bounds = _bound_table(source, range(len(source.levels)))
    return as_html(_plotfile_head(source, path), _level_table(source)) + as_html("", bounds)


def _level_head(source: Source, number: int) -> str:
    level = source.levels[number]
    return (
        f"<neve level {number}: {counted(len(level.boxes), 'box', 'boxes')}, "
        f"{_cells(level.boxes):,} cells, domain {_corners(level.domain)}, "
        f"cell size {_spacing(level.dx)}, {counted(len(source.components), 'field')}>"
    )


def level_text(source: Source, number: int) -> str:
    return as_text(_level_head(source, number), _bound_table(source, [number]))


def level_html(source: Source, number: int) -> str:
    return as_html(_level_head(source, number), _bound_table(source, [number]))


def field_text(source: Source, level: int, component: int) -> str:
    boxes = source.levels[level].boxes
    bound = _bound(source, level, component)
    told = f", bound {bound}" if bound else ""
    return (
        f"<neve field {source.components[component]!r} of level {level}: "
        f"{counted(len(boxes), 'box', 'boxes')}, {_cells(boxes):,} cells, {source.dtype}, "
        f"{size_text(_cells(boxes) * source.dtype.itemsize)}{told}>"
    )


def field_html(source: Source, level: int, component: int) -> str:
    return as_html(field_text(source, level, component), Table((), ()))


def range_text(values: npt.NDArray[Any]) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min():.6g} .. {finite.max():.6g}" if finite.size else "no finite values"
