# SPDX-License-Identifier: BSD-3-Clause
"""h5py, netCDF4, xarray, dask and openPMD-api."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from .matrix import Reason, Row, assert_same
from .sample_files import BOXES, GROUPS, HDF5, KINDS, NETCDF, Sample
from .stranger import read_in_python


def needs(*modules: str) -> None:
    for module in modules:
        pytest.importorskip(module, reason=f"{module} is not installed")


def _assert_texts(found: dict[str, np.ndarray], sample: Sample) -> dict[str, np.ndarray]:
    """Takes the texts out of what was found, when they are right."""
    for name, words in sample.texts.items():
        assert list(found.pop(name)) == words, name
    return found


def _read(tool: str, operation: str, *modules: str, with_texts: bool = True) -> Row:
    def act(sample: Sample, folder: Path) -> None:
        needs(*modules)
        if not with_texts:
            sample = dataclasses.replace(sample, texts={})
        arrays = read_in_python(tool, operation, sample)
        assert_same(_assert_texts(arrays, sample), sample.values)

    return Row(tool, operation.partition(" ")[2], act)


def _slice(tool: str, operation: str, *modules: str) -> Row:
    def act(sample: Sample, folder: Path) -> None:
        needs(*modules)
        found = _assert_texts(read_in_python(tool, operation, sample), sample)
        parts = {n: v[(slice(1, None, 2),) * v.ndim] for n, v in sample.values.items()}
        assert_same(found, parts)

    return Row(tool, "slice", act)


def _write(tool: str, operation: str, impossible: dict[str, Reason], *modules: str) -> Row:
    def act(sample: Sample, folder: Path) -> None:
        needs(*modules)
        wanted = {name: values.copy() for name, values in sample.values.items()}
        for values in wanted.values():
            if values.dtype.kind != "S":
                values[(0,) * values.ndim] = values[(-1,) * values.ndim]
        found = _assert_texts(read_in_python(tool, operation, sample), sample)
        assert_same(found, wanted)

    return Row(tool, "write a value (`r+`)", act, impossible)


def _mean(tool: str, module: str) -> Row:
    """The very value that xarray finds in an array of the same values."""

    def act(sample: Sample, folder: Path) -> None:
        needs("xarray", module)
        import xarray

        wanted = {n: xarray.DataArray(v).mean().values for n, v in sample.fields.items()}
        assert_same(read_in_python(tool, "xarray mean", sample), wanted)

    return Row(tool, "mean", act)


def _xarray(engine: str, module: str) -> tuple[Row, ...]:
    """Of open_dataset and open_datatree all variables are loaded, whatever is compared of them."""
    tool = f"xarray, {engine}"
    lazy = _read(tool, "xarray chunks", "xarray", module, "dask", with_texts=False)
    return (
        Row(tool, "open_dataset", _read(tool, "xarray read", "xarray", module).act),
        Row(tool, "open_datatree", _read(tool, "xarray tree", "xarray", module).act),
        _mean(tool, module),
        Row(tool, "open_dataset, dask chunks", lazy.act),
    )


def _open_openpmd(sample: Sample, folder: Path) -> None:
    needs("openpmd_api")
    read_in_python("openPMD-api", "openPMD open", sample)


READ_ONLY = Reason(
    "netCDF writes into no file that does not keep the order in which its objects were made",
    "NetCDF: Can't write file",
)
ONLY_OPENPMD = "openPMD-api reads files of the openPMD standard only; Neve's are none"
NO_OPENPMD = {
    kind: Reason(ONLY_OPENPMD, "Unknown file format" if kind in (NETCDF, GROUPS) else "openPMD")
    for kind in KINDS
}

ROWS = (
    _read("h5py", "h5py read", "h5py"),
    _slice("h5py", "h5py slice", "h5py"),
    _write("h5py", "h5py write", {}, "h5py"),
    _read("netCDF4 (Python)", "netCDF4 read", "netCDF4"),
    _slice("netCDF4 (Python)", "netCDF4 slice", "netCDF4"),
    _write(
        "netCDF4 (Python)",
        "netCDF4 write",
        {kind: READ_ONLY for kind in (*BOXES, HDF5)},
        "netCDF4",
    ),
    *_xarray("netcdf4", "netCDF4"),
    *_xarray("h5netcdf", "h5netcdf"),
    Row(
        "dask",
        "from_array of h5py",
        _read("dask", "dask of h5py", "dask", "h5py", with_texts=False).act,
    ),
    Row("openPMD-api", "open", _open_openpmd, NO_OPENPMD),
)
