# SPDX-License-Identifier: BSD-3-Clause
"""Which kind a file is of: told by its first bytes and by what an HDF5 file holds, here alone."""

from __future__ import annotations

from pathlib import Path

import h5py

from .. import _core
from .._amr_file import has_link
from .._errors import FAILURE, Error
from .._first_bytes import NETCDF_CLASSIC, NPY
from ..plotfile import open as open_plotfile
from ._amr_source import AmrSource
from ._array_source import open_compressed, open_npy
from ._data_file import DataFileSource
from ._sources import PlotSource

TAKEN = (
    "an AMReX plotfile directory, a plotfile or checkpoint in HDF5 (Neve, Chombo, BISICLES, "
    "AMReX), a netCDF-4 or HDF5 data file, a .npy array, or an array from `neve compress` (.neve, "
    ".nevs)"
)
_FRAME_FILE, _FRAME = b"NEVEFILE", b"NEVE"
_BEGINNING = 4096


def open_source(path: str | Path, *, follow_external: bool = False) -> PlotSource:
    """neve.Error where nothing is there, or nothing that pictures are made of."""
    path = Path(path)
    if not path.exists():
        raise Error(f"{path}: no such file or directory", FAILURE)
    if path.is_dir():
        if not (path / "Header").exists():
            raise Error(f"{path}: a folder without a plotfile's Header; plots are of {TAKEN}")
        return AmrSource(open_plotfile(path, follow_external=follow_external))
    try:
        if h5py.is_hdf5(path):
            return _open_hdf5(path, follow_external)
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error}", FAILURE) from None
    if beginning.startswith(NPY):
        return open_npy(path)
    if beginning.startswith(NETCDF_CLASSIC):
        raise Error(
            f"{path} is a netCDF classic file, which is not HDF5; `nccopy -k nc4 {path} NEW.nc` "
            "converts it to netCDF-4"
        )
    if beginning.startswith(_FRAME_FILE):
        raise Error(
            f"{path} is a frame file of an MPI program; `neve decompress {path} NEW.npy` makes an "
            "array of it"
        )
    if beginning.startswith(_FRAME) or _core.is_stream(beginning):
        return open_compressed(path)
    raise Error(f"{path}: not a file that plots are made of; these are {TAKEN}")


def _open_hdf5(path: Path, follow_external: bool) -> PlotSource:
    file = h5py.File(path, "r")
    try:
        if _is_amr(file):
            file.close()
            return AmrSource(open_plotfile(path, follow_external=follow_external))
        if has_link(file, "VTKHDF"):
            raise Error(
                f"{path}: a VTKHDF file, which ParaView and VTK show; plot the plotfile that it "
                "was made of"
            )
        return DataFileSource(file, path, follow_external)
    except BaseException:
        file.close()
        raise


def _is_amr(file: h5py.File) -> bool:
    """A plotfile or checkpoint, complete or not."""
    return "num_levels" in file.attrs or any(
        has_link(file, name) for name in ("Chombo_global", "level_0")
    )
