# SPDX-License-Identifier: BSD-3-Clause
"""The files that fields are exported to: .npy, and HDF5 that netCDF-4 reads, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

from .. import _files
from .._errors import FAILURE, Error
from .._grid import composite_bound
from .._hierarchy import Box
from .._variable_names import variable_names
from ..plotfile import AXIS_NAMES, Level, Plotfile
from ._patient_file import PatientFile
from ._region import parts

NPY = (".npy",)
GRID_FILES = (".h5", ".hdf5", ".nc", ".nc4")
Read = Callable[[str, Box], np.ndarray]  # a field's values on a region, [x, y, z]


def write_npy(out: Path, file: Plotfile, field: str, region: Box, order: str, read: Read) -> None:
    """One field, [x, y, z]. Slabs are written one after another, so order "C" has them across x."""
    axis = file.dims - 1 if order == "F" else 0
    header = {
        "descr": np.lib.format.dtype_to_descr(file.dtype),
        "fortran_order": order == "F",
        "shape": region.shape,
    }
    with _files.replacing(out) as path, _told(out), path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for part in parts(region, file.dtype.itemsize, axis):
            values = read(field, part)
            stream.write(values.tobytes("F" if order == "F" else "C"))


def write_grid_file(
    out: Path, file: Plotfile, fields: list[str], level: Level, region: Box, read: Read
) -> None:
    """Fields as variables [z, y, x] with the cells' middles as coordinates."""
    with _files.replacing(out) as path, _told(out):
        with PatientFile(path) as stream:
            with h5py.File(stream, "w", track_order=True) as grid:
                _write_coordinates(grid, file, level, region)
                for field in fields:
                    variable = _created(grid, file, field, region)
                    _write_values(variable, stream, file, field, region, read)
        if stream.failure is not None:
            raise stream.failure


def _write_coordinates(grid: h5py.File, file: Plotfile, level: Level, region: Box) -> None:
    grid.attrs["time"] = file.time
    grid.attrs["level"] = level.index
    for d, name in enumerate(AXIS_NAMES[: file.dims]):
        cells = np.arange(region.lo[d], region.hi[d] + 1) - level.domain.lo[d]
        grid[name] = file.prob_lo[d] + (cells + 0.5) * level.dx[d]
        grid[name].make_scale(name)
        grid[name].attrs["axis"] = name.upper()


def variable_name(file: Plotfile, field: str) -> str:
    """As xarray's engine names it."""
    names = variable_names(file.components)
    return next(name for name, named in names.items() if named == field)


def _created(grid: h5py.File, file: Plotfile, field: str, region: Box) -> h5py.Dataset:
    name = variable_name(file, field)
    variable = grid.create_dataset(name, region.shape[::-1], file.dtype, track_order=True)
    for d, axis in enumerate(reversed(AXIS_NAMES[: file.dims])):
        variable.dims[d].attach_scale(grid[axis])
    if name != field:
        variable.attrs["field"] = field
    bound = composite_bound(file._source, file.components.index(field))
    if bound is not None:
        variable.attrs["bound_abs"] = bound
    return variable


def _write_values(
    variable: h5py.Dataset,
    stream: PatientFile,
    file: Plotfile,
    field: str,
    region: Box,
    read: Read,
) -> None:
    for part in parts(region, file.dtype.itemsize, file.dims - 1):
        if stream.failure is not None:
            return
        begin = part.lo[-1] - region.lo[-1]
        variable[begin : begin + part.shape[-1]] = read(field, part).T


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """What a disk says while a file is written, as an Error of that file."""
    try:
        yield
    except OSError as error:
        raise Error(f"{out}: cannot be written: {error.strerror}", FAILURE) from None
