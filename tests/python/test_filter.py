# SPDX-License-Identifier: BSD-3-Clause
"""neve.Filter in h5py: any N-d dataset written and read back through the plugin."""

from __future__ import annotations

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
from arrays import assert_same_bits, assert_within, value_range
from hypothesis import given
from hypothesis import strategies as st

import neve


def field(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    return np.cumsum(rng.standard_normal(shape), axis=-1).astype(dtype)


def written(path, array: np.ndarray, **arguments) -> np.ndarray:
    """What a second opening of the file reads."""
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, **arguments)
    with h5py.File(path, "r") as file:
        return file["x"][()]


# Chunks that do not divide the shape: HDF5 hands the filter edge chunks padded to the full size.
SHAPES = {1: (1000,), 2: (37, 53), 3: (17, 19, 23), 4: (5, 7, 11, 13), 5: (3, 5, 7, 4, 9)}
CHUNKS = {1: (300,), 2: (16, 20), 3: (8, 8, 10), 4: (2, 4, 6, 8), 5: (2, 2, 3, 4, 5)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", SHAPES)
def test_round_trip_with_partial_edge_chunks(tmp_path, dims, dtype):
    array = field(SHAPES[dims], dtype)
    of_chunks = {"rel": 1e-3, "rewrite": False}
    for bound in ({"abs": 0.01}, {"rel": 1e-3, "data": array}, of_chunks):
        limit = bound.get("abs", 1e-3 * value_range(array))
        found = written(tmp_path / "a.h5", array, chunks=CHUNKS[dims], **neve.Filter(**bound))
        assert_within(found, array, limit)
        assert not np.array_equal(found, array), "nothing was lost: was it compressed at all?"
    found = written(tmp_path / "b.h5", array, chunks=CHUNKS[dims], **neve.Filter(lossless=True))
    assert_same_bits(found, array)


@given(st.data())
def test_round_trip_of_any_shape_and_chunks(tmp_path_factory, data):
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=5)))
    chunks = tuple(data.draw(st.integers(1, n)) for n in shape)
    array = field(shape, data.draw(st.sampled_from([np.float32, np.float64])))
    path = tmp_path_factory.mktemp("any") / "a.h5"
    assert_within(written(path, array, chunks=chunks, **neve.Filter(abs=1e-3)), array, 1e-3)


def test_one_line_without_chunks(tmp_path):
    array = field((80, 90, 100), np.float32)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", data=array, **neve.Filter(rel=1e-3, data=array))
        assert dataset.chunks is not None
        assert dataset.id.get_storage_size() < array.nbytes / 3
        assert_within(dataset[()], array, 1e-3 * value_range(array))


def test_rel_is_of_each_chunk(tmp_path):
    array = np.concatenate([np.sin(np.arange(1000)) * 1e-3, np.sin(np.arange(1000)) * 1e3])
    arguments = neve.Filter(rel=1e-2, rewrite=False)
    found = written(tmp_path / "a.h5", array, chunks=(1000,), **arguments)
    assert_within(found[:1000], array[:1000], 1e-2 * 2e-3)
    assert_within(found[1000:], array[1000:], 1e-2 * 2e3)


def test_fill_and_specials(tmp_path):
    array = field((60, 60), np.float32)
    array[5:20] = -999
    array[30, :] = np.nan
    array[31, ::2] = -0.0
    arguments = neve.Filter(abs=1e-2, fill=-999.0)
    assert_within(written(tmp_path / "a.h5", array, **arguments), array, 1e-2, -999.0)
    array[5:20] = 1e20
    arguments = neve.Filter(rel=1e-3, data=array)
    detected = written(tmp_path / "b.h5", array, chunks=array.shape, **arguments)
    fill = float(np.float32(1e20))
    assert_within(detected, array, 1e-3 * value_range(array, fill), fill)


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u8", ">i1"])
def test_big_endian_datasets(tmp_path, dtype):
    array = np.round(100 * np.abs(field((40, 50), np.float64))).astype(dtype)
    found = written(tmp_path / "a.h5", array, chunks=(16, 20), **neve.Filter(lossless=True))
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()
    if array.dtype.kind != "f":
        return
    array[3] = -7.5
    found = written(
        tmp_path / "b.h5", array, chunks=(16, 20), fillvalue=-7.5, **neve.Filter(abs=0.1)
    )
    assert found.dtype == array.dtype
    assert_within(found.astype("f8"), array.astype("f8"), 0.1, -7.5)
    assert not np.array_equal(found, array)


def test_the_same_frame_in_both_byte_orders(tmp_path):
    """The plugin remembers what frames decode to."""
    array = np.arange(3000.0) / 7
    for first, second in (("<f8", ">f8"), (">f8", "<f8")):
        for options in ({"lossless": True}, {"abs": 0.1}):
            with h5py.File(tmp_path / "a.h5", "w") as file:
                for name, dtype in (("x", first), ("y", second)):
                    arguments = neve.Filter(**options)
                    file.create_dataset(name, data=array.astype(dtype), chunks=(100,), **arguments)
            with h5py.File(tmp_path / "a.h5") as file:
                for name in "xy":
                    assert np.abs(file[name][()] - array).max() <= options.get("abs", 0)


def test_the_filter_stands_once(tmp_path):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((100,))
    for _ in range(2):
        plist.set_filter(466, 0, neve.Filter(abs=0.1)["compression_opts"])
    space = h5py.h5s.create_simple((100,))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        with pytest.raises(ValueError, match="stands twice"):
            h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F32LE, space, plist)


def test_growing_dataset_and_partial_reads(tmp_path):
    array = field((50, 40), np.float64)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset(
            "x",
            shape=(0, 40),
            maxshape=(None, 40),
            dtype="f8",
            chunks=(8, 40),
            **neve.Filter(abs=0.1),
        )
        for i in range(0, 50, 7):
            rows = array[i : i + 7]
            dataset.resize(i + len(rows), axis=0)
            dataset[i:] = rows
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert_within(file["x"][()], array, 0.1)
        assert_same_bits(file["x"][11:13, ::3], file["x"][()][11:13, ::3])


def test_a_stored_chunk_is_a_frame(tmp_path):
    array = field((30, 20), np.float64)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", data=array, chunks=(30, 20), **neve.Filter(abs=0.1))
        mask, raw = dataset.id.read_direct_chunk((0, 0))
        assert mask == 0
        assert_same_bits(neve.decompress(raw), dataset[()])


def test_h5dump_reads_it_with_the_plugin(tmp_path, h5dump):
    path = tmp_path / "a.h5"
    array = np.full((10, 10), 2.5)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, **neve.Filter(rel=1e-3, data=array))
    environment = {"HDF5_PLUGIN_PATH": str(neve.plugin_dir())}
    done = subprocess.run(
        [h5dump, "-d", "/x", str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("2.5") == array.size


def test_importing_neve_after_h5py_is_enough(tmp_path):
    path = tmp_path / "a.h5"
    array = field((20, 20), np.float32)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, **neve.Filter(abs=0.01))
    script = (
        "import sys, h5py\n"
        "file = h5py.File(sys.argv[1])\n"
        "import neve\n"
        "print(float(file['x'][3, 4]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout) - array[3, 4]) <= 0.01


@pytest.mark.parametrize("dtype", ["i4", "f2", "c8"])
def test_other_dtypes_are_refused(tmp_path, dtype):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        with pytest.raises(ValueError, match="Neve"):
            file.create_dataset("x", data=np.zeros(100, dtype), **neve.Filter(abs=1e-3))


def test_a_damaged_chunk_is_an_error(tmp_path):
    path = tmp_path / "a.h5"
    array = field((40, 40), np.float64)
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("x", data=array, chunks=(40, 40), **neve.Filter(abs=0.01))
        place = dataset.id.get_chunk_info(0)
    with open(path, "r+b") as raw:
        raw.seek(place.byte_offset + place.size // 2)
        byte = raw.read(1)[0]
        raw.seek(-1, 1)
        raw.write(bytes([byte ^ 0x10]))
    with h5py.File(path, "r") as file, pytest.raises(OSError):
        file["x"][()]


def test_filter_is_a_mapping_with_exact_bound():
    arguments = dict(neve.Filter(abs=0.1, codec="dual_quant", effort="max", fill=1e20))
    assert set(arguments) == {"compression", "compression_opts"}
    words = arguments["compression_opts"]
    assert words[:2] == (2, 1)
    assert words[2] | words[3] << 32 == int(np.array(0.1).view(np.uint64))
    assert words[4:7] == (1, 2, 3)
    assert words[7] | words[8] << 32 == int(np.array(1e20).view(np.uint64))


def test_what_is_said_of_methods_is_layout_3():
    plain = neve.Filter(lossless=True)["compression_opts"]
    assert plain[0] == 2
    same = neve.Filter(lossless=True, candidates="all", speed_weight=0, ratio_weight=1)
    assert same["compression_opts"] == plain
    said = neve.Filter(lossless=True, candidates=["zstd", "BW-LZO"], speed_weight=0.5)
    words = said["compression_opts"]
    assert words[0] == 3 and words[1:10] == plain[1:10]
    assert words[11] | words[12] << 32 == int(np.array(0.5).view(np.uint64))
    assert words[13] | words[14] << 32 == int(np.array(1.0).view(np.uint64))
    assert neve.filter_text(words) == (
        'lossless = true, candidates = "BW-LZO+zstd", speed_weight = 0.5'
    )
    assert repr(said) == (
        "neve.Filter(lossless=True, candidates=['zstd', 'BW-LZO'], speed_weight=0.5)"
    )


@pytest.mark.parametrize("more", [(0,), (0, 1), (0, 1, 4, 0, 0)])
def test_words_behind_the_last_are_refused(tmp_path, more):
    """What the filter adds to a dataset of one dimension is (dtype, 1, size, 0)."""
    words = neve.Filter(abs=0.1)["compression_opts"]
    count = len(words) + len(more)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        told = {"data": np.arange(16.0), "chunks": (4,), "compression": 466}
        file.create_dataset("good", compression_opts=(*words, 1, 1, 4, 0), **told)
        with pytest.raises(ValueError, match=f"got {count} parameters; allowed: the user's 10, or"):
            file.create_dataset("bad", compression_opts=(*words, *more), **told)
        assert list(file) == ["good"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint64])
def test_chunks_are_coded_as_compress_codes_them(tmp_path, dtype):
    array = np.round(field((40, 64), np.float64) * 10).astype(dtype)
    said = {"candidates": "acomps", "speed_weight": 1.0, "ratio_weight": 0.5}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        chosen = neve.Filter(lossless=True, **said)
        data = file.create_dataset("x", data=array, chunks=(20, 64), **chosen)
        properties = data.id.get_create_plist()
        h5py.h5d.create(file.id, b"y", data.id.get_type(), data.id.get_space(), dcpl=properties)
        file["y"][...] = array
    with h5py.File(tmp_path / "a.h5") as file:
        for name in ("x", "y"):
            for begin in (0, 20):
                _, frame = file[name].id.read_direct_chunk((begin, 0))
                assert frame == neve.compress(array[begin : begin + 20], lossless=True, **said)
            assert_same_bits(file[name][()], array)
    assert frame != neve.compress(array[20:], lossless=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lossless": True, "candidates": "gzip"}, 'lossless method "gzip" unknown'),
        ({"lossless": True, "candidates": ()}, r"candidates=\(\); allowed"),
        ({"lossless": True, "speed_weight": -1}, "speed_weight=-1; finite numbers"),
        ({"lossless": True, "ratio_weight": None}, "ratio_weight=None"),
        ({"lossless": True, "ratio_weight": 0}, "both 0"),
        ({"abs": 1, "codec": "dual_quant", "speed_weight": 1}, "speed_weight has no meaning"),
        ({"abs": 1, "codec": "dual_quant", "candidates": "zstd"}, "candidates has no meaning"),
        ({}, "none given"),
        ({"rel": 0.0}, "rel=0.0"),
        ({"psnr": 70}, "psnr="),
        ({"rel": 1}, r"data=ARRAY or range=\(LOWEST, HIGHEST\)"),
        ({"abs": 1, "codec": "interpolation"}, "give rewrite=False"),
        ({"rel": 1, "range": (2, 1)}, r"range=\(2, 1\); allowed"),
        ({"rel": 1, "range": (2, np.nan)}, "allowed are finite values"),
        ({"rel": 1, "range": 3}, "allowed is a pair"),
        ({"rel": 1, "range": (1, 2), "data": np.ones(3)}, "data= and range="),
        ({"rel": 1, "data": np.ones(3, "i4")}, "dtype int32"),
        ({"lossless": True, "range": (1, 2)}, "no meaning"),
        ({"abs": 1, "fill": range(18)}, "18 values; at most 16"),
        ({"abs": 1, "rewrite": 0}, "rewrite=0"),
        ({"abs": 1, "detect_fill": "no"}, "detect_fill='no'"),
        ({"abs": 10**400}, "abs= is larger than any float64"),
        ({"abs": 1, "fill": [None]}, "allowed is a number, or a list of numbers"),
        ({"abs": 1, "fill": True}, "allowed is a number, or a list of numbers"),
        ({"abs": 1, "fill": np.ma.masked}, "allowed is a number, or a list of numbers"),
        ({"abs": 1, "range": ("0", "1")}, "allowed is a pair"),
        ({"rel": 1, "data": [[1.0], [1.0, 2.0]]}, "data= is no array"),
        ({"abs": 1, "codec": ["auto"]}, "allowed: auto, dual_quant, exact"),
        ({"rel": 1, "codec": "zip"}, "codec='zip'; allowed: auto, dual_quant, exact"),
        ({"rel": 1, "effort": "huge"}, "effort='huge'; allowed: fast, balanced, max"),
    ],
)
def test_what_is_not_allowed_is_named(arguments, message):
    with pytest.raises(neve.Error, match=message):
        neve.Filter(**arguments)


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ((100,), "f4", (100,)),
        ((512, 512, 512), "f8", (64, 64, 128)),
        ((10**9,), "f4", (976563,)),
        ((3, 10**6), "f8", (3, 125000)),
        ((0, 4), "f4", (1, 4)),
    ],
)
def test_guessed_chunks(shape, dtype, expected):
    chunks = neve.guess_chunks(shape, dtype)
    assert np.prod(chunks) * np.dtype(dtype).itemsize <= 4 << 20
    assert chunks == expected


def test_a_dataset_is_copied_while_chunks_of_it_wait(tmp_path):
    """HDF5 copies chunks of its cache into the buffer that the filter left behind of another: in a
    process of its own, which would end if that had become smaller."""
    script = f"""
import h5py, neve, numpy as np
random = np.random.default_rng(0)
path = {str(tmp_path / "a.h5")!r}
with h5py.File(path, "w") as file:
    dataset = file.create_dataset(
        "t", (30, 40), "f8", chunks=(18, 30), maxshape=(None, None), **neve.Filter(abs=1e-3))
    dataset[:] = 0
with h5py.File(path, "r+") as file:
    file["t"][3:9, 4:9] = random.standard_normal((6, 5))
    wanted = file["t"][...]
    for copy in "abcdefgh":
        file.copy("t", copy)
with h5py.File(path) as file:
    for copy in "tabcdefgh":
        assert abs(file[copy][...] - wanted).max() <= 1e-3, copy
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
