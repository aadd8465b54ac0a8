# SPDX-License-Identifier: BSD-3-Clause
"""neve/mpi.h for mpi4py: gathers, messages and files that carry frames (docs/mpi.md).

    from mpi4py import MPI
    import neve.mpi

    everything = neve.mpi.gather(MPI.COMM_WORLD, mine, bound="rel=1e-3")  # on rank 0, else None
    with neve.mpi.File(MPI.COMM_WORLD, "density.neve", "w") as file:
        file.write_at_all(first, mine, bound="rel=1e-3")

mpi4py and libneve_mpi must use the same MPI. The library is the one that NEVE_LIBNEVE_MPI names,
else the one that the loader finds.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os

import numpy as np
from mpi4py import MPI

from ._array import unmasked
from ._errors import Error

_HANDLE = (
    ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
)
_MODES = {"r": 0, "w": 1, "a": 2}
_DTYPES = [np.dtype(t) for t in ("f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
_TYPES = [
    *(MPI.FLOAT, MPI.DOUBLE, MPI.INT8_T, MPI.UINT8_T, MPI.INT16_T),
    *(MPI.UINT16_T, MPI.INT32_T, MPI.UINT32_T, MPI.INT64_T, MPI.UINT64_T),
]


class _Values(ctypes.Structure):
    """neve_compress_options, as far as neve 0.1 knew it."""

    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("bound", ctypes.c_char_p),
        ("codec", ctypes.c_char_p),
        ("effort", ctypes.c_char_p),
        ("fill", ctypes.POINTER(ctypes.c_double)),
        ("no_fill_detection", ctypes.c_int),
        ("threads", ctypes.c_int),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_size_t),
        ("values", ctypes.POINTER(_Values)),
        ("block_bytes", ctypes.c_uint64),
        ("layer_ndim", ctypes.c_int),
        ("layer_shape", ctypes.POINTER(ctypes.c_uint64)),
        ("report", ctypes.c_void_p),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    name = os.environ.get("NEVE_LIBNEVE_MPI") or ctypes.util.find_library("neve_mpi")
    if not name:
        raise ImportError(
            "libneve_mpi is not found; name it in NEVE_LIBNEVE_MPI, "
            "as in <checkout>/build/lib/libneve_mpi.so"
        )
    library = ctypes.CDLL(name)
    library.neve_last_error.restype = ctypes.c_char_p
    return library


def _call(name: str, *arguments) -> None:
    library = _library()
    code = getattr(library, name)(*arguments)
    if code != 0:
        raise Error(library.neve_last_error().decode(), code)


def _handle(thing):
    return _HANDLE(MPI._handleof(thing))


def _text(value: str | None):
    return None if value is None else value.encode()


def _size(value: int) -> ctypes.c_uint64:
    if value < 0:
        raise ValueError(f"{value} is negative; a count or an offset is at least 0")
    return ctypes.c_uint64(value)


def _values(array) -> np.ndarray:
    array = np.ascontiguousarray(unmasked("neve.mpi", array))
    if array.dtype not in _DTYPES:
        raise TypeError(f"dtype is {array.dtype}; allowed are f4, f8 and integers of 8 to 64 bits")
    return array


def _type_of(dtype) -> MPI.Datatype:
    return _TYPES[_DTYPES.index(np.dtype(dtype))]


def _options(shape, codec=None, effort=None, threads=1, block_bytes=0):
    """The struct, which keeps what it points to; `shape` is the rank's, slowest first."""
    values = _Values(ctypes.sizeof(_Values), None, _text(codec), _text(effort), None, 0, threads)
    layer = [int(size) for size in shape[1:]]
    known = all(layer)  # an empty array has no layers
    array = (ctypes.c_uint64 * max(len(layer), 1))(*layer)
    options = _Options(ctypes.sizeof(_Options), ctypes.pointer(values), block_bytes)
    options.layer_ndim = len(layer) if known else 0
    options.layer_shape = ctypes.cast(array, ctypes.POINTER(ctypes.c_uint64))
    options.kept = (values, array)
    return options


def _pointer(array: np.ndarray | None):
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def gather(comm, array, root: int = 0, bound: str | None = None, **options) -> np.ndarray | None:
    """Collective. The arrays of all ranks, which agree in all sizes but the first, one after
    another along it; None on the other ranks. Options: codec, effort, threads, block_bytes."""
    array = _values(array)
    if array.ndim == 0:
        raise ValueError("the array has no dimensions; at least 1 is needed")
    shapes = comm.gather(array.shape, root=root)
    counts = whole = problem = None
    if comm.rank == root:
        if {shape[1:] for shape in shapes} != {array.shape[1:]}:
            problem = f"shapes {shapes} differ beyond their first size"
        else:
            whole = np.empty((sum(shape[0] for shape in shapes), *array.shape[1:]), array.dtype)
            sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
            counts = (ctypes.c_uint64 * comm.size)(*sizes)
    problem = comm.bcast(problem, root=root)
    if problem:
        raise ValueError(problem)
    given = _options(array.shape, **options)
    _call(
        "neve_mpi_gatherv",
        *(_pointer(array), _size(array.size), _handle(_type_of(array.dtype)), _pointer(whole)),
        *(counts, None, ctypes.c_int(root), _handle(comm), _text(bound), ctypes.byref(given)),
    )
    return whole


def send(comm, array, dest: int, tag: int = 0, bound: str | None = None, **options) -> None:
    """The receiver calls recv."""
    array = _values(array)
    given = _options(array.shape if array.ndim else (1,), **options)
    _call(
        "neve_mpi_send",
        *(_pointer(array), _size(array.size), _handle(_type_of(array.dtype))),
        *(ctypes.c_int(dest), ctypes.c_int(tag), _handle(comm), _text(bound), ctypes.byref(given)),
    )


def recv(
    comm, out: np.ndarray, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, **options
) -> int:
    """Receives into `out`, which is contiguous, what send sent; how many values came."""
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out must be contiguous and writeable")
    received = ctypes.c_uint64(0)
    given = _options((1,), **options)
    _call(
        "neve_mpi_recv",
        *(_pointer(out), _size(out.size), _handle(_type_of(out.dtype)), ctypes.c_int(source)),
        *(ctypes.c_int(tag), _handle(comm), ctypes.byref(given), ctypes.byref(received), None),
    )
    return received.value


class File:
    """A frame file: values of one type in a line. Modes: "r", "w" (a new file, which takes the name
    when it is closed or synced), "a" (an existing one is added to). Opening, closing, sync and
    ..._all are collective."""

    def __init__(self, comm, path, mode: str = "r"):
        if mode not in _MODES:
            raise ValueError(f"mode is {mode!r}; allowed are 'r', 'w', 'a'")
        self._file = ctypes.c_void_p()
        path = os.fsencode(path)
        _call("neve_mpi_file_open", _handle(comm), path, _MODES[mode], ctypes.byref(self._file))

    def _describe(self) -> tuple[int, int]:
        dtype, values = ctypes.c_int(), ctypes.c_uint64()
        _call("neve_mpi_file_describe", self._file, ctypes.byref(dtype), ctypes.byref(values))
        return dtype.value, values.value

    @property
    def dtype(self) -> np.dtype | None:
        """None while nothing is written."""
        number = self._describe()[0]
        return None if number < 0 else _DTYPES[number]

    def __len__(self) -> int:
        return self._describe()[1]

    def _write(self, name, offset, array, bound, options):
        array = _values(array)
        given = _options(array.shape if array.ndim else (1,), **options)
        kind = _handle(_type_of(array.dtype))
        values = (_size(offset), _pointer(array), _size(array.size), kind)
        _call(name, self._file, *values, _text(bound), ctypes.byref(given))

    def write_at_all(self, offset: int, array, bound: str | None = None, **options) -> None:
        self._write("neve_mpi_file_write_at_all", offset, array, bound, options)

    def write_at(self, offset: int, array, bound: str | None = None, **options) -> None:
        self._write("neve_mpi_file_write_at", offset, array, bound, options)

    def _read(self, name, offset, count, options):
        out = np.empty(count, self.dtype or np.float32)
        given = _options((1,), **options)
        kind = _handle(_type_of(out.dtype))
        _call(
            name, self._file, _size(offset), _pointer(out), _size(count), kind, ctypes.byref(given)
        )
        return out

    def read_at_all(self, offset: int, count: int, **options) -> np.ndarray:
        return self._read("neve_mpi_file_read_at_all", offset, count, options)

    def read_at(self, offset: int, count: int, **options) -> np.ndarray:
        return self._read("neve_mpi_file_read_at", offset, count, options)

    def sync(self) -> None:
        _call("neve_mpi_file_sync", self._file)

    def close(self) -> None:
        if self._file:
            _call("neve_mpi_file_close", ctypes.byref(self._file))

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_) -> None:
        self.close()
