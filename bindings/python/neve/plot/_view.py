# SPDX-License-Identifier: BSD-3-Clause
"""How to look at files: everything that a caller may ask for beside which files and fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._errors import Error
from .._listed import listed
from ._colours import Scale
from ._drawing import Drawing, Plane
from ._figure import DPI, Size
from ._place import Place
from ._sources import PlotSource

MOST_PANELS = 9  # of fields that nobody has named
MOST_PIXELS = 1 << 28
At = Mapping[str, float | str] | None


@dataclass(frozen=True)
class View:
    place: Place
    scale: Scale
    outlines: bool = True
    size: Size | None = None
    dpi: float = DPI
    follow_external: bool = False


def view(
    *,
    axis: str | None,
    coord: float | None,
    at: At,
    index: Mapping[str, int] | None,
    level: int | None,
    outlines: bool,
    log: bool | None,
    value_range: tuple[float, float] | None,
    cmap: str,
    size: Size | None,
    dpi: float,
    follow_external: bool,
) -> View:
    """From the keywords of the public functions. neve.Error names what is impossible."""
    scale = Scale(log, value_range, cmap)
    scale.check()
    if not 10 <= dpi <= 2400:
        raise Error(f"dpi is {dpi:g}; 10 to 2400 are allowed")
    if size is not None:
        if not (len(size) == 2 and all(np.isfinite(s) and 1 <= s <= 200 for s in size)):
            raise Error(f"size {size}: allowed are width and height of 1 to 200 inches")
        if size[0] * size[1] * dpi * dpi > MOST_PIXELS:
            raise Error(f"size {size} at {dpi:g} dpi: {MOST_PIXELS} pixels are allowed")
    place = Place(axis, coord, at or {}, index or {}, level)
    return View(place, scale, outlines, size, dpi, follow_external)


def fields_of(source: PlotSource, asked: str | Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The fields to draw, and notes. A name with commas is one field where there is such a field,
    else several.
    """
    if asked is None:
        first = source.first_fields()
        if len(first) <= MOST_PANELS:
            return first, []
        others = listed(first[MOST_PANELS:], MOST_PANELS)
        note = (
            f"{MOST_PANELS} of {len(first)} fields are drawn; --field NAME draws others: {others}"
        )
        return first[:MOST_PANELS], [note]
    words = [asked] if isinstance(asked, str) else list(asked)
    if not words:
        raise Error("no field is named; leave field out for all, or name one")
    fields: list[str] = []
    for word in words:
        is_one = "," not in word or source.name_of(word) is not None
        fields += [word] if is_one else word.split(",")
    return [source.name_of(field) or field for field in fields], []


def draw(source: PlotSource, field: str, fields: Sequence[str], view: View) -> Drawing:
    """One of several fields. Of the places that are asked for it has those of its dimensions; one
    that none of the fields has is an error.
    """
    place = view.place
    if len(fields) > 1:
        mine = set(source.dimensions(field))
        any_of = {name for other in fields for name in source.dimensions(other)}
        skipped = {name for name in place.cuts("z") if name in any_of - mine}
        place = Place(
            None if place.axis in skipped else place.axis,
            None if place.axis in skipped else place.coord,
            {n: v for n, v in place.at.items() if n not in skipped},
            {n: v for n, v in place.index.items() if n not in skipped},
            place.level,
        )
    drawing = source.draw(field, place)
    if isinstance(drawing, Plane) and not view.outlines:
        return replace(drawing, outlines=())
    return drawing


def heading_of(source: PlotSource) -> str:
    return source.path.name + ("" if source.time is None else f"   time {source.time:.6g}")
