# SPDX-License-Identifier: BSD-3-Clause
"""Drives one HDF5 library, whichever it is, by ctypes: datasets under chains of filters that are
written, written in part, copied and read.

    python hdf5_library.py LIBRARY FOLDER

Prints the library's version and whether it refuses chunks that a filter has made shorter, then a
line for each case: its name, and "ok" or what went wrong. Knows nothing of Neve but its
filter's number and parameters, which it is given as JSON on stdin: {"id": .., "lossless": [..],
"bound": [..], "abs": ..}.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Id, Size = ctypes.c_int64, ctypes.c_uint64
MANDATORY = 0
DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
CREATE, DATASET_CREATE = 2, "H5P_CLS_DATASET_CREATE_ID_g"
ALL = DEFAULT = Id(0)
ALLOCATE_EARLY = 1
WHOLE_EDGE_CHUNKS = 2  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
UNLIMITED = 2**64 - 1

NATIVE = {
    "f4": "H5T_NATIVE_FLOAT_g",
    "f8": "H5T_NATIVE_DOUBLE_g",
    "i2": "H5T_NATIVE_SHORT_g",
    "i8": "H5T_NATIVE_LLONG_g",
    "u1": "H5T_NATIVE_UCHAR_g",
}


class Library:
    def __init__(self, path: str) -> None:
        self.handle = ctypes.CDLL(path)
        self.handle.H5open()
        version = [ctypes.c_uint() for _ in range(3)]
        self.handle.H5get_libversion(*(ctypes.byref(number) for number in version))
        self.version = tuple(number.value for number in version)

    def call(self, name: str, *arguments: Any) -> int:
        function = getattr(self.handle, name)
        function.restype = ctypes.c_int64 if name in RETURN_IDS else ctypes.c_int
        result = int(function(*arguments))
        if result < 0:
            raise OSError(f"{name} fails")
        return result

    def constant(self, name: str) -> Id:
        return Id.in_dll(self.handle, name)


RETURN_IDS = {
    *("H5Pcreate", "H5Fcreate", "H5Fopen", "H5Dcreate2", "H5Dopen2", "H5Screate_simple"),
    *("H5Scopy", "H5Dget_space"),
}


def sizes(values: tuple[int, ...]) -> Any:
    return (Size * len(values))(*values)


class Case:
    """A dataset: its type, extents, chunks, filters around Neve's, and what is written."""

    def __init__(self, library: Library, neve: dict[str, Any], **what: Any) -> None:
        self.library, self.neve = library, neve
        self.dtype: str = what["dtype"]
        self.shape, self.chunks = what["shapes"]
        self.chain: tuple[str, ...] = what["chain"]
        self.written: str = what["written"]
        self.name = f"{self.dtype} {self.shape} {'+'.join(self.chain)} {self.written}"

    @property
    def is_bounded(self) -> bool:
        return "bound" in self.chain

    def values(self) -> np.ndarray:
        random = np.random.default_rng(len(self.name))
        if self.written == "noise":
            bits = random.integers(0, 256, int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize)
            return bits.astype("u1").view(self.dtype).reshape(self.shape)
        steps = random.standard_normal(self.shape)
        return np.cumsum(steps, axis=-1).astype(self.dtype)

    def creation(self, options: int) -> Id:
        call = self.library.call
        creation = Id(call("H5Pcreate", self.library.constant(DATASET_CREATE)))
        call("H5Pset_chunk", creation, len(self.chunks), sizes(self.chunks))
        if options:
            call("H5Pset_chunk_opts", creation, ctypes.c_uint(options))
        if self.written == "fill":
            call("H5Pset_alloc_time", creation, ALLOCATE_EARLY)
        for name in self.chain:
            self.add_filter(creation, name)
        return creation

    def add_filter(self, creation: Id, name: str) -> None:
        call = self.library.call
        if name == "deflate":
            call("H5Pset_deflate", creation, ctypes.c_uint(1))
        elif name == "shuffle":
            call("H5Pset_shuffle", creation)
        elif name == "fletcher32":
            call("H5Pset_fletcher32", creation)
        else:
            words = self.neve[name]
            numbers = (ctypes.c_uint * len(words))(*words)
            count = ctypes.c_size_t(len(words))
            number = ctypes.c_int(self.neve["id"])
            call("H5Pset_filter", creation, number, ctypes.c_uint(MANDATORY), count, numbers)

    def write(self, dataset: Id, kind: Id, values: np.ndarray) -> None:
        """Whole, or all but a frame of cells, so that chunks are written in part."""
        call = self.library.call
        if self.written != "part":
            call(
                "H5Dwrite", dataset, kind, ALL, ALL, DEFAULT, values.ctypes.data_as(ctypes.c_void_p)
            )
            return
        space = Id(call("H5Dget_space", dataset))
        start, count = (1,) * len(self.shape), tuple(size - 2 for size in self.shape)
        inside = np.ascontiguousarray(values[tuple(slice(1, -1) for _ in self.shape)])
        memory = Id(call("H5Screate_simple", len(count), sizes(count), None))
        call("H5Sselect_hyperslab", space, 0, sizes(start), None, sizes(count), None)
        data = inside.ctypes.data_as(ctypes.c_void_p)
        call("H5Dwrite", dataset, kind, memory, space, DEFAULT, data)
        call("H5Sclose", memory)
        call("H5Sclose", space)

    def expected(self, values: np.ndarray) -> np.ndarray:
        if self.written == "fill":
            return np.zeros(self.shape, self.dtype)
        if self.written == "part":
            padded = np.zeros(self.shape, self.dtype)
            inside = tuple(slice(1, -1) for _ in self.shape)
            padded[inside] = values[inside]
            return padded
        return values

    def check(self, found: np.ndarray, expected: np.ndarray) -> None:
        if not self.is_bounded:
            assert found.tobytes() == expected.tobytes(), "other bits"
            return
        with np.errstate(all="ignore"):
            near = np.abs(found - expected) <= self.neve["abs"]
        assert (near | (found == expected) | np.isnan(found) & np.isnan(expected)).all(), "bound"

    def run(self, path: Path, options: int) -> None:
        call, constant = self.library.call, self.library.constant
        kind = constant(NATIVE[self.dtype])
        file = Id(call("H5Fcreate", str(path).encode(), ctypes.c_uint(CREATE), DEFAULT, DEFAULT))
        creation = self.creation(options)
        most = sizes((UNLIMITED, *self.shape[1:]))
        space = Id(call("H5Screate_simple", len(self.shape), sizes(self.shape), most))
        made = call("H5Dcreate2", file, b"d", kind, space, DEFAULT, creation, DEFAULT)
        values = self.values()
        if self.written != "fill":
            self.write(Id(made), kind, values)
        for close, number in (("H5Dclose", made), ("H5Sclose", space.value)):
            call(close, Id(number))
        call("H5Pclose", creation)
        call("H5Fclose", file)
        self.read_and_copy(path, kind, self.expected(values))

    def read_and_copy(self, path: Path, kind: Id, expected: np.ndarray) -> None:
        """In another opening of the file, so that chunks come from it and not from a cache."""
        call = self.library.call
        file = Id(call("H5Fopen", str(path).encode(), ctypes.c_uint(1), DEFAULT))
        call("H5Ocopy", file, b"d", file, b"copy", DEFAULT, DEFAULT)
        first = self.read(file, b"d", kind)
        self.check(first, expected)
        assert self.read(file, b"copy", kind).tobytes() == first.tobytes(), "the copy differs"
        dataset = Id(call("H5Dopen2", file, b"copy", DEFAULT))
        larger = (self.shape[0] + 3, *self.shape[1:])
        call("H5Dset_extent", dataset, sizes(larger))
        call("H5Dclose", dataset)
        grown = self.read(file, b"copy", kind, larger)
        assert grown[: self.shape[0]].tobytes() == first.tobytes(), "growing changes values"
        assert not grown[self.shape[0] :].any(), "there is something where nobody wrote"
        call("H5Fclose", file)

    def read(
        self, file: Id, name: bytes, kind: Id, shape: tuple[int, ...] | None = None
    ) -> np.ndarray:
        call = self.library.call
        found = np.full(shape or self.shape, 77, self.dtype)
        dataset = Id(call("H5Dopen2", file, name, DEFAULT))
        data = found.ctypes.data_as(ctypes.c_void_p)
        call("H5Dread", dataset, kind, ALL, ALL, DEFAULT, data)
        call("H5Dclose", dataset)
        return found


SHAPES = (((1000,), (300,)), ((7, 11), (4, 5)), ((3, 40, 6), (2, 40, 5)))
CHAINS = (
    ("lossless",),
    ("bound",),
    ("shuffle", "lossless"),
    ("lossless", "deflate"),
    ("bound", "fletcher32"),
    ("shuffle", "lossless", "shuffle", "deflate", "fletcher32"),
)


def cases(library: Library, neve: dict[str, Any]) -> Iterator[Case]:
    for dtype, shapes, chain, written in itertools.product(
        NATIVE, SHAPES, CHAINS, ("whole", "part", "fill", "noise")
    ):
        if "bound" not in chain or dtype in ("f4", "f8"):
            yield Case(library, neve, dtype=dtype, shapes=shapes, chain=chain, written=written)


FILTER = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_void_p),
)


class FilterClass(ctypes.Structure):
    """H5Z_class2_t."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("encoder_present", ctypes.c_uint),
        ("decoder_present", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", FILTER),
    ]


def refuses_short_chunks(library: Library, path: Path) -> bool:
    """Whether the library minds a filter that gives a byte less than there was."""

    def callback(flags: int, count: int, words: Any, valid: int, room: Any, buffer: Any) -> int:
        return valid - 1 if flags & 0x100 else valid

    kept = FILTER(callback)
    number = 510
    library.call(
        "H5Zregister", ctypes.byref(FilterClass(1, number, 1, 1, b"short", None, None, kept))
    )
    case = Case(
        library,
        {"id": number, "short": []},
        dtype="u1",
        shapes=((64,), (64,)),
        chain=("short",),
        written="noise",
    )
    try:
        case.run(path, 0)
    except OSError:
        return True
    except AssertionError:
        pass
    return False


def main() -> None:
    library, folder = Library(sys.argv[1]), Path(sys.argv[2])
    neve = json.load(sys.stdin)
    refuses = refuses_short_chunks(library, folder / "short.h5")
    print(*library.version, refuses)
    for number, case in enumerate(cases(library, neve)):
        options = WHOLE_EDGE_CHUNKS if number % 3 == 0 else 0
        path = folder / "case.h5"
        try:
            case.run(path, options)
            print(case.name, "ok", sep="\t")
        except (OSError, AssertionError) as error:
            print(case.name, error, sep="\t")


if __name__ == "__main__":
    main()
