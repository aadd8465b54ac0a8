# SPDX-License-Identifier: BSD-3-Clause
"""`.neve` of the trees and datasets that engine="neve" gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr

from .. import _grid
from .. import plotfile as _plotfile
from .._errors import Error
from .._hierarchy import Box
from .._listed import listed
from ..plotfile import AXIS_NAMES, Level, Plotfile
from ._backend import XarrayBackend
from ._kept_file import Identity, check_same


@xr.register_dataset_accessor("neve")  # type: ignore[no-untyped-call]
class DatasetAccessor:
    """Of one level, or of a part of it."""

    def __init__(self, data: xr.Dataset):
        self._data = data

    def composite(self, level: int, fields: str | Iterable[str] | None = None) -> xr.Dataset:
        """All levels at the resolution of `level`, on its domain: the mean of finer cells where a
        finer box holds all of them, else the level's value, else that of the coarse cell; NaN
        where no level has a box. `fields`: names of variables, by default those of this dataset.

        The values are read later, in chunks of dask if those of this dataset are. They are those
        of the file, whatever was computed with this dataset since. A field may be named as the
        file has it, too ("a/b").
        """
        return _composite(self._data, level, fields)

    @property
    def covered(self) -> xr.DataArray:
        """True for the cells of this dataset that lie under a box of the next finer level."""
        return _covered(self._data)

    @property
    def bounds(self) -> dict[str, float | None]:
        """The largest absolute error of each variable; 0: exact; None: the file does not say."""
        return {str(n): v.attrs.get("bound_abs") for n, v in self._data.data_vars.items()}


@xr.register_datatree_accessor("neve")  # type: ignore[no-untyped-call]
class DataTreeAccessor:
    """Of a whole file, or of one of its levels."""

    def __init__(self, tree: xr.DataTree):
        self._tree = tree

    def composite(self, level: int, fields: str | Iterable[str] | None = None) -> xr.Dataset:
        """As of a dataset; `fields`: by default those of the coarsest level here."""
        return _composite(self._some_level(), level, fields)

    @property
    def covered(self) -> xr.DataTree:
        """A tree of the same levels, each with one variable `covered`: True for cells that lie
        under a box of the next finer level.
        """
        found = {
            node.relative_to(self._tree): xr.Dataset({"covered": _covered(node.to_dataset())})
            for node in self._tree.subtree
            if "level" in node.attrs
        }
        return xr.DataTree.from_dict(found)

    @property
    def bounds(self) -> dict[str, dict[str, float | None]]:
        """By the name of the level: the largest absolute error of each variable."""
        return {
            node.name or "": node.to_dataset().neve.bounds
            for node in self._tree.subtree
            if "level" in node.attrs
        }

    def _some_level(self) -> xr.Dataset:
        for node in self._tree.subtree:
            if "level" in node.attrs:
                return node.to_dataset()
        raise Error("this tree has no level of a plotfile; xarray.open_datatree gives such trees")


def _source_of(data: xr.Dataset) -> tuple[str, bool, Identity]:
    """Path of the file, whether it may refer to files elsewhere, and which file it was."""
    if "identity" not in data.encoding:
        raise Error(
            "this dataset does not say which file it is of; call .neve on what xarray opened with "
            "engine='neve', or on a selection of it"
        )
    others = [str(dim) for dim in data.dims if str(dim) not in AXIS_NAMES]
    if others:
        raise Error(
            f"this dataset has dimension {', '.join(others)}, so it is not of one file; call .neve "
            "on a dataset with no other dimensions than x, y, z"
        )
    said = data.encoding
    return said["source"], said["follow_external"], said["identity"]


def _composite(data: xr.Dataset, level: int, fields: str | Iterable[str] | None) -> xr.Dataset:
    path, follow_external, identity = _source_of(data)
    check_same(path, identity)
    joined = xr.open_dataset(
        path,
        engine=XarrayBackend,
        chunks={} if any(v.chunks is not None for v in data.data_vars.values()) else None,
        composite=level,
        follow_external=follow_external,
    )
    asked = list(data.data_vars) if fields is None else fields
    words = [asked] if isinstance(asked, str) else list(asked)
    return joined[[_variable(joined, str(word)) for word in words]]


def _variable(data: xr.Dataset, name: str) -> str:
    """The variable of that name, or of the field that the file calls so."""
    fields = {str(v.attrs.get("field", n)): str(n) for n, v in data.data_vars.items()}
    if name in fields.values():
        return name
    if name not in fields:
        raise Error(f"composite: no field {name!r}; the file has {listed(fields)}")
    return fields[name]


def _covered(data: xr.Dataset) -> xr.DataArray:
    path, follow_external, identity = _source_of(data)
    check_same(path, identity)
    with _plotfile.open(path, follow_external=follow_external) as plotfile:
        if "level" not in data.attrs:
            raise Error("covered: these are no values of one level")
        level = plotfile[data.attrs["level"]]
        axes = AXIS_NAMES[: plotfile.dims]
        cells = [_cells(plotfile, level, data, axis) for axis in axes]
        if not all(len(of_axis) for of_axis in cells):
            mask = np.zeros([len(of_axis) for of_axis in cells], bool)
        else:
            region = Box(
                tuple(int(of_axis.min()) for of_axis in cells),
                tuple(int(of_axis.max()) for of_axis in cells),
            )
            mask = _grid.covered(plotfile._source, level.index, region)
            mask = mask[np.ix_(*(c - lo for c, lo in zip(cells, region.lo, strict=True)))]
    gone = tuple(d for d, axis in enumerate(axes) if axis not in data.dims)
    coordinates: dict[Any, Any] = {axis: data[axis] for axis in axes}
    dims = [axis for axis in axes if axis in data.dims]
    return xr.DataArray(mask.squeeze(gone), coordinates, dims, "covered")


def _cells(plotfile: Plotfile, level: Level, data: xr.Dataset, axis: str) -> np.ndarray:
    """The numbers of the cells whose centres a coordinate names."""
    if axis not in data.coords:
        raise Error(f"covered: coordinate {axis} is gone; it tells which cells these are")
    direction = AXIS_NAMES.index(axis)
    dx = level.dx[direction]
    centres = np.atleast_1d(data[axis].values)
    if not centres.size:
        return np.empty(0, int)
    corner = plotfile.prob_lo[direction]
    # Of a centre and of the corner that it is counted from, whichever is coarser.
    rounding = max(float(np.spacing(np.abs(centres).max())), float(np.spacing(abs(corner))))
    if not rounding <= dx / 4:
        raise Error(
            f"covered: coordinates along {axis} ({centres[0]} and on) are rounded to multiples of "
            f"{rounding}, which is too coarse to tell cells of {dx} apart"
        )
    from_corner = (centres - corner) / dx - 0.5
    return level.domain.lo[direction] + np.rint(from_corner).astype(int)
