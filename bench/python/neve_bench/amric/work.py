# SPDX-License-Identifier: BSD-3-Clause
"""Measuring a unit: in a worker's process, which keeps the last field that it has read."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neve
from neve import _core
from neve._errors import Error

from .. import amr
from ..amr import hierarchy as hierarchies
from ..amr.catalog import way
from ..amr.equal_ratio import at_ratio
from ..amr.measure import measure as measure_way
from ..amr.ranks import ranks_with_cells
from ..amr.subject import Subject
from ..amr.subject import subject as subject_of
from ..amr.units import fitting_side
from ..amr.way import NotPossible
from ..programs import mpirun, output_of
from . import drawing, ways
from .requests import Look, Panels, Plane, Point, Writes, from_json

Record = dict[str, Any]
WRITES_LIMIT_SECONDS = 900
UNITS = (64, 32, 16, 8, 4, 2, 1)  # sides of blocks that may tile the boxes


@functools.cache
def version() -> str:
    """Another one where the same request may give other numbers."""
    digest = hashlib.sha256(neve.__version__.encode())
    drawn_by = Path(drawing.__file__)
    sources = sorted([*Path(amr.__file__).parent.rglob("*.py"), drawn_by, Path(__file__)])
    for source in [*sources, Path(_core.__file__)]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:24]


def measure(request: dict[str, Any], paths: dict[str, str]) -> Record:
    """The record of a unit. What it cannot do is told in it, without a path of the machine."""
    asked = from_json(request)
    path = Path(paths["file"])
    try:
        result = _BY_KIND[type(asked)](asked, path, paths)
        return {"error": None, "result": result}
    except NotPossible as reason:
        return {"error": None, "result": {"not_possible": str(reason)}}
    except Exception as error:  # costs this unit only
        text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        return {"error": _without_paths(text, paths), "result": None}


def look(_: Look, path: Path, __: dict[str, str]) -> Record:
    with neve.open(path) as source:
        fields = list(source.components)
        time = source.time
        lows, shape, dx = source.prob_lo, source.levels[0].domain.shape, source.levels[0].dx
        sides = [[float(lows[d]), float(lows[d] + shape[d] * dx[d])] for d in range(source.dims)]
    ends: dict[str, list[tuple[float, float]]] = {}
    for field in fields:
        hierarchy = hierarchies.load(path, [field])
        ends[field] = [level.ends_of(field) for level in hierarchy.levels]
    held = subject_of(hierarchy, fields[-1], 1e-3, "uncovered")
    return {
        "dims": hierarchy.dims,
        "sides": sides,  # of the domain, [least, largest] coordinate of each direction
        "dtype": hierarchy.dtype.name,
        "time": time if math.isfinite(time) else None,
        "raw_bytes": len(fields) * sum(part.raw_bytes for part in held.parts),
        "ends": ends,
        "levels": [
            {
                "level": part.number,
                "grid": list(part.domain.shape),
                "boxes": len(part.boxes),
                "cells": part.cells,
                "held_cells": part.held_cells,
                "density": part.held_cells / part.domain.cells,
                "unit": _unit_of(part.boxes),
                "boxes_that_hold": {
                    str(unit): sum(min(box.shape) >= unit for box in part.boxes)
                    for unit in ways.UNITS
                },
                "auto_unit": fitting_side(part),  # that amric's unit=auto takes
            }
            for part in held.parts
        ],
    }


def _unit_of(boxes) -> int:
    """The largest unit block that tiles every box."""
    corners = [n for box in boxes for n in (*box.lo, *box.shape)]
    return next(unit for unit in UNITS if all(n % unit == 0 for n in corners))


def point(asked: Point, path: Path, _: dict[str, str]) -> Record:
    subject = _subject(path, asked.field, asked.rel, asked.cells)
    by = way(asked.way)
    row = measure_way(by, subject).row
    if by.ranks > 1:
        for level, part in zip(row["levels"], subject.parts, strict=True):
            level["ranks_with_cells"] = ranks_with_cells(part, by.ranks)
    return _plain(row)


@functools.lru_cache(maxsize=1)
def _hierarchy(path: Path, field: str) -> hierarchies.Hierarchy:
    return hierarchies.load(path, [field])


@functools.lru_cache(maxsize=2)
def _subject(path: Path, field: str, rel: float, cells: str) -> Subject:
    return subject_of(_hierarchy(path, field), field, rel, cells)


def _plain(row: Record) -> Record:
    """What JSON can hold: Python's own numbers."""
    return json.loads(json.dumps(row, default=lambda number: number.item()))


def panels(asked: Panels, path: Path, _: dict[str, str]) -> Record:
    subject = _subject(path, asked.field, asked.rel, asked.cells)
    if asked.rels:
        subject = _subject(path, asked.field, asked.rels[0], asked.cells)
    first = measure_way(way(asked.ways[0]), subject)
    found = [(asked.ways[0], subject, first)]
    for place, text in enumerate(asked.ways[1:], 1):
        if asked.is_at_equal_ratio:
            hierarchy, wanted = _hierarchy(path, asked.field), first.row["ratio"]
            near = at_ratio(way(text), hierarchy, asked.field, asked.cells, wanted, asked.rel)
            found.append((text, *near))
        else:
            rel = asked.rels[place] if asked.rels else asked.rel
            own = _subject(path, asked.field, rel, asked.cells)
            found.append((text, own, measure_way(way(text), own)))
    png, numbers = drawing.panels(_hierarchy(path, asked.field), asked, found)
    return {
        "png": base64.b64encode(png).decode(),
        "ways": [
            {
                "way": text,
                "rel": own.rel,
                "ratio": measured.row["ratio"],
                "psnr_db": measured.row["psnr_db"],
                **of_way,
            }
            for (text, own, measured), of_way in zip(found, numbers, strict=True)
        ],
    }


def plane(asked: Plane, path: Path, _: dict[str, str]) -> Record:
    png = drawing.plane(path, asked.field, asked.axis, asked.at)
    return {"png": base64.b64encode(png).decode()}


def writes(asked: Writes, path: Path, paths: dict[str, str]) -> Record:
    scratch = Path(paths["scratch"])
    scratch.mkdir(exist_ok=True)
    found = scratch / "layouts.json"
    found.unlink(missing_ok=True)
    words = [paths["neve-bench"], "layouts", str(path), "--ways", ",".join(asked.ways)]
    words += ["--rel", repr(asked.rel), "--repeats", str(asked.repeats)]
    words += ["--fields", ",".join(asked.fields), "--folder", str(scratch), "--json", str(found)]
    try:
        output_of([*mpirun(asked.ranks), *words], WRITES_LIMIT_SECONDS)
    except Error:
        # A way that fails has its error in the figures of all; without figures nothing was done.
        if not found.is_file():
            raise
    text = _without_paths(found.read_text(), paths)
    result = json.loads(text)
    return {"ranks": result["ranks"], "unit": result["unit"], "rows": result["rows"]}


def _without_paths(text: str, paths: dict[str, str]) -> str:
    for place in paths.values():
        text = text.replace(place, Path(place).name)
    return text


_BY_KIND: dict[type, Callable[[Any, Path, dict[str, str]], Record]] = {
    Look: look,
    Point: point,
    Panels: panels,
    Plane: plane,
    Writes: writes,
}
