# SPDX-License-Identifier: BSD-3-Clause
"""Floating-point variables of netCDF, HDF5, .npy files and plotfiles, read in parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import neve
from neve._errors import FAILURE, Error

NETCDF = (".nc", ".nc4", ".cdf", ".netcdf")
HDF5 = (".h5", ".hdf5", ".he5")
LEAST_VALUES = 1024  # of a variable: below, headers are what is measured
LEAST_STEPS = 3
TIMES = ("time", "t", "time_counter", "times")  # names of a leading dimension, capitals aside
Found = tuple[str, str, tuple[int, ...], int]  # name, dtype, shape, steps (0: no axis of time)


def is_readable(path: Path) -> bool:
    """By its name; a folder with a Header is a plotfile."""
    if path.is_dir():
        return (path / "Header").is_file()
    return path.suffix.lower() in (*NETCDF, *HDF5, ".npy")


def variables_of(path: Path) -> list[Found]:
    """Those of float32 and float64 with enough values."""
    with _opened(path) as variables:
        return [
            (name, one.dtype.name, tuple(map(int, one.shape)), _steps(one))
            for name, one in variables.items()
            if one.dtype.kind == "f" and one.dtype.itemsize in (4, 8)
            if math.prod(one.shape) >= LEAST_VALUES
        ]


def read(path: Path, name: str, most_bytes: int, step: int | None = None) -> np.ndarray:
    """C-contiguous, in the machine's byte order; of `step` of its leading axis, if that is given.
    Of more than `most_bytes` the leading part.
    """
    with _opened(path) as variables:
        one = variables[name]
        lead = () if step is None else (step,)
        where = (*lead, *part_of(one.shape[len(lead) :], one.dtype.itemsize, most_bytes))
        values = np.asarray(one.values[where])
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def part_of(shape: tuple[int, ...], item_bytes: int, most_bytes: int) -> tuple[slice, ...]:
    """The index of a leading part of at most so many bytes; one row at least of every axis."""
    index: list[slice] = []
    for axis, size in enumerate(shape):
        row_bytes = item_bytes * math.prod(shape[axis + 1 :])
        rows = max(1, min(size, most_bytes // row_bytes))
        index.append(slice(0, rows))
        if rows > 1:
            break
    return tuple(index)


class _Variable:
    """What is known of one without reading it, and what gives its values when it is indexed."""

    def __init__(self, values: Any, leading: str = "", dtype: np.dtype | None = None):
        self.values = values
        self.dtype = np.dtype(values.dtype) if dtype is None else dtype
        self.shape = tuple(values.shape)
        self.leading = leading  # name of the leading dimension


def _steps(one: _Variable) -> int:
    """Along a leading axis of time; 0 where there is none, or a step is small."""
    if one.leading.lower() not in TIMES or len(one.shape) < 2 or one.shape[0] < LEAST_STEPS:
        return 0
    return int(one.shape[0]) if math.prod(one.shape[1:]) >= LEAST_VALUES else 0


@contextmanager
def _opened(path: Path) -> Iterator[dict[str, _Variable]]:
    """Of every type; the file is open in the block."""
    if path.is_dir():
        yield _of_plotfile(path)
    elif path.suffix.lower() == ".npy":
        yield {path.stem: _Variable(np.load(path, mmap_mode="r", allow_pickle=False))}
    elif path.suffix.lower() in NETCDF:
        with _netcdf(path) as found:
            yield found
    else:
        with _hdf5(path) as found:
            yield found


@contextmanager
def _netcdf(path: Path) -> Iterator[dict[str, _Variable]]:
    try:
        import netCDF4
    except ImportError as error:
        raise Error(f"netCDF files need netCDF4: {error}", FAILURE) from None
    found: dict[str, _Variable] = {}

    def walk(group: Any, prefix: str) -> None:
        for name, one in group.variables.items():
            if isinstance(one.dtype, np.dtype):
                one.set_auto_maskandscale(False)
                leading = one.dimensions[0] if one.dimensions else ""
                found[prefix + name] = _Variable(one, leading)
        for name, child in group.groups.items():
            walk(child, f"{prefix}{name}/")

    with netCDF4.Dataset(path) as dataset:
        walk(dataset, "")
        yield found


@contextmanager
def _hdf5(path: Path) -> Iterator[dict[str, _Variable]]:
    import h5py

    with h5py.File(path) as file:
        if "num_levels" in file.attrs:  # of Chombo's layout, which Neve's files have too
            yield _of_plotfile(path)
            return
        found: dict[str, _Variable] = {}

        def take(name: str, one: Any) -> None:
            if isinstance(one, h5py.Dataset) and one.dtype.kind == "f":
                found[name] = _Variable(one, _leading_scale(one))

        file.visititems(take)
        yield found


def _leading_scale(dataset: Any) -> str:
    """The name of the leading dimension, as netCDF-4 files have it; "" where there is none."""
    scales = dataset.dims[0].keys() if dataset.ndim else []
    return scales[0].rpartition("/")[2] if scales else ""


def _of_plotfile(path: Path) -> dict[str, _Variable]:
    """A variable for each level and component: its boxes, stacked where they have one shape, else
    in a row.
    """
    plotfile = neve.open(path)
    found = {}
    for number, level in enumerate(plotfile.levels):
        for name, field in level.items():
            found[f"level {number} {name}"] = _Lazy(field)
    return found


class _Lazy(_Variable):
    """Of a plotfile's field, whose boxes are read when they are asked for."""

    def __init__(self, field: Any):
        self._field = field
        self._stacked: np.ndarray | None = None
        self.leading = ""

    @property
    def values(self) -> np.ndarray:
        if self._stacked is None:
            # x fastest in memory: turned round that is C order.
            boxes = [np.asarray(box).T for box in self._field]
            alike = len({box.shape for box in boxes}) == 1
            join: Callable[..., np.ndarray] = np.stack if alike else np.concatenate
            self._stacked = join(boxes if alike else [box.reshape(-1) for box in boxes])
        return self._stacked

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape
