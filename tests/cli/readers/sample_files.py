# SPDX-License-Identifier: BSD-3-Clause
"""A file of each kind as `neve convert` makes it, and the values that Neve's own reader finds."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest

import neve

from .. import amrex_files, chombo_files
from ..conftest import run_as_stranger

PLOTFILE, CHECKPOINT, NETCDF, GROUPS, HDF5 = KINDS = (
    "plotfile",
    "checkpoint",
    "netCDF",
    "netCDF with groups",
    "HDF5",
)
BOXES = (PLOTFILE, CHECKPOINT)
DATA_FILES = (NETCDF, GROUPS, HDF5)

PLACES = amrex_files.Places(3, (-1.0, 0.0, 2.0), (0.1, 0.1, 0.1), (0, 0, 0), (32, 16, 16))
NETCDF_FILL, PACKED_FILL = -999.0, -32768


@dataclasses.dataclass(frozen=True)
class Sample:
    kind: str
    path: Path  # what `neve convert` made
    plain: Path  # the same values without a filter
    values: dict[str, np.ndarray]  # numbers and letters, by the name of the dataset
    texts: dict[str, list[str]]

    def only(self, holds: Callable[[str], bool]) -> Sample:
        values = {name: found for name, found in self.values.items() if holds(name)}
        texts = {name: found for name, found in self.texts.items() if holds(name)}
        assert values
        return dataclasses.replace(self, values=values, texts=texts)

    @property
    def fields(self) -> dict[str, np.ndarray]:
        """The floating-point values that Neve has compressed with its filter, but coordinates."""
        return {n: v for n, v in self.values.items() if v.dtype.kind == "f" and v.size > 100}


def _add_coordinates(file: netCDF4.Dataset, times: int, rows: int, columns: int) -> None:
    for name, units, places in (
        ("time", "days since 2000-01-01", np.arange(float(times))),
        ("lat", "degrees_north", np.linspace(-80, 80, rows)),
        ("lon", "degrees_east", np.arange(columns) * 360 / columns),
    ):
        file.createVariable(name, "f8", (name,))[:] = places
        file[name].units = units


def make_netcdf(path: Path) -> None:
    """A classic file: coordinates, a record dimension, fill values, a packed variable, letters."""
    random = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as file:
        for name, size in (("time", None), ("lat", 40), ("lon", 60), ("letters", 8)):
            file.createDimension(name, size)
        _add_coordinates(file, 12, 40, 60)
        shape, grid = (12, 40, 60), ("time", "lat", "lon")
        smooth = np.cumsum(random.standard_normal(shape), axis=2)
        air = file.createVariable("air", "f4", grid, fill_value=NETCDF_FILL, chunksizes=(6, 40, 60))
        air.units = "K"
        air[:] = np.ma.masked_where(random.random(shape) < 0.1, 280 + smooth)
        file.createVariable("pressure", "f8", grid, chunksizes=(4, 40, 60))[:] = 1e5 + 10 * smooth
        packed = file.createVariable("wind", "i2", grid, fill_value=PACKED_FILL, chunksizes=shape)
        packed.scale_factor, packed.add_offset = 0.01, 1.0
        packed[:] = smooth
        file.createVariable("mask_land", "i4", grid, chunksizes=shape)[:] = smooth.astype("i4")
        names = file.createVariable("name", "S1", ("lat", "letters"))
        names[:] = np.array([list(f"row {i:4d}") for i in range(40)], "S1")


def make_netcdf_with_groups(path: Path) -> None:
    """Groups in groups, a string variable, a packed one, NaN, a chunk that is not full."""
    random = np.random.default_rng(5)
    shape, grid = (10, 8, 12), ("time", "lat", "lon")
    smooth = np.cumsum(random.standard_normal(shape), axis=2)
    with netCDF4.Dataset(path, "w") as file:
        for name, size in (("time", None), ("lat", 8), ("lon", 12), ("row", 4)):
            file.createDimension(name, size)
        _add_coordinates(file, 10, 8, 12)
        file.createVariable("ice", "f4", grid, chunksizes=(4, 8, 12))[:] = smooth
        names = file.createVariable("title", str, ("row",))
        names[:] = np.array(["alpha", "beta", "a longer name", "d"], object)
        ocean = file.createGroup("ocean")
        surface = ocean.createVariable("sst", "f4", grid, fill_value=NETCDF_FILL, chunksizes=shape)
        surface[:] = np.ma.masked_where(random.random(shape) < 0.1, smooth)
        deep = ocean.createGroup("deep")
        speed = deep.createVariable("speed", "i2", grid, fill_value=PACKED_FILL, chunksizes=shape)
        speed.scale_factor, speed.add_offset = 0.01, 2.0
        speed[:] = smooth
        salt = 35 + 0.01 * smooth
        salt[3, 7, 2] = np.nan
        deep.createVariable("salt", "f8", grid, chunksizes=shape)[:] = salt


def make_hdf5(path: Path) -> None:
    """A file that nothing of netCDF's conventions is in."""
    random = np.random.default_rng(7)
    with h5py.File(path, "w") as file:
        values = np.cumsum(random.standard_normal((21, 30, 25)), axis=2)
        file.create_dataset("run/pressure", data=values, chunks=(10, 30, 25))
        phases = random.integers(0, 4, (40, 50)).astype("i2")
        file.create_dataset("run/phase", data=phases, chunks=(40, 50))
        temperature = np.cumsum(random.standard_normal((40, 50)), axis=1).astype("f4")
        file.create_dataset("temp", data=temperature, chunks=(40, 50))
        file.create_dataset("run/label", data=["a", "bc", "def"], dtype=h5py.string_dtype())
        file["run"].attrs["dt"] = 0.5


def _chunk_values(dataset: h5py.Dataset, number: int) -> tuple[tuple[int, ...], np.ndarray]:
    """Where a chunk lies, and its values as Neve's decoder has them: HDF5's filter has no part."""
    stored = dataset.id.get_chunk_info(number)
    skipped, frame = dataset.id.read_direct_chunk(stored.chunk_offset)
    values = np.frombuffer(frame, dataset.dtype) if skipped else neve.decompress(frame)
    return stored.chunk_offset, np.asarray(values).reshape(dataset.chunks)


def _own_boxes(path: Path) -> dict[str, np.ndarray]:
    """The datasets of a plotfile's levels, from the boxes that neve.open reads."""
    values = {}
    with neve.open(path) as plotfile, h5py.File(path) as file:
        for number, level in enumerate(plotfile):
            offsets = file[f"level_{number}/data:offsets=0"][()]
            place = np.zeros(offsets[-1])
            for box, begin in enumerate(offsets[:-1].tolist()):
                for name in plotfile.components:
                    cells = level[name][box]
                    place[begin : begin + cells.size] = cells.ravel(order="F")
                    begin += cells.size
            values[f"level_{number}/data:datatype=0"] = place
    return values


def _own_values(dataset: h5py.Dataset) -> np.ndarray:
    creation = dataset.id.get_create_plist()
    if creation.get_nfilters() == 0:
        return np.asarray(dataset[()])
    assert creation.get_filter(0)[0] == neve.Filter(lossless=True)["compression"]
    values = np.zeros(dataset.shape, dataset.dtype)
    for number in range(dataset.id.get_num_chunks()):
        offset, chunk = _chunk_values(dataset, number)
        places = tuple(
            slice(begin, min(begin + size, extent))
            for begin, size, extent in zip(offset, chunk.shape, dataset.shape, strict=True)
        )
        values[places] = chunk[tuple(slice(0, p.stop - p.start) for p in places)]
    return values


def own_values(kind: str, path: Path) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    """Numbers and letters of a file by Neve's own decoder, and texts."""
    values = _own_boxes(path) if kind == PLOTFILE else {}
    texts: dict[str, list[str]] = {}

    def take(name: str, item: h5py.HLObject) -> None:
        if not isinstance(item, h5py.Dataset) or not item.size or name.startswith("neve/"):
            return
        if b"not a netCDF variable" in bytes(item.attrs.get("NAME", b"")):
            return
        if h5py.check_string_dtype(item.dtype) and item.dtype.kind == "O":
            texts[name] = list(item.asstr()[()])
        elif item.dtype.kind in "fiuS" and name not in values:
            values[name] = _own_values(item)

    with h5py.File(path) as file:
        file.visititems(take)
    return values, texts


def stored_values(path: Path) -> dict[str, np.ndarray]:
    """Numbers and letters of any file, as h5py reads them."""
    found: dict[str, np.ndarray] = {}

    def take(name: str, item: h5py.HLObject) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiuS" and item.size:
            found[name] = np.asarray(item[()])

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def _make_plain(kind: str, source: Path, converted: Path, values: dict[str, np.ndarray]) -> Path:
    """The values without any filter: in the source or, of a plotfile, whose source is no HDF5 file,
    in h5repack's copy.
    """
    plain = converted.with_name(f"plain_{converted.name}")
    if kind == PLOTFILE:
        if shutil.which("h5repack") is None:
            pytest.skip("h5repack is not installed")
        run_as_stranger("h5repack", "-f", "NONE", str(converted), str(plain))
    else:
        shutil.copyfile(source, plain)
    with h5py.File(plain, "r+") as file:
        for name, found in values.items():
            file[name][...] = found
    return plain


def make_samples(folder: Path, run_neve: Callable[..., object]) -> dict[str, Sample]:
    amrex_files.write(folder / "plt", PLACES)
    variables = [chombo_files.Variable("data", components=2)]
    chombo_files.write(folder / "chk.h5", 3, variables, components=("rho", "energy"))
    make_netcdf(folder / "classic.nc")
    make_netcdf_with_groups(folder / "groups.nc")
    make_hdf5(folder / "data.h5")
    bound = ["--bound", "rel=1e-4"]
    made = {
        PLOTFILE: ("plt", "plotfile.h5", bound),
        CHECKPOINT: ("chk.h5", "checkpoint.h5", []),
        NETCDF: ("classic.nc", "packed.nc", bound),
        GROUPS: ("groups.nc", "packed_groups.nc", bound),
        HDF5: ("data.h5", "packed.h5", bound),
    }
    samples = {}
    for kind, (source, target, options) in made.items():
        path = folder / target
        run_neve("convert", folder / source, path, *options)
        run_neve("verify", folder / source, path)
        # A checkpoint keeps every bit, and its source has no filter.
        values, texts = own_values(kind, folder / source if kind == CHECKPOINT else path)
        plain = _make_plain(kind, folder / source, path, values)
        samples[kind] = Sample(kind, path, plain, values, texts)
    return samples
