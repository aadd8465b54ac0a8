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
from .._hierarchy import Box
from ..plotfile import AXIS_NAMES, Level, Plotfile
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
    axes = AXIS_NAMES[: file.dims]
    with _files.replacing(out) as path, _told(out):
        with h5py.File(path, "w", track_order=True) as grid:
            grid.attrs["time"] = file.time
            grid.attrs["level"] = level.index
            for d, name in enumerate(axes):
                cells = np.arange(region.lo[d], region.hi[d] + 1) - level.domain.lo[d]
                grid[name] = file.prob_lo[d] + (cells + 0.5) * level.dx[d]
                grid[name].make_scale(name)
                grid[name].attrs["axis"] = name.upper()
            for field in fields:
                variable = grid.create_dataset(
                    _variable_name(field), region.shape[::-1], file.dtype, track_order=True
                )
                for d, name in enumerate(reversed(axes)):
                    variable.dims[d].attach_scale(grid[name])
                for part in parts(region, file.dtype.itemsize, file.dims - 1):
                    begin = part.lo[-1] - region.lo[-1]
                    variable[begin : begin + part.shape[-1]] = read(field, part).T


def _variable_name(field: str) -> str:
    """A slash would make a group."""
    name = field.replace("/", "_")
    return f"{name}_" if name in AXIS_NAMES else name


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """What a disk says while a file is written, as an Error of that file."""
    try:
        yield
    except OSError as error:
        raise Error(f"{out}: cannot be written: {error}", FAILURE) from None
