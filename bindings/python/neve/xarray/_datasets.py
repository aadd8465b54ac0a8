# SPDX-License-Identifier: BSD-3-Clause
"""An open plotfile as datasets of xarray, whose values are read later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.core import indexing

from .. import _grid
from .._errors import Error
from .._hierarchy import Box
from .._variable_names import variable_names
from ..plotfile import AXIS_NAMES, Level, Plotfile
from ._field_array import FieldArray, ReadRegion
from ._frame_chunks import Sizes, composite_chunks, level_chunks
from ._kept_file import KeptFile

# Along one direction: each has a coordinate of 8 bytes, and is counted to lay out chunks.
MOST_CELLS = 1 << 22

# What a level has where finer boxes lie over its cells.
COVERED: Mapping[str, ReadRegion] = {
    "keep": _grid.level_region,
    "nan": _grid.uncovered_region,
    "average": _grid.averaged_region,
}


def root_dataset(plotfile: Plotfile) -> xr.Dataset:
    """What holds for all levels, as attributes."""
    attributes = {
        "kind": plotfile.kind,
        "time": plotfile.time,
        "levels": len(plotfile),
        "prob_lo": list(plotfile.prob_lo),
    }
    return xr.Dataset(attrs=attributes)


def level_dataset(
    file: KeptFile,
    plotfile: Plotfile,
    number: int,
    covered: str,
    dropped: Collection[str],
) -> xr.Dataset:
    """One level, on the hull of its boxes."""
    level = plotfile[number]
    region = hull(level)
    _check_size(file, level, region)
    chunks = level_chunks(plotfile._source, number, region)
    bounds = [field.bound_abs for field in level.values()]
    data = _dataset(file, plotfile, level, region, chunks, COVERED[covered], bounds, dropped)
    data.attrs["covered"] = covered
    return data


def composite_dataset(
    file: KeptFile, plotfile: Plotfile, number: int, dropped: Collection[str]
) -> xr.Dataset:
    """All levels at the resolution of one, on its domain."""
    level = plotfile[number]
    _check_size(file, level, level.domain)
    chunks = composite_chunks(plotfile._source, number, level.domain)
    bounds = [_grid.composite_bound(plotfile._source, c) for c in range(len(plotfile.components))]
    read = _grid.composite_region
    return _dataset(file, plotfile, level, level.domain, chunks, read, bounds, dropped)


def hull(level: Level) -> Box:
    """The smallest region that holds all boxes; no cell where there are none."""
    if not level.boxes:
        return Box(level.domain.lo, tuple(n - 1 for n in level.domain.lo))
    corners = np.array(level.boxes)
    lo, hi = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)
    return Box(tuple(lo.tolist()), tuple(hi.tolist()))


def _check_size(file: KeptFile, level: Level, region: Box) -> None:
    for axis, lo, hi in zip(AXIS_NAMES, region.lo, region.hi, strict=False):
        if hi - lo >= MOST_CELLS:
            raise Error(
                f"{file.path}: level {level.index} reaches along {axis} from cell {lo} to {hi}, "
                f"{hi - lo + 1} cells; in xarray at most {MOST_CELLS} are allowed. neve.open reads "
                "the level box by box"
            )


def _dataset(
    file: KeptFile,
    plotfile: Plotfile,
    level: Level,
    region: Box,
    chunks: tuple[Sizes, ...],
    read: ReadRegion,
    bounds: Sequence[float | None],
    dropped: Collection[str],
) -> xr.Dataset:
    axes = tuple(AXIS_NAMES[: plotfile.dims])
    variables = {}
    for name, field in variable_names(plotfile.components).items():
        if name in dropped:
            continue
        component = plotfile.components.index(field)
        array = FieldArray(file, read, level.index, component, region, plotfile.dtype)
        encoding = {"preferred_chunks": dict(zip(axes, chunks, strict=True))}
        lazy = indexing.LazilyIndexedArray(array)
        said = _field_attributes(level, name, field, bounds[component])
        variables[name] = xr.Variable(axes, lazy, said, encoding)
    coordinates: dict[str, Any] = {
        axis: (axis, centres(plotfile, level, region, d)) for d, axis in enumerate(axes)
    }
    attributes = {
        "kind": plotfile.kind,
        "level": level.index,
        "dx": list(level.dx),
        "ref_ratio": list(level.ref_ratio),
    }
    return xr.Dataset(variables, {**coordinates, "time": plotfile.time}, attributes)


def _field_attributes(
    level: Level, name: str, field: str, bound_abs: float | None
) -> dict[str, Any]:
    said = {
        "field": None if name == field else field,
        "bound": level[field].bound_asked,
        "bound_abs": bound_abs,
    }
    return {key: value for key, value in said.items() if value is not None}


def centres(plotfile: Plotfile, level: Level, region: Box, direction: int) -> np.ndarray:
    """Of the region's cells along one direction."""
    cells = np.arange(region.lo[direction], region.hi[direction] + 1)
    from_corner = cells - level.domain.lo[direction] + 0.5
    return np.asarray(plotfile.prob_lo[direction] + from_corner * level.dx[direction])
