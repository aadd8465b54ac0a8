# SPDX-License-Identifier: BSD-3-Clause
"""AMR plotfiles: `neve.open(path)`, levels, fields, and slices through all levels.

Arrays are indexed [i, j, k] = [x, y, z] as in yt, with x fastest in memory (Fortran order), the way
simulations hold them; 2D files give [i, j].
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from . import _describe, _grid
from ._errors import FAILURE, Error
from ._hierarchy import Box, Source
from ._keywords import checks_keywords
from ._listed import listed
from ._ranges import check_range

AXIS_NAMES = "xyz"


class Field(Sequence[npt.NDArray[Any]]):
    """One field of one level: a sequence of arrays, one a box, read when asked for."""

    def __init__(self, source: Source, level: int, name: str):
        self._source = source
        self._level = level
        self._component = source.components.index(name)
        self.name = name
        self.boxes = source.levels[level].boxes

    def __len__(self) -> int:
        return len(self.boxes)

    @overload
    def __getitem__(self, index: SupportsIndex) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, index: builtins.slice) -> list[npt.NDArray[Any]]: ...
    def __getitem__(
        self, index: SupportsIndex | builtins.slice
    ) -> npt.NDArray[Any] | list[npt.NDArray[Any]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._source.read_box(self._level, self._box_number(index), self._component, True)

    def left_out(self, index: SupportsIndex) -> npt.NDArray[np.bool_]:
        """The cells of the box that the file does not hold: covered cells, which are read as the
        average of the finer cells.
        """
        number = self._box_number(index)
        mask = self._source.left_out(self._level, number, self._component)
        return np.zeros(self.boxes[number].shape, bool) if mask is None else mask

    def grid(
        self, lo: Sequence[int] | None = None, hi: Sequence[int] | None = None
    ) -> npt.NDArray[Any]:
        """This level's cells from index `lo` to `hi`, both included, in one array; NaN where the
        level has no box. By default all of the level's domain, which may be far larger than its
        boxes.
        """
        region = self._region(lo, hi)
        return _grid.level_region(self._source, self._level, self._component, region)

    def composite(
        self, lo: Sequence[int] | None = None, hi: Sequence[int] | None = None
    ) -> npt.NDArray[Any]:
        """All levels at the resolution of this one, from index `lo` to `hi`, both included: the
        mean of finer cells where a finer box holds all of them, else this level's value, else that
        of the coarse cell; NaN where no level has a box. By default all of the level's domain.
        """
        region = self._region(lo, hi)
        return _grid.composite_region(self._source, self._level, self._component, region)

    def _region(self, lo: Sequence[int] | None, hi: Sequence[int] | None) -> Box:
        domain = self._source.levels[self._level].domain
        region = _grid.domain_region(domain, lo, hi)
        dims = self._source.dims
        if (len(region.lo), len(region.hi)) != (dims, dims) or region.intersect(domain) != region:
            raise Error(
                f"cells {region.lo} to {region.hi}; allowed in level {self._level}: cells from "
                f"{domain.lo} to {domain.hi}"
            )
        return region

    @property
    def bound_abs(self) -> float | None:
        """The absolute error bound of the writer (0: exact); None when the file records none."""
        return self._source.bound_abs(self._level, self._component)

    @property
    def bound_asked(self) -> str | None:
        """The bound that the writer was given, "rel=0.001"; None when the file records none."""
        return self._source.bound_asked(self._level, self._component)

    @property
    def ghosts(self) -> tuple[int, ...]:
        """Layers of ghost cells around every box in the file; the arrays are without them."""
        return self._source.ghosts(self._level, self._component)

    def _box_number(self, index: SupportsIndex) -> int:
        return range(len(self))[index]  # negative numbers, and IndexError, as lists have them

    def __repr__(self) -> str:
        return _describe.field_text(self._source, self._level, self._component)

    def _repr_html_(self) -> str:
        return _describe.field_html(self._source, self._level, self._component)


class Level(Mapping[str, Field]):
    """One level: a mapping of field name to Field."""

    def __init__(self, source: Source, index: int):
        self._source = source
        self.index = index
        info = source.levels[index]
        self.domain, self.boxes = info.domain, info.boxes
        self.dx, self.ref_ratio = info.dx, info.ref_ratio

    def __getitem__(self, name: str) -> Field:
        check_field(self._source, name)
        return Field(self._source, self.index, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.components)

    def __len__(self) -> int:
        return len(self._source.components)

    def __contains__(self, name: object) -> bool:
        return name in self._source.components

    def __repr__(self) -> str:
        return _describe.level_text(self._source, self.index)

    def _repr_html_(self) -> str:
        return _describe.level_html(self._source, self.index)


def check_field(source: Source, name: str) -> None:
    if name not in source.components:
        raise Error(f"no field {name!r}; the file has {listed(source.components)}")


@dataclass(frozen=True)
class Slice:
    """A plane through a hierarchy, every level drawn at the resolution of the finest one asked
    for.
    """

    values: npt.NDArray[Any]  # [i, j] along `axes`; NaN where no level has a box
    levels: npt.NDArray[np.int8]  # level each value is from; -1 where none
    extent: tuple[float, float, float, float]  # physical, as matplotlib's imshow takes it
    axes: tuple[str, str]
    axis: str
    coord: float
    level: int
    outlines: tuple[
        tuple[int, tuple[float, float, float, float]], ...
    ]  # (level, extent) of each box

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.values.shape))
        shown = sorted({int(level) for level in np.unique(self.levels) if level >= 0})
        return (
            f"<neve slice {self.axis} = {self.coord:g}: {shape} cells along "
            f"{', '.join(self.axes)} at the resolution of level {self.level}, from "
            f"{len(self.outlines)} boxes of levels {', '.join(map(str, shown)) or 'none'}; "
            f"{_describe.range_text(self.values)}>"
        )


class Plotfile(Sequence[Level]):
    """An open plotfile: a sequence of levels, coarsest first. Use it in a `with` block or close()
    it.
    """

    def __init__(self, source: Source, path: Path):
        self._source = source
        self.path = path
        self.kind = source.kind
        self.dims = source.dims
        self.dtype = source.dtype
        self.time = source.time
        self.components = source.components
        self.prob_lo = source.prob_lo
        self.levels = tuple(Level(source, i) for i in range(len(source.levels)))

    def __len__(self) -> int:
        return len(self.levels)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Level: ...
    @overload
    def __getitem__(self, index: builtins.slice) -> tuple[Level, ...]: ...
    def __getitem__(self, index: SupportsIndex | builtins.slice) -> Level | tuple[Level, ...]:
        return self.levels[index]

    def __enter__(self) -> Plotfile:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        self._source.close()

    def __repr__(self) -> str:
        return _describe.plotfile_text(self._source, self.path)

    def _repr_html_(self) -> str:
        return _describe.plotfile_html(self._source, self.path)

    def slice(
        self,
        field: str,
        axis: str | int = "z",
        coord: float | None = None,
        level: int | None = None,
    ) -> Slice:
        """The plane `axis` = `coord` (default: the middle of the domain) at the resolution of
        `level` (default: the finest), finer levels over coarser ones. Only the boxes it cuts are
        read. A 2D file has one plane, axis z.
        """
        check_field(self._source, field)
        if self.dims < 2:
            raise Error(f"slice: the file has {self.dims} dimension; a slice needs 2 or 3")
        normal = self._axis_number(axis)
        component = self.components.index(field)
        last = len(self) - 1 if level is None else level
        check_range("slice", "level", last, 0, len(self) - 1)
        coord = self._plane(normal, coord)

        plane_dims = [d for d in range(self.dims) if d != normal]
        target = self.levels[last]
        shape = tuple(target.domain.shape[d] for d in plane_dims)
        values = np.full(shape, np.nan, self.dtype)
        levels = np.full(shape, -1, np.int8)
        outlines = []
        for current in self.levels[: last + 1]:
            ratio = _grid.ratio_between(self._source, current.index, last)
            cell = self._cell_of(current, normal, coord)
            for number, box in enumerate(current.boxes):
                if normal < self.dims and not box.lo[normal] <= cell <= box.hi[normal]:
                    continue
                # Every covered cell of a coarser level lies under a box drawn after it.
                average = current.index == last
                data = self._source.read_box(current.index, number, component, average)
                if normal < self.dims:
                    data = np.take(data, cell - box.lo[normal], axis=normal)
                where = []
                for position, d in enumerate(plane_dims):
                    data = np.repeat(data, ratio[d], axis=position)
                    begin = box.lo[d] * ratio[d] - target.domain.lo[d]
                    where.append(np.s_[begin : begin + data.shape[position]])
                values[tuple(where)] = data
                levels[tuple(where)] = current.index
                outlines.append((current.index, self._extent(current, box, plane_dims)))
        return Slice(
            values=values,
            levels=levels,
            extent=self._extent(target, target.domain, plane_dims),
            axes=(AXIS_NAMES[plane_dims[0]], AXIS_NAMES[plane_dims[1]]),
            axis=AXIS_NAMES[normal],
            coord=coord,
            level=last,
            outlines=tuple(outlines),
        )

    def _axis_number(self, axis: str | int) -> int:
        number = AXIS_NAMES.find(axis) if isinstance(axis, str) and len(axis) == 1 else axis
        allowed = (0, 1, 2) if self.dims == 3 else (2,)
        if number not in allowed:
            names = ", ".join(AXIS_NAMES[d] for d in allowed)
            raise Error(f"slice: axis {axis!r}; allowed in a {self.dims}D file: {names}")
        return int(number)

    def _plane(self, normal: int, coord: float | None) -> float:
        if normal >= self.dims:
            if coord is not None:
                raise Error(f"slice: coord {coord}; a 2D file has one plane, leave coord out")
            return 0.0
        base = self.levels[0]
        lo = self.prob_lo[normal]
        hi = lo + base.domain.shape[normal] * base.dx[normal]
        if coord is None:
            return (lo + hi) / 2
        if not lo <= coord <= hi:
            raise Error(
                f"slice: coord {coord} is outside the domain {lo}..{hi} along {AXIS_NAMES[normal]}"
            )
        return float(coord)

    def _cell_of(self, level: Level, normal: int, coord: float) -> int:
        if normal >= self.dims:
            return 0
        # The finest cell decides, so that a coarse cell and the finer ones over it are always cut
        # together.
        finest = self.levels[-1]
        index = int(np.floor((coord - self.prob_lo[normal]) / finest.dx[normal]))
        index = min(max(index, 0), finest.domain.shape[normal] - 1) + finest.domain.lo[normal]
        return index // _grid.ratio_between(self._source, level.index, len(self) - 1)[normal]

    def _extent(self, level: Level, box: Box, dims: list[int]) -> tuple[float, float, float, float]:
        (x0, x1), (y0, y1) = (self._ends(level, box, d) for d in dims)
        return x0, x1, y0, y1

    def _ends(self, level: Level, box: Box, dim: int) -> tuple[float, float]:
        lo = self.prob_lo[dim] + (box.lo[dim] - level.domain.lo[dim]) * level.dx[dim]
        return lo, lo + box.shape[dim] * level.dx[dim]


@checks_keywords
def open(  # noqa: A001 - the package's neve.open
    path: str | os.PathLike[str], *, follow_external: bool = False
) -> Plotfile:
    """Open a plotfile or checkpoint: an AMReX plotfile directory, or a Chombo (BISICLES too),
    AMReX or Neve HDF5 file. Fields of a checkpoint are the components of its variables:
    "density" of Chombo's one dataset, "thickness", "velocity 0" of a dataset for each variable.

    If it refers to a file outside its own folder (by HDF5's external links, external storage and
    virtual datasets, or symbolic links in a directory), that is an error which names the file,
    unless `follow_external` is set.
    """
    path = Path(path)
    if not path.exists():
        raise Error(f"{path}: no such file or directory", FAILURE)
    if path.is_dir():
        from ._amrex_plotfile import AmrexSource

        return Plotfile(AmrexSource(path, follow_external), path)
    from ._hdf5_plotfile import Hdf5Source

    return Plotfile(Hdf5Source(path, follow_external), path)
