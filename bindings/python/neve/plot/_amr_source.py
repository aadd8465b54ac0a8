# SPDX-License-Identifier: BSD-3-Clause
"""Plotfiles and checkpoints: planes through all levels, with the outlines of their boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .. import _grid
from .._errors import Error
from .._hierarchy import Box
from .._listed import listed
from .._ranges import check_range
from ..plotfile import AXIS_NAMES, Level, Plotfile, Slice
from ._drawing import Axis, Drawing, Line, Plane
from ._place import Cut, Place, cuts_of

MOST_CELLS = 1 << 25  # of a plane; finer levels are left out where it would have more


class AmrSource:
    def __init__(self, plotfile: Plotfile):
        self.plotfile = plotfile
        self.path: Path = plotfile.path
        self.time: float | None = plotfile.time

    def fields(self) -> list[str]:
        return list(self.plotfile.components)

    def name_of(self, asked: str) -> str | None:
        return asked if asked in self.plotfile.components else None

    def first_fields(self) -> list[str]:
        return self.fields()

    def dimensions(self, field: str) -> dict[str, int]:
        return self._sizes(0)

    def _sizes(self, level: int) -> dict[str, int]:
        return dict(zip(AXIS_NAMES, self.plotfile[level].domain.shape, strict=False))

    def close(self) -> None:
        self.plotfile.close()

    def draw(self, field: str, place: Place) -> Drawing:
        file = self.plotfile
        if field not in file.components:
            raise Error(f"{file.path}: no field {field!r}; the file has {listed(file.components)}")
        if place.level is not None:
            check_range("plot", "level", place.level, 0, len(file) - 1)
        drawn = len(file) - 1 if place.level is None else place.level
        what = f"level {drawn} of {file.path.name}"
        cuts = cuts_of(place, self._sizes(drawn), what, default_axis="z")
        free = [d for d in range(file.dims) if AXIS_NAMES[d] not in cuts]
        if not free:
            raise Error(f"{field}: all dimensions are cut, and one value is no picture")
        if len(free) == 1:
            return self._line(field, cuts, free[0], place.level)
        normal = None
        if file.dims == 3:
            normal = next(iter(cuts), "z")
        return self._plane(field, normal, cuts.get(normal or "", Cut()), place.level)

    def _plane(self, field: str, normal: str | None, cut: Cut, level: int | None) -> Plane:
        file = self.plotfile
        plane_dims = [d for d in range(file.dims) if AXIS_NAMES[d] != normal]
        last, notes = self._last_level(plane_dims, level)
        coord = None if normal is None else self._coord(AXIS_NAMES.index(normal), cut, last)
        return plane_of_slice(
            field, file.slice(field, normal or "z", coord, last), file.dims, notes
        )

    def _last_level(self, plane_dims: list[int], level: int | None) -> tuple[int, tuple[str, ...]]:
        """The finest level whose plane is not too large, unless `level` asks for one."""
        file = self.plotfile
        if level is not None:
            return level, ()
        finest = last = len(file) - 1
        while last and _cells(file[last], plane_dims) > MOST_CELLS:
            last -= 1
        if last == finest:
            return last, ()
        cells = _cells(file[finest], plane_dims)
        note = (
            f"levels beyond {last} are not drawn: the plane has {cells} cells at level {finest}; "
            f"--level {finest} draws all of them"
        )
        return last, (note,)

    def _coord(self, dim: int, cut: Cut, last: int) -> float | None:
        """Where the plane lies; None is the middle. An index counts cells of the level drawn."""
        if cut.index is not None:
            level = self.plotfile[last]
            lo, hi = level.domain.lo[dim], level.domain.hi[dim]
            if not lo <= cut.index <= hi:
                raise Error(
                    f"index {cut.index} of {AXIS_NAMES[dim]}; allowed are cells {lo} to {hi} of "
                    f"level {last}"
                )
            return self.plotfile.prob_lo[dim] + (cut.index - lo + 0.5) * level.dx[dim]
        if isinstance(cut.coord, str):
            raise Error(f"{AXIS_NAMES[dim]}={cut.coord}: allowed is a number")
        return cut.coord

    def _line(self, field: str, cuts: dict[str, Cut], along: int, level: int | None) -> Line:
        file = self.plotfile
        last = len(file) - 1 if level is None else level
        domain, dx = file[last].domain, file[last].dx
        lo, hi = list(domain.lo), list(domain.hi)
        places = []
        for name, cut in cuts.items():
            dim = AXIS_NAMES.index(name)
            coord = self._coord(dim, cut, last)
            lo[dim] = hi[dim] = file._cell_of(file[last], dim, file._plane(dim, coord))
            middle = file.prob_lo[dim] + (lo[dim] - domain.lo[dim] + 0.5) * dx[dim]
            places.append(f"{name} = {middle if coord is None else coord:.4g}")
        source, component = file._source, file.components.index(field)
        region = Box(tuple(lo), tuple(hi))
        values = _grid.composite_region(source, last, component, region).ravel()
        edges = file.prob_lo[along] + np.arange(domain.shape[along] + 1) * dx[along]
        x = Axis(AXIS_NAMES[along], edges, (edges[1:] + edges[:-1]) / 2)
        where = ", ".join([*places, _levels(last)])
        return Line(field, np.ma.masked_invalid(values), x, where=where, may_be_log=True)


def plane_of_slice(field: str, shown: Slice, dims: int, notes: tuple[str, ...] = ()) -> Plane:
    where = f"{shown.axis} = {shown.coord:.4g}, " if dims == 3 else ""
    count_x, count_y = shown.values.shape
    x0, x1, y0, y1 = shown.extent
    return Plane(
        field,
        np.ma.masked_invalid(shown.values.T),
        _cells_between(shown.axes[0], x0, x1, count_x),
        _cells_between(shown.axes[1], y0, y1, count_y),
        where=where + _levels(shown.level),
        outlines=shown.outlines,
        levels=shown.levels.T,
        level=shown.level,
        notes=notes,
        may_be_log=True,
    )


def _cells_between(name: str, low: float, high: float, count: int) -> Axis:
    edges = np.linspace(low, high, count + 1)
    return Axis(name, edges, (edges[1:] + edges[:-1]) / 2)


def _cells(level: Level, dims: list[int]) -> int:
    return int(np.prod([level.domain.shape[d] for d in dims], dtype=np.int64))


def _levels(last: int) -> str:
    return f"levels 0 to {last}" if last else "level 0"
