# SPDX-License-Identifier: BSD-3-Clause
"""The grids of a data file: which variables share axes, where these are, and which is time."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from . import _external_files
from ._amr_file import has_boxes, refuse_for_vtk
from ._errors import CORRUPT, FAILURE, Error

MOST_AXES = 3  # beside time
# Each point of an axis stands in the .xdmf file, and each time step is a grid there.
MOST_POINTS = 1 << 24
MOST_STEPS = 1 << 16
# What XML has a place for, of what a name may have.
_XML_TEXT = re.compile("[\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
_COORDINATE_CLASS = "DIMENSION_SCALE"
_BARE_DIMENSION = "This is a netCDF dimension but not a netCDF variable"


@dataclass(frozen=True)
class Axis:
    """A dimension of variables: its name, and where its points are, where the file says it."""

    name: str
    size: int
    points: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Variable:
    """Values on a grid, slowest axis first, time before the others."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    dataset: str | None  # of an HDF5 file; None: of a file with nothing but the values
    seek: int = 0  # first byte of the values there
    packing: str = ""  # how values follow from the stored numbers, where these are not the values
    places: tuple[str, ...] = ()  # coordinates of several axes, in whose place the indices stand


@dataclass
class Grid:
    axes: tuple[Axis, ...]  # without time
    times: tuple[float, ...] | None  # None: variables without time
    variables: list[Variable] = field(default_factory=list)

    @property
    def name(self) -> str:
        names = [axis.name for axis in self.axes]
        return " ".join(["time", *names] if self.times is not None else names)


def grids_of_npy(path: Path) -> list[Grid]:
    """An array of up to 3 axes; the first of 4 is time."""
    with open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                version, np.lib.format.read_array_header_2_0
            )
            shape, is_fortran, dtype = read(file)
        except ValueError as error:
            raise Error(f"{path}: {error}", CORRUPT) from None
        seek = file.tell()
    reason = _refusal(path.stem, dtype, shape, len(shape) == MOST_AXES + 1)
    if reason:
        raise Error(f"{path}: {reason}")
    needed = math.prod(shape) * dtype.itemsize
    if os.path.getsize(path) - seek < needed:
        raise Error(
            f"{path} has {os.path.getsize(path) - seek} bytes of values; shape {shape} of {dtype} "
            f"needs {needed}",
            CORRUPT,
        )
    if is_fortran:
        shape = shape[::-1]
    times = tuple(map(float, range(shape[0]))) if len(shape) > MOST_AXES else None
    axes = tuple(
        Axis(f"axis {n}", size) for n, size in enumerate(shape if times is None else shape[1:])
    )
    return [Grid(axes, times, [Variable(path.stem, dtype, shape, None, seek)])]


def has_levels(path: Path) -> Error:
    return Error(
        f"{path} has levels of boxes, which XDMF's uniform grids do not; "
        "`neve convert SRC OUT.vtkhdf` is for it"
    )


def grids_of_hdf5(path: Path, follow_external: bool) -> tuple[list[Grid], dict[str, str]]:
    """The grids, and the variables that are on none, with the reason."""
    grids: dict[Any, Grid] = {}
    left_out: dict[str, str] = {}
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise Error(f"{path}: {error}", FAILURE) from None
    with file:
        if not follow_external:
            _external_files.check(file, path)
        refuse_for_vtk(file, path)
        if has_boxes(file):
            raise has_levels(path)
        datasets = list(_datasets(file))
        bounds = {name for dataset in datasets for name in _named_by(dataset, "bounds")}
        for dataset in datasets:
            name = dataset.name.lstrip("/")
            if _is_coordinate(dataset):
                continue
            has_time = _has_time(dataset)
            reason = _refusal(name, dataset.dtype, dataset.shape, has_time)
            if name in bounds:
                reason = "it holds the bounds of cells (attribute bounds)"
            if reason:
                left_out[name] = reason
                continue
            axes, times = _axes(dataset, has_time)
            grid = grids.setdefault((axes, times), Grid(axes, times))
            packing = _packing(dataset)
            shown = f"{name} (packed)" if packing else name
            grid.variables.append(
                Variable(
                    shown,
                    dataset.dtype,
                    dataset.shape,
                    dataset.name,
                    packing=packing,
                    places=_places(dataset, axes),
                )
            )
    return _of_one_time(list(grids.values()), left_out), left_out


def _of_one_time(grids: list[Grid], left_out: dict[str, str]) -> list[Grid]:
    """Those without time and those of the times that most variables have."""
    counts: dict[Any, int] = {}
    for grid in grids:
        if grid.times is not None:
            counts[grid.times] = counts.get(grid.times, 0) + len(grid.variables)
    if len(counts) < 2:
        return grids
    usual = max(counts, key=counts.__getitem__)
    for grid in grids:
        for variable in grid.variables if grid.times not in (None, usual) else ():
            left_out[variable.name] = f"its times are not those of {counts[usual]} other variables"
    return [grid for grid in grids if grid.times in (None, usual)]


def _datasets(file: h5py.File) -> Iterator[h5py.Dataset]:
    found: list[h5py.Dataset] = []
    try:
        file.visititems(
            lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None
        )
    except UnicodeDecodeError as error:
        raise Error(f"{file.filename}: the name {error.object!r} in it is not UTF-8") from None
    yield from found


def _refusal(name: str, dtype: np.dtype, shape: tuple[int, ...] | None, has_time: bool) -> str:
    """Why XDMF cannot show such a variable; empty where it can."""
    if dtype.kind not in "fiu" or (dtype.kind == "f" and dtype.itemsize not in (4, 8)):
        return f"values of {dtype}; allowed are float32, float64 and integers"
    if not shape or min(shape) < 1:
        return "it has no axis, or no values"
    if not _XML_TEXT.fullmatch(name):
        return "its name has characters that XML has no place for"
    steps, longest = shape[0] if has_time else 1, max(shape[has_time:], default=1)
    if steps > MOST_STEPS or longest > MOST_POINTS:
        return (
            f"{steps} time steps, and axes of up to {longest} points; at most {MOST_STEPS} and "
            f"{MOST_POINTS} are allowed"
        )
    count = len(shape) - has_time
    if not 1 <= count <= MOST_AXES:
        return f"{count} axes beside time; allowed are 1 to {MOST_AXES}"
    return ""


def _is_coordinate(dataset: h5py.Dataset) -> bool:
    return _plain(dataset.attrs.get("CLASS", "")) == _COORDINATE_CLASS


def _scale(dataset: h5py.Dataset, axis: int) -> h5py.Dataset | None:
    """The coordinate variable of an axis, or what netCDF has in its place."""
    scales = dataset.dims[axis]
    return scales[0] if len(scales) else None


def _has_time(dataset: h5py.Dataset) -> bool:
    """Whether the first axis is time: by its units, its name, or because it can grow."""
    if dataset.ndim < 2:
        return False
    scale = _scale(dataset, 0)
    if scale is None:
        return bool(dataset.maxshape[0] is None)
    text = _plain(scale.attrs.get("units", ""))
    name = scale.name.rpartition("/")[2].lower()
    return " since " in text or name == "time" or scale.maxshape[0] is None


def _axes(
    dataset: h5py.Dataset, has_time: bool
) -> tuple[tuple[Axis, ...], tuple[float, ...] | None]:
    found = []
    for axis, size in enumerate(dataset.shape):
        scale = _scale(dataset, axis)
        name = f"axis {axis}" if scale is None else scale.name.lstrip("/")
        found.append(Axis(name, size, _points(scale, size)))
    if not has_time:
        return tuple(found), None
    steps = found[0].points or tuple(map(float, range(found[0].size)))
    return tuple(found[1:]), steps


def _points(scale: h5py.Dataset | None, size: int) -> tuple[float, ...] | None:
    """Coordinates that ParaView can place points at: finite, and different from each other."""
    if scale is None or scale.shape != (size,) or scale.dtype.kind not in "fiu":
        return None
    if _plain(scale.attrs.get("NAME", "")).startswith(_BARE_DIMENSION):
        return None
    values: npt.NDArray[np.float64] = scale[()].astype(np.float64)
    steps = np.diff(values)
    is_ordered = bool((steps > 0).all() or (steps < 0).all())
    return tuple(values.tolist()) if is_ordered and np.isfinite(values).all() else None


def _plain(text: Any) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _named_by(dataset: h5py.Dataset, attribute: str) -> list[str]:
    """Variables that an attribute of names lists, those of them that are there."""
    text = _plain(dataset.attrs.get(attribute, ""))
    found = (dataset.parent.get(word, dataset.file.get(word)) for word in text.split())
    return [item.name.lstrip("/") for item in found if isinstance(item, h5py.Dataset)]


def _places(dataset: h5py.Dataset, axes: tuple[Axis, ...]) -> tuple[str, ...]:
    """The coordinates of a curvilinear grid: of several axes, and some axis has none of its own."""
    if all(axis.points is not None for axis in axes):
        return ()
    names = _named_by(dataset, "coordinates")
    return tuple(name for name in names if dataset.file[name].ndim > 1)


def _packing(dataset: h5py.Dataset) -> str:
    scale, offset = (dataset.attrs.get(name) for name in ("scale_factor", "add_offset"))
    if scale is None and offset is None:
        return ""
    try:
        numbers = [
            missing if value is None else float(np.ravel(value)[0])
            for value, missing in ((scale, 1.0), (offset, 0.0))
        ]
    except (IndexError, TypeError, ValueError):
        return "by a scale_factor or an add_offset that is no number"
    return f"value = stored * {numbers[0]!r} + {numbers[1]!r}"
