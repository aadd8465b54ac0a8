# SPDX-License-Identifier: BSD-3-Clause
"""The filter tells HDF5 the exact size of what it returns, and of the buffer that it is in.

HDF5 2.2 refuses chunks whose reversed filters return another size than the chunk's, and buffers
that are smaller than what is in them; before that, both were trusted.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hdf5_library import FILTER, FilterClass

import neve

CHECKOUT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("NEVE_BUILD_DIR", CHECKOUT / "build"))
PLUGIN = BUILD / "lib" / "plugin" / "libh5neve.so"
DRIVER = Path(__file__).with_name("hdf5_library.py")
TIMEOUT_SECONDS = 240
ABS = 0.01

REVERSE = 0x100
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]
LIBC.malloc_usable_size.restype = ctypes.c_size_t
LIBC.malloc_usable_size.argtypes = [ctypes.c_void_p]


@pytest.fixture(scope="module")
def filter_class() -> FilterClass:
    if not PLUGIN.exists():
        pytest.skip(f"{PLUGIN} is missing: run `make build`, or name the build in NEVE_BUILD_DIR")
    plugin = ctypes.CDLL(str(PLUGIN))
    plugin.H5PLget_plugin_info.restype = ctypes.POINTER(FilterClass)
    found: FilterClass = plugin.H5PLget_plugin_info().contents
    return found


class Buffer:
    """Memory as HDF5 hands it to a filter: `room` bytes, of which the first are valid."""

    def __init__(self, contents: bytes, room: int) -> None:
        self.address = ctypes.c_void_p(LIBC.malloc(room))
        self.room = ctypes.c_size_t(room)
        assert self.address.value is not None
        ctypes.memmove(self.address.value, contents, len(contents))

    def run(self, function: FILTER, flags: int, words: tuple[int, ...], valid: int) -> int:  # type: ignore[valid-type]
        numbers = (ctypes.c_uint * len(words))(*words)
        where, room = ctypes.byref(self.address), ctypes.byref(self.room)
        return int(function(flags, len(words), numbers, valid, room, where))  # type: ignore[misc]

    def bytes(self, count: int) -> bytes:
        assert self.address.value is not None
        return ctypes.string_at(self.address.value, count)

    @property
    def allocated(self) -> int:
        return int(LIBC.malloc_usable_size(self.address))

    def free(self) -> None:
        LIBC.free(self.address)


DTYPES = ("f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
CODES = dict(zip(DTYPES, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
SHAPES = ((1,), (7,), (1000,), (5, 1, 9), (16, 16, 16))


def stored_words(parameters: str, dtype: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """What HDF5 stores with a dataset: behind the user's words, its type and chunks."""
    words = [*neve.filter_parameters(parameters), CODES[dtype], len(shape)]
    for size in shape:
        words += [size, 0]
    return tuple(words)


def chunks_of(dtype: str, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """All fill, constant, smooth, and of bits that no codec makes fewer."""
    random = np.random.default_rng(2)
    yield np.zeros(shape, dtype)
    yield np.full(shape, 3, dtype)
    yield (np.cumsum(random.standard_normal(shape), -1) * 50).astype(np.int64).astype(dtype)
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    yield np.frombuffer(random.bytes(count), dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spare", [0, 1, 100_000])
def test_sizes_are_exact_in_both_directions(
    filter_class: FilterClass, dtype: str, spare: int
) -> None:
    """`spare`: from 2.2 on HDF5 reads into buffers that are larger than what is in them."""
    bounds = ("lossless = true", f"abs = {ABS}") if dtype[0] == "f" else ("lossless = true",)
    for shape in SHAPES:
        for bound in bounds:
            words = stored_words(bound, dtype, shape)
            for chunk in chunks_of(dtype, shape):
                raw = chunk.tobytes()
                buffer = Buffer(raw, len(raw) + spare)
                frame = buffer.run(filter_class.filter, 0, words, len(raw))
                assert 0 < frame <= buffer.room.value <= buffer.allocated
                back = buffer.run(filter_class.filter, REVERSE, words, frame)
                assert back == len(raw), (shape, bound)
                assert back <= buffer.room.value <= buffer.allocated
                found = np.frombuffer(buffer.bytes(back), dtype).reshape(shape)
                if bound.startswith("lossless"):
                    assert found.tobytes() == raw
                else:
                    with np.errstate(all="ignore"):
                        near = np.abs(found.astype("f8") - chunk.astype("f8")) <= ABS
                    assert (near | (found == chunk) | np.isnan(found) & np.isnan(chunk)).all()
                buffer.free()


def hdf5_libraries() -> dict[str, Path]:
    """Those in reach: of the Python packages, and the system's."""
    found = {}
    for package in ("h5py", "netCDF4"):
        module = pytest.importorskip(package, reason=f"{package} is not installed")
        folder = Path(module.__file__).parents[1] / f"{package.lower()}.libs"
        for path in folder.glob("libhdf5-*.so*"):
            found[package] = path
    for path in sorted(Path("/usr/lib").glob("*/libhdf5_openmpi.so.[0-9]*")):
        found["system"] = path
    return found


@pytest.mark.parametrize("library", ["h5py", "netCDF4", "system"])
def test_each_hdf5_takes_every_chain_of_filters(tmp_path: Path, library: str) -> None:
    libraries = hdf5_libraries()
    if library not in libraries:
        pytest.skip(f"no HDF5 of {library} here")
    parameters = {
        "id": neve.Filter(lossless=True)["compression"],
        "lossless": neve.filter_parameters(""),
        "bound": neve.filter_parameters(f"abs = {ABS}"),
        "abs": ABS,
    }
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(libraries[library]), str(tmp_path)],
        input=json.dumps(parameters),
        env={**os.environ, "HDF5_PLUGIN_PATH": str(PLUGIN.parent), "NEVE_HINTS": "0"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    version, *outcomes = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-3000:]
    *numbers, refuses_short_chunks = version.split()
    # That this one looks: others would take what is wrong.
    assert (refuses_short_chunks == "True") == (tuple(map(int, numbers)) >= (2, 2))
    failed = [line for line in outcomes if not line.endswith("\tok")]
    assert not failed, f"{version}\n" + "\n".join(failed[:20]) + done.stderr[-3000:]
    assert len(outcomes) > 200
