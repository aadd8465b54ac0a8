# SPDX-License-Identifier: BSD-3-Clause
"""Every variable of the netCDF files and every AMR field that the lossless table is measured on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import neve
from neve._errors import FAILURE, Error

from .case import Case

GROUPS = ("climate", "amr", "sample")
SAMPLE_SIZE = (12, 40, 60)


def _native(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def _is_number(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize in (4, 8))


def _netcdf(path: Path) -> Iterator[Case]:
    import netCDF4

    def walk(group, prefix: str) -> Iterator[Case]:
        for name, variable in group.variables.items():
            if not isinstance(variable.dtype, np.dtype) or not _is_number(variable.dtype):
                continue
            variable.set_auto_maskandscale(False)
            array = np.asarray(variable[...])
            if array.size > 0:
                yield Case("climate", f"{path.name}:{prefix}{name}", _native(array))
        for name, child in group.groups.items():
            yield from walk(child, f"{prefix}{name}/")

    with netCDF4.Dataset(path) as dataset:
        yield from walk(dataset, "")


def _plotfile(path: Path) -> Iterator[Case]:
    """A variable for each level and component: all its boxes, stacked where they have one shape."""
    plotfile = neve.open(path)
    for number, level in enumerate(plotfile.levels):
        for name, field in level.items():
            # x fastest in memory: turned round that is C order.
            boxes = [np.asarray(box).T for box in field]
            stacks: dict[tuple[int, ...], list[np.ndarray]] = {}
            for box in boxes:
                stacks.setdefault(box.shape, []).append(box)
            for shape, of_shape in stacks.items():
                size = "x".join(map(str, shape))
                label = f"{path.name}:level {number} {name} {len(of_shape)} of {size}"
                yield Case("amr", label, _native(np.stack(of_shape)))


def sample() -> Iterator[Case]:
    """Needs no files: what the kinds of variables in climate files look like, from a fixed seed."""
    random = np.random.default_rng(11)
    t, y, x = np.meshgrid(*(np.linspace(0, 3, n) for n in SAMPLE_SIZE), indexing="ij")
    smooth = 280 + 15 * np.sin(2 * x + t) * np.cos(y) + 0.05 * random.standard_normal(x.shape)
    land = np.sin(3 * x) * np.cos(2 * y) > 0.6
    masked = np.where(land, 1e20, smooth)
    packed = np.where(land, -32767, np.round((smooth - 280) * 1000))
    kinds = {
        "temperature": smooth.astype("f4"),
        "temperature f64": smooth,
        "masked": masked.astype("f4"),
        "decimals": np.round(smooth, 1).astype("f4"),
        "packed": packed.astype("i2"),
        "land": land.astype("i1"),
        "index": np.arange(smooth.size, dtype="i4").reshape(smooth.shape),
        "constant": np.full(SAMPLE_SIZE, 3.5, "f4"),
    }
    for name, array in kinds.items():
        yield Case("sample", name, np.ascontiguousarray(array))


def load(groups: list[str], data: Path, without_data: str = "") -> Iterator[Case]:
    """One at a time; C-contiguous, in the byte order of the machine. `without_data`: what a caller
    without the files can do instead.
    """
    if "climate" in groups:
        files = sorted((data / "climate").glob("*.nc"))
        if not files:
            raise Error(_no_data("climate/*.nc", without_data), FAILURE)
        for path in files:
            yield from _netcdf(path)
    if "amr" in groups:
        paths = [p for p in sorted((data / "amr").glob("*")) if (p / "Header").exists()]
        paths += sorted((data / "chombo").glob("*.hdf5"))
        if not paths:
            raise Error(_no_data("amr/* and chombo/*.hdf5", without_data), FAILURE)
        for path in paths:
            yield from _plotfile(path)
    if "sample" in groups:
        yield from sample()


def _no_data(what: str, without_data: str) -> str:
    found = f"{what}: not in the data folder given with --data (default ../shared/data)"
    return f"{found}; {without_data} needs no data" if without_data else found
