# SPDX-License-Identifier: BSD-3-Clause
"""neve.Filter in files that are used: chunks rewritten in parts, extended, repacked, copied by
other tools, with fill values and other filters. No value may leave its bound.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from arrays import assert_same_bits, assert_within, value_range

import neve

EFFORTS = ("fast", "balanced", "max")
SEQUENCES = 1000 if os.environ.get("NEVE_TEST_LONG") else 100
EACH = 20  # of one test


@pytest.fixture(scope="module")
def h5repack():
    tool = shutil.which("h5repack")
    if tool is None:
        pytest.skip("h5repack is not installed")
    return tool


def repack(tool: str, source, target, *options: str) -> None:
    done = subprocess.run(
        [tool, *options, str(source), str(target)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def field(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    base = rng.choice([0.0, 280.0, -1e5])
    walk = np.cumsum(rng.standard_normal(shape), axis=int(rng.integers(len(shape))))
    return (base + walk).astype(dtype)


class Model:
    """A dataset with a filter, and what it must hold."""

    def __init__(self, path, seed: int, tool: str):
        self.path, self.tool = path, tool
        self.rng = rng = np.random.default_rng(seed)
        dims = int(rng.integers(1, 4))
        self.shape = tuple(int(n) for n in rng.integers(3, 24, dims))
        self.dtype = str(rng.choice(["f4", "f8"]))
        self.fill = self.dtype_of(rng.choice([0.0, 12345.678, -9999.1]))
        self.truth = np.full(self.shape, self.fill, self.dtype)
        self.written = np.zeros(self.shape, bool)
        self.source = field(rng, (64,) * dims, self.dtype)
        options = {"effort": str(rng.choice(EFFORTS))}
        if rng.random() < 0.5:
            self.bound = float(10 ** rng.uniform(-4, 1))
            options["abs"] = self.bound
        else:
            options["rel"] = float(10 ** rng.uniform(-5, -1))
            self.bound = options["rel"] * value_range(self.source)
        if "rel" in options or rng.random() < 0.5:
            options["data"] = self.source
        chunks = tuple(int(rng.integers(1, n + 4)) for n in self.shape)
        with h5py.File(path, "w") as file:
            file.create_dataset(
                "x",
                shape=self.shape,
                maxshape=(None,) * dims,
                chunks=chunks,
                dtype=self.dtype,
                fillvalue=self.fill if self.fill != 0 else None,
                **neve.Filter(**options),
            )

    def dtype_of(self, value: float):
        return np.dtype(self.dtype).type(value)

    def step(self) -> None:
        kind = self.rng.choice(["slab", "slab", "points", "whole", "resize", "repack", "copy"])
        getattr(self, kind)()
        self.check()

    def new_values(self, shape: tuple[int, ...]) -> np.ndarray:
        first = [int(self.rng.integers(0, 64 - n + 1)) for n in shape]
        return self.source[tuple(slice(f, f + n) for f, n in zip(first, shape, strict=True))]

    def put(self, place, values: np.ndarray) -> None:
        with h5py.File(self.path, "r+") as file:
            file["x"][place] = values
        self.truth[place] = values
        self.written[place] = True

    def slab(self) -> None:
        begin = [int(self.rng.integers(0, n)) for n in self.shape]
        room = [n - b for n, b in zip(self.shape, begin, strict=True)]
        size = [int(self.rng.integers(1, n + 1)) for n in room]
        place = tuple(slice(b, b + n) for b, n in zip(begin, size, strict=True))
        self.put(place, self.new_values(tuple(size)))

    def whole(self) -> None:
        self.put(..., self.new_values(self.shape))

    def points(self) -> None:
        for _ in range(5):
            place = tuple(int(self.rng.integers(0, n)) for n in self.shape)
            self.put(place, self.new_values((1,) * len(self.shape)).ravel()[0])

    def resize(self) -> None:
        """Grows or shrinks along one axis; what comes back after shrinking is the fill value."""
        axis = int(self.rng.integers(len(self.shape)))
        size = int(np.clip(self.shape[axis] + self.rng.integers(-3, 6), 1, 40))
        with h5py.File(self.path, "r+") as file:
            file["x"].resize(size, axis=axis)
        keep = tuple(slice(0, min(size, n) if d == axis else n) for d, n in enumerate(self.shape))
        old_truth, old_written = self.truth[keep], self.written[keep]
        self.shape = tuple(size if d == axis else n for d, n in enumerate(self.shape))
        self.truth = np.full(self.shape, self.fill, self.dtype)
        self.written = np.zeros(self.shape, bool)
        self.truth[keep], self.written[keep] = old_truth, old_written

    def repack(self) -> None:
        chunk = "x".join(str(int(self.rng.integers(1, n + 1))) for n in self.shape)
        other = self.path.with_suffix(".repacked")
        repack(self.tool, self.path, other, "-l", f"x:CHUNK={chunk}")
        other.replace(self.path)

    def copy(self) -> None:
        """Into another file, with the same properties, by pieces that are not chunks."""
        other = self.path.with_suffix(".copy")
        with h5py.File(self.path) as file, h5py.File(other, "w") as to:
            old = file["x"]
            space = h5py.h5s.create_simple(old.shape, (h5py.h5s.UNLIMITED,) * old.ndim)
            plist = old.id.get_create_plist()
            made = h5py.h5d.create(to.id, b"x", old.id.get_type(), space, plist)
            new = h5py.Dataset(made)
            for row in range(old.shape[0]):
                new[row] = old[row]
        self.written[...] = True
        other.replace(self.path)

    def check(self) -> None:
        with h5py.File(self.path) as file:
            found = file["x"][()]
        assert found.shape == self.truth.shape
        is_fill = self.truth == self.fill
        assert_same_bits(found[is_fill], self.truth[is_fill])
        error = np.abs(found.astype("f8") - self.truth.astype("f8"))
        assert error.max() <= self.bound


@pytest.mark.parametrize("first", range(0, SEQUENCES, EACH))
def test_random_sequences(tmp_path, h5repack, first):
    for seed in range(first, first + EACH):
        model = Model(tmp_path / f"{seed}.h5", seed, h5repack)
        model.check()
        for _ in range(10):
            model.step()


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_padding_is_no_value(tmp_path, dtype, effort):
    """Edge chunks reach out of the dataset, where HDF5 has zeros."""
    rng = np.random.default_rng(3)
    array = (280 + np.cumsum(rng.standard_normal((20, 60, 80)), axis=2)).astype(dtype)
    limits = (float(array.min()), float(array.max()))
    for options in (
        {"data": array},
        {"range": limits},
        {"rewrite": False},
        {"rewrite": False, "codec": "interpolation"},
    ):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            dataset = file.create_dataset(
                "x",
                data=array,
                chunks=(16, 60, 80),
                **neve.Filter(rel=1e-3, effort=effort, **options),
            )
            assert_within(dataset[()], array, 1e-3 * value_range(array))
            assert dataset.id.get_storage_size() < array.nbytes / 2


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("fill", [12345.0, -9999.1, np.nan, 280.25, 0.0])
def test_the_datasets_own_fill_value(tmp_path, fill, effort):
    rng = np.random.default_rng(4)
    array = (280 + np.cumsum(rng.standard_normal((50, 60)), axis=1)).astype("f4")
    array[20:25] = np.linspace(-1, 1, 60)
    array[10:20, 5:] = fill
    of_data = {"rel": 1e-3, "data": array, "fill": fill}
    for options in ({"abs": 0.01}, of_data, {"rel": 1e-3, "rewrite": False}):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            dataset = file.create_dataset(
                "x",
                shape=(64, 60),
                dtype="f4",
                chunks=(16, 60),
                fillvalue=fill,
                **neve.Filter(effort=effort, **options),
            )
            dataset[:50] = array
        with h5py.File(tmp_path / "a.h5") as file:
            found = file["x"][()]
        assert_same_bits(found[50:], np.full((14, 60), fill, "f4"))
        masked = np.isnan(array) if np.isnan(fill) else array == np.float32(fill)
        assert_same_bits(found[:50][masked], array[masked])
        assert not (found[:50][~masked] == np.float32(fill)).any()
        limit = options.get("abs", 1e-3 * value_range(array, fill))
        assert np.abs(found[:50] - array)[~masked].max() <= limit


def test_a_range_that_ends_at_the_fill_value_is_refused(tmp_path):
    """Else the bound would be relative to what is no value."""
    array = np.array([-9999.1, 1, 2, 3], "f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        with pytest.raises(ValueError, match="ends at the dataset's own fill value"):
            arguments = neve.Filter(rel=0.1, data=array)
            file.create_dataset("x", data=array, chunks=(4,), fillvalue=-9999.1, **arguments)
        arguments = neve.Filter(rel=0.1, data=array, fill=-9999.1)
        file.create_dataset("x", data=array, chunks=(4,), fillvalue=-9999.1, **arguments)
        assert file["x"][0] == array[0]
        assert np.abs(file["x"][1:] - array[1:]).max() <= 0.2


def test_several_fill_values(tmp_path):
    rng = np.random.default_rng(5)
    fills = (-999.0, 1e30, 280.5)
    array = (280 + np.cumsum(rng.standard_normal((50, 60)), axis=1)).astype("f4")
    for k, fill in enumerate(fills):
        array[rng.random(array.shape) < 0.1 * (k + 1)] = fill
    missing = np.isin(array, np.array(fills, "f4"))
    for options in ({"abs": 0.3}, {"rel": 1e-2, "data": array}, {"rel": 1e-2, "rewrite": False}):
        path = tmp_path / "a.h5"
        with h5py.File(path, "w") as file:
            arguments = neve.Filter(fill=fills, **options)
            file.create_dataset("x", data=array, chunks=(16, 60), **arguments)
        with h5py.File(path) as file:
            found = file["x"][()]
        assert_same_bits(found[missing], array[missing])
        assert np.array_equal(np.isin(found, np.array(fills, "f4")), missing)
        limit = options.get("abs", 1e-2 * np.ptp(array[~missing].astype("f8")))
        assert np.abs(found - array)[~missing].max() <= limit


def test_negative_zeros_are_the_fill_value_0(tmp_path):
    """So they are to every reader that compares: they count in no range."""
    rng = np.random.default_rng(1)
    array = (280 + rng.standard_normal(2000)).astype("f4")
    array[::7] = -0.0
    valid = array != 0
    for options in ({"data": array}, {"rewrite": False}):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            arguments = neve.Filter(rel=1e-3, fill=0.0, **options)
            file.create_dataset("x", data=array, chunks=(500,), **arguments)
        with h5py.File(tmp_path / "a.h5") as file:
            found = file["x"][()]
        assert_same_bits(found[~valid], array[~valid])
        assert np.abs(found - array)[valid].max() <= 1e-3 * np.ptp(array[valid])


def test_a_range_of_data_leaves_fill_values_out():
    array = np.ma.masked_less(np.array([-999.0, 1, 3, -999]), 0)
    with pytest.raises(neve.Error, match="numbers are none of its fill values"):
        neve.Filter(rel=0.1, data=array)
    array.fill_value = -999.0
    assert "abs=0.2, range=(1.0, 3.0), fill=-999.0" in repr(neve.Filter(rel=0.1, data=array))
    plain = np.array([1e20, 1, 3, 2], "f4")
    assert "range=(1.0, 3.0)" in repr(neve.Filter(rel=0.1, data=plain))
    assert "lossless=True" in repr(neve.Filter(rel=0.1, data=np.full(5, 7.0)))
    assert repr(neve.Filter(rel=0.1, rewrite=False)) == "neve.Filter(rel=0.1, rewrite=False)"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("effort", EFFORTS)
def test_filters_ahead_that_change_bytes_are_refused(tmp_path, dtype, effort):
    array = np.linspace(0, 1, 4000).astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for options in ({"abs": 1e-2}, {"rel": 1e-2, "data": array}):
            with pytest.raises(ValueError, match="filter shuffle stands before Neve's"):
                file.create_dataset(
                    "x", data=array, shuffle=True, **neve.Filter(effort=effort, **options)
                )
        arguments = neve.Filter(lossless=True, effort=effort)
        file.create_dataset("y", data=array, shuffle=True, fletcher32=True, **arguments)
        assert_same_bits(file["y"][()], array)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((100,))
        plist.set_deflate(1)  # and so do all but shuffles where every bit is kept
        plist.set_filter(neve._core.FILTER_ID, 0, arguments["compression_opts"])
        space = h5py.h5s.create_simple((4000,))
        with pytest.raises(ValueError, match=r"filter gzip \(deflate\) stands before"):
            h5py.h5d.create(file.id, b"z", h5py.h5t.IEEE_F32LE, space, plist)


@pytest.mark.parametrize("options", [{"rel": 1e-3}, {"abs": 0.05, "codec": "interpolation"}])
def test_what_was_written_once_is_copied_bit_for_bit(tmp_path, h5repack, options):
    rng = np.random.default_rng(6)
    array = (280 + np.cumsum(rng.standard_normal((40, 50)), axis=1)).astype("f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        arguments = neve.Filter(rewrite=False, effort="max", **options)
        file.create_dataset("x", data=array, chunks=(10, 50), **arguments)
        before = file["x"][()]
    assert not np.array_equal(before, array)
    repack(h5repack, tmp_path / "a.h5", tmp_path / "b.h5", "-l", "x:CHUNK=7x9")
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        assert_same_bits(file["x"][()], before)
        file["x"][3, 3] = 1.2345
        assert file["x"][3, 3] == np.float32(1.2345)
    repack(h5repack, tmp_path / "b.h5", tmp_path / "c.h5", "-l", "x:CHUNK=40x50")
    with h5py.File(tmp_path / "c.h5") as file:
        before[3, 3] = 1.2345
        assert_same_bits(file["x"][()], before)


def test_other_tools_copy_within_the_bound(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    nccopy = shutil.which("nccopy")
    if nccopy is None:
        pytest.skip("nccopy is not installed")
    rng = np.random.default_rng(7)
    array = (280 + np.cumsum(rng.standard_normal((30, 40, 20)), axis=1)).astype("f4")
    first = tmp_path / "0.nc"
    with netcdf.Dataset(first, "w") as file:
        for name, size in zip("tyx", array.shape, strict=True):
            file.createDimension(name, size)
    with h5py.File(first, "r+") as file:
        arguments = neve.Filter(abs=0.01)
        dataset = file.create_dataset("v", data=array, chunks=(10, 40, 20), **arguments)
        for d, name in enumerate("tyx"):
            dataset.dims[d].attach_scale(file[name])
    for k, chunks in enumerate(("t/7,y/9,x/20", "t/30,y/1,x/20", "t/1,y/40,x/3")):
        done = subprocess.run(
            [nccopy, "-c", chunks, tmp_path / f"{k}.nc", tmp_path / f"{k + 1}.nc"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        with netcdf.Dataset(tmp_path / f"{k + 1}.nc") as file:
            assert_within(np.asarray(file["v"][:]), array, 0.01)


def test_xarray_and_dask(tmp_path):
    """Encodings as xarray hands them on, blocks that are not chunks, a store that is added to."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    pytest.importorskip("dask")
    rng = np.random.default_rng(8)
    array = (280 + np.cumsum(rng.standard_normal((24, 30, 40)), axis=1)).astype("f4")
    array[rng.random(array.shape) < 0.1] = np.nan
    data = xarray.Dataset({"v": (("t", "y", "x"), array)})
    encoding = {"v": {**neve.Filter(abs=0.01), "chunksizes": (7, 30, 40), "_FillValue": -9999.1}}
    path = tmp_path / "a.nc"
    data.chunk({"t": 5, "y": 11}).to_netcdf(path, engine="h5netcdf", encoding=encoding)
    with xarray.open_dataset(path, engine="h5netcdf") as found:
        values = found["v"].values
        assert np.array_equal(np.isnan(values), np.isnan(array))
        assert np.nanmax(np.abs(values - array)) <= 0.01
        handed_on = {"shuffle": True, "chunksizes": found["v"].encoding["chunksizes"]}
    with pytest.raises(ValueError, match="filter shuffle stands before Neve's"):
        data.to_netcdf(
            tmp_path / "b.nc",
            engine="h5netcdf",
            encoding={"v": {**handed_on, **neve.Filter(abs=0.01)}},
        )


def hints(tmp_path, script: str, **variables) -> int:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", f"import h5py, neve, numpy as np\n{script}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.count("are decoded and encoded again for each part of them")


def test_a_hint_where_chunks_are_coded_again_and_again(tmp_path):
    made = (
        "a = np.random.default_rng(1).random((40, 200, 200), 'f4')\n"
        "file = h5py.File('a.h5', 'w', rdcc_nbytes=0)\n"
        "d = file.create_dataset('x', shape=a.shape, dtype='f4', chunks=(40, 200, 200), "
        "**neve.Filter(abs=0.01))\n"
    )
    by_step = made + "for t in range(40): d[t] = a[t]\n" * 2
    assert hints(tmp_path, by_step) == 1
    assert hints(tmp_path, by_step, NEVE_HINTS="0") == 0
    assert hints(tmp_path, by_step, OMPI_COMM_WORLD_RANK="3") == 0
    copies = made + "for t in range(40): d[...] = a; a = d[...]\n"
    assert hints(tmp_path, copies) == 0


@pytest.mark.parametrize(
    ("shape", "axis", "expected"),
    [
        ((100, 180, 360), 0, (1, 180, 360)),
        ((100, 96, 144), 0, (4, 96, 144)),
        ((0, 10), 0, (6553, 10)),
        ((48, 2048, 2048), 0, (1, 1024, 1024)),
        ((2048, 2048, 10), -1, (1024, 1024, 1)),
        ((12, 10, 10), 0, (12, 10, 10)),
    ],
)
def test_chunks_for_appending(shape, axis, expected):
    assert neve.guess_chunks(shape, "f4", append_axis=axis) == expected


def test_an_axis_that_is_none():
    with pytest.raises(neve.Error, match="append_axis=3 is no axis of a shape of 2"):
        neve.guess_chunks((3, 4), "f4", append_axis=3)
