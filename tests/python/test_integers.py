# SPDX-License-Identifier: BSD-3-Clause
"""Integers through Python, h5py and netCDF: every bit back, and never inside an error bound."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import reference_decoder
from arrays import assert_same_bits
from hypothesis import given
from hypothesis import strategies as st
from integers import DTYPES, integer_arrays

import neve

METHODS = [
    "auto",
    "B-zlib",
    "BW-zlib",
    "BWXOR-zlib",
    "zstd",
    "lz4",
    "shuffle-zstd",
    "shuffle-lz4",
    "bitshuffle-zstd",
    "bitshuffle-lz4",
    "xor-zstd",
    "lorenzo",
    "multiple",
    "rank",
]


@given(
    array=integer_arrays(),
    method=st.sampled_from(METHODS),
    effort=st.sampled_from(["fast", "balanced", "max"]),
)
def test_round_trip(array, method, effort):
    data = neve.compress(array, lossless=True, method=method, effort=effort, threads=1)
    assert_same_bits(neve.decompress(data), array)
    assert neve.info(data)["dtype"] == array.dtype.name


@given(array=integer_arrays(), method=st.sampled_from(METHODS))
def test_the_format_page_is_enough(array, method):
    data = neve.compress(array, lossless=True, method=method, threads=1)
    assert_same_bits(reference_decoder.decode(data), array)


@given(array=integer_arrays(), where=st.floats(0, 1), bit=st.integers(0, 7))
def test_damage_is_refused_or_harmless(array, where, bit):
    data = bytearray(neve.compress(array, lossless=True, threads=1))
    data[min(int(where * len(data)), len(data) - 1)] ^= 1 << bit
    try:
        found = neve.decompress(bytes(data))
    except neve.Error:
        return
    assert_same_bits(found, array)


def test_layouts_and_byte_orders():
    array = np.arange(-60, 60, dtype=np.int16).reshape(4, 5, 6)
    for given_array in (array.astype(">i2"), np.asfortranarray(array), array[::-1, :, ::2]):
        data = neve.compress(given_array, lossless=True)
        assert_same_bits(neve.decompress(data), np.ascontiguousarray(given_array).astype("i2"))


def test_fill_values_are_exact():
    array = np.arange(4000, dtype=np.int64).reshape(50, 80) // 7
    array[10:30] = -9223372036854775806  # NC_FILL_INT64: no double has it
    assert neve.info(neve.compress(array, lossless=True))["components"][0]["fill"] == array[10, 0]
    array = array.view(np.uint64)
    data = neve.compress(array, lossless=True, fill=int(array[10, 0]))
    assert neve.info(data)["components"][0]["fill"] == array[10, 0]
    masked = np.ma.masked_equal(np.array([[3, 200], [200, 4]], np.uint8), 200)
    data = neve.compress(masked, lossless=True)
    assert_same_bits(neve.decompress(data), masked.filled())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rel": 1e-3}, "integers are kept bit for bit"),
        ({"abs": 1.0}, "integers are kept bit for bit"),
        ({"lossless": True, "codec": "dual_quant"}, "codec dual_quant for values of i16"),
        ({"lossless": True, "codec": "context"}, "codec context for values of i16"),
        ({"lossless": True, "fill": 0.5}, "fill=0.5 is not a value of type int16"),
        ({"lossless": True, "fill": 40000}, "fill=40000 is not a value of type int16"),
        ({"lossless": True, "fill": "sea"}, "fill='sea' is not a number"),
    ],
)
def test_what_integers_cannot_have(arguments, words):
    with pytest.raises(neve.Error, match=words.replace("[", r"\[")):
        neve.compress(np.arange(10, dtype=np.int16), **arguments)


@pytest.mark.parametrize("dtype", DTYPES)
def test_hdf5_datasets(tmp_path, dtype):
    random = np.random.default_rng(3)
    array = (
        np.add.outer(np.arange(60), np.arange(90)) // 9 + random.integers(0, 2, (60, 90))
    ).astype(dtype)
    array[20:30] = np.iinfo(dtype).max
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, chunks=(25, 40), **neve.Filter(lossless=True))
        file.create_dataset(
            "y",
            data=array,
            chunks=(25, 40),
            **neve.Filter(lossless=True, fill=int(np.iinfo(dtype).max), effort="max"),
        )
    with h5py.File(path) as file:
        for name in "xy":
            assert file[name].id.get_storage_size() < array.nbytes
            assert_same_bits(file[name][()], array)
            assert_same_bits(file[name][24:27, 39:41], array[24:27, 39:41])


def of_codec(number):
    """Parameters as another program may give them: neve.Filter makes none that contradict."""
    arguments = dict(neve.Filter(lossless=True))
    words = list(arguments["compression_opts"])
    words[4] = number
    return arguments | {"compression_opts": tuple(words)}


def test_hdf5_refuses_by_name(tmp_path):
    context = dict(neve.Filter(abs=1, codec="context", rewrite=False))["compression_opts"][4]
    with pytest.raises(neve.Error, match="codec context cannot keep the bound lossless"):
        neve.Filter(lossless=True, codec="context")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for dtype, arguments, words in (
            ("<i4", neve.Filter(abs=1e-3), "bound abs=0.001 for values of i32"),
            ("<i4", of_codec(context), "codec context for values of i32"),
            ("<u2", neve.Filter(lossless=True, fill=-1), "fill value -1 does not fit into u16"),
            (
                "<u2",
                neve.Filter(lossless=True, fill=0.5),
                "fill value 0.5 is not a value of type u16",
            ),
        ):
            with pytest.raises(ValueError, match=words):
                file.create_dataset("x", data=np.arange(100), dtype=dtype, **arguments)
        file.create_dataset(
            "y", data=np.arange(100), dtype="<f4", **neve.Filter(abs=0.1, fill=2**40)
        )


def test_netcdf_reads_them(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    array = np.arange(1200, dtype=np.int16).reshape(30, 40)
    array[3] = -32767
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("y", 30)
        file.createDimension("x", 40)
        variable = file.createVariable("t", "i2", ("y", "x"), chunksizes=(10, 40))
        variable[:] = array
    with h5py.File(path, "r+") as file:
        copy = file.create_dataset("u", data=array, chunks=(10, 40), **neve.Filter(lossless=True))
        for d, name in enumerate("yx"):
            copy.dims[d].attach_scale(file[name])
    with netcdf.Dataset(path) as file:
        file["u"].set_auto_mask(False)
        assert_same_bits(np.asarray(file["u"][:]), array)
