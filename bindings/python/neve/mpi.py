# SPDX-License-Identifier: BSD-3-Clause
"""neve/transfer.h for mpi4py: compressed collective calls, messages and files (docs/mpi.md).

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
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ._array import MAX_THREADS, unmasked
from ._core import MAX_BLOCK_BYTES
from ._errors import Error
from ._keywords import checks_keywords
from ._ranges import check_range

_HANDLE: type[ctypes.c_void_p] | type[ctypes.c_int] = (
    ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
)
_MODES = {"r": 0, "w": 1, "a": 2}
_DTYPES: list[np.dtype[Any]] = [
    np.dtype(t) for t in ("f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
]
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


def _call(name: str, *arguments: Any) -> None:
    library = _library()
    code = getattr(library, name)(*arguments)
    if code != 0:
        raise Error(library.neve_last_error().decode(), code)


def _handle(thing: MPI.Comm | MPI.Datatype) -> ctypes.c_void_p | ctypes.c_int:
    return _HANDLE(MPI._handleof(thing))


def _text(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def _size(value: int) -> ctypes.c_uint64:
    if value < 0:
        raise ValueError(f"{value} is negative; a count or an offset is at least 0")
    return ctypes.c_uint64(value)


def _values(array: npt.ArrayLike) -> npt.NDArray[Any]:
    values = np.ascontiguousarray(unmasked("neve.mpi", array))
    if values.dtype not in _DTYPES:
        raise TypeError(f"dtype is {values.dtype}; allowed are f4, f8 and integers of 8 to 64 bits")
    return values


def _type_of(dtype: np.dtype[Any]) -> MPI.Datatype:
    return _TYPES[_DTYPES.index(np.dtype(dtype))]


class _Settings(NamedTuple):
    """How values are encoded and decoded; None and 0: the library's default."""

    codec: str | None = None
    effort: str | None = None
    threads: int = 1
    block_bytes: int = 0

    def options(self, shape: Sequence[int]) -> _Options:
        """The struct, which keeps what it points to; `shape` is the rank's, slowest first."""
        check_range("neve.mpi", "threads", self.threads, 0, MAX_THREADS)
        check_range("neve.mpi", "block_bytes", self.block_bytes, 0, MAX_BLOCK_BYTES)
        codec, effort = _text(self.codec), _text(self.effort)
        values = _Values(ctypes.sizeof(_Values), None, codec, effort, None, 0, self.threads)
        layer = [int(size) for size in shape[1:]]
        known = all(layer)  # an empty array has no layers
        array = (ctypes.c_uint64 * max(len(layer), 1))(*layer)
        options = _Options(ctypes.sizeof(_Options), ctypes.pointer(values), self.block_bytes)
        options.layer_ndim = len(layer) if known else 0
        options.layer_shape = ctypes.cast(array, ctypes.POINTER(ctypes.c_uint64))
        options.kept = (values, array)
        return options


def _pointer(array: npt.NDArray[Any] | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


@checks_keywords
def gather(
    comm: MPI.Intracomm,
    array: npt.ArrayLike,
    root: int = 0,
    bound: str | None = None,
    *,
    codec: str | None = None,
    effort: str | None = None,
    threads: int = 1,
    block_bytes: int = 0,
) -> npt.NDArray[Any] | None:
    """Collective. Returns the arrays of all ranks on rank `root`, joined along the first axis; None
    on the other ranks. The arrays agree in dtype and in all sizes but the first.

    array        float32, float64 or integers of 8 to 64 bits, of 1 or more dimensions
    bound        as in the command: "rel=1e-3", "abs=0.5", "lossless"; None: lossless for
                 integers, else "rel=1e-3"
    codec, effort  as in neve.compress
    threads      threads of this rank
    block_bytes  bytes of values that are coded together; 0: 4 MiB

    Raises neve.Error, the same on all ranks, if one of them fails, and ValueError, on all of them,
    if the arrays do not fit together.
    """
    values = _values(array)
    if values.ndim == 0:
        raise ValueError("the array has no dimensions; at least 1 is needed")
    shapes = comm.gather(values.shape, root=root)
    counts = whole = problem = None
    if shapes is not None:  # on the root
        if {shape[1:] for shape in shapes} != {values.shape[1:]}:
            problem = f"shapes {shapes} differ beyond their first size"
        else:
            layers = sum(shape[0] for shape in shapes)
            whole = np.empty((layers, *values.shape[1:]), values.dtype)
            sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
            counts = (ctypes.c_uint64 * comm.size)(*sizes)
    problem = comm.bcast(problem, root=root)
    if problem:
        raise ValueError(problem)
    given = _Settings(codec, effort, threads, block_bytes).options(values.shape)
    _call(
        "neve_mpi_gatherv",
        *(_pointer(values), _size(values.size), _handle(_type_of(values.dtype)), _pointer(whole)),
        *(counts, None, ctypes.c_int(root), _handle(comm), _text(bound), ctypes.byref(given)),
    )
    return whole


def _alike(comm: MPI.Intracomm, problem: str | None) -> None:
    """Collective: ValueError on all ranks, where one of them has a problem."""
    problems = comm.allgather(problem)
    for rank, found in enumerate(problems):
        if found:
            raise ValueError(f"rank {rank}: {found}")


class _Parts(NamedTuple):
    """Arrays one behind another, as neve/transfer.h takes them."""

    values: npt.NDArray[Any]
    counts: Any

    @staticmethod
    def of(arrays: Sequence[npt.NDArray[Any]], dtype: Any) -> _Parts:
        flat = [array.ravel() for array in arrays]
        values = np.concatenate(flat) if flat else np.empty(0, dtype)
        return _Parts(values, (ctypes.c_uint64 * max(len(flat), 1))(*(part.size for part in flat)))

    @staticmethod
    def empty(shapes: Sequence[tuple[int, ...]], dtype: Any) -> _Parts:
        sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
        counts = (ctypes.c_uint64 * max(len(sizes), 1))(*sizes)
        return _Parts(np.empty(sum(sizes), dtype), counts)

    def arrays(self, shapes: Sequence[tuple[int, ...]]) -> list[npt.NDArray[Any]]:
        ends = np.cumsum([0, *self.counts])
        return [self.values[ends[i] : ends[i + 1]].reshape(s) for i, s in enumerate(shapes)]


def _problem_of(arrays: Sequence[npt.NDArray[Any]], wanted: int) -> str | None:
    if len(arrays) != wanted:
        return f"{len(arrays)} arrays; one for each of the {wanted} ranks is needed"
    if any(array.ndim == 0 for array in arrays):
        return "an array has no dimensions; at least 1 is needed"
    if len({(array.dtype, array.shape[1:]) for array in arrays}) > 1:
        return (
            f"shapes {[array.shape for array in arrays]} differ beyond their first size, or types"
        )
    return None


@checks_keywords
def allgather(
    comm: MPI.Intracomm,
    array: npt.ArrayLike,
    bound: str | None = None,
    *,
    codec: str | None = None,
    effort: str | None = None,
    threads: int = 1,
    block_bytes: int = 0,
) -> npt.NDArray[Any]:
    """Collective. As gather(), with the result on all ranks: the same values on all of them, also a
    rank's own. Arrays, bound, options and errors are those of gather(), except for ratios.
    """
    values = _values(array)
    shapes = comm.allgather(values.shape)
    if any(len(shape) == 0 for shape in shapes):
        raise ValueError("an array has no dimensions; at least 1 is needed")
    if {shape[1:] for shape in shapes} != {values.shape[1:]}:
        raise ValueError(f"shapes {shapes} differ beyond their first size")
    whole = _Parts.empty(shapes, values.dtype)
    given = _Settings(codec, effort, threads, block_bytes).options(values.shape)
    _call(
        "neve_mpi_allgatherv",
        *(_pointer(values), _size(values.size), _handle(_type_of(values.dtype))),
        *(_pointer(whole.values), whole.counts, None, _handle(comm), _text(bound)),
        ctypes.byref(given),
    )
    return whole.values.reshape((sum(shape[0] for shape in shapes), *values.shape[1:]))


@checks_keywords
def alltoall(
    comm: MPI.Intracomm,
    arrays: Sequence[npt.ArrayLike],
    bound: str | None = None,
    *,
    codec: str | None = None,
    effort: str | None = None,
    threads: int = 1,
    block_bytes: int = 0,
) -> list[npt.NDArray[Any]]:
    """Collective. Sends arrays[r] to rank r, and returns what each rank sent, in their order. All
    arrays agree in dtype and in all sizes but the first. Bound, options and errors are those of
    allgather().
    """
    sent = [_values(array) for array in arrays]
    _alike(comm, _problem_of(sent, comm.size))
    shapes = comm.alltoall([array.shape for array in sent])
    rest, dtype = sent[0].shape[1:], sent[0].dtype
    others = any(shape[1:] != rest for shape in shapes)
    _alike(
        comm, f"shapes {shapes} of what comes differ beyond their first size" if others else None
    )
    out, into = _Parts.of(sent, dtype), _Parts.empty(shapes, dtype)
    given = _Settings(codec, effort, threads, block_bytes).options((1, *rest))
    _call(
        "neve_mpi_alltoallv",
        *(_pointer(out.values), out.counts, None, _handle(_type_of(dtype))),
        *(_pointer(into.values), into.counts, None, _handle(comm), _text(bound)),
        ctypes.byref(given),
    )
    return into.arrays(shapes)


@checks_keywords
def bcast(
    comm: MPI.Intracomm,
    array: npt.ArrayLike | None,
    root: int = 0,
    bound: str | None = None,
    *,
    codec: str | None = None,
    effort: str | None = None,
    threads: int = 1,
    block_bytes: int = 0,
) -> npt.NDArray[Any]:
    """Collective. Returns the array of rank `root`, on all others as a new one; what those pass
    is not looked at. Bound, options and errors are those of allgather().
    """
    values = _values(array) if comm.rank == root and array is not None else None
    described = comm.bcast(None if values is None else (values.shape, values.dtype), root=root)
    if described is None:
        raise ValueError(f"the array of rank {root}, the root, is None")
    shape, dtype = described
    out = np.empty(shape, dtype) if values is None else values
    given = _Settings(codec, effort, threads, block_bytes).options(shape or (1,))
    _call(
        "neve_mpi_bcast",
        *(_pointer(out), _size(out.size), _handle(_type_of(dtype)), ctypes.c_int(root)),
        *(_handle(comm), _text(bound), ctypes.byref(given)),
    )
    return out


@checks_keywords
def scatter(
    comm: MPI.Intracomm,
    arrays: Sequence[npt.ArrayLike] | None,
    root: int = 0,
    bound: str | None = None,
    *,
    codec: str | None = None,
    effort: str | None = None,
    threads: int = 1,
    block_bytes: int = 0,
) -> npt.NDArray[Any]:
    """Collective. Rank r gets arrays[r] of rank `root`; what the others pass is not looked at.
    Arrays, bound, options and errors are those of alltoall().
    """
    is_root = comm.rank == root
    sent = [_values(array) for array in arrays or ()] if is_root else []
    problem = _problem_of(sent, comm.size) if is_root else None
    _alike(comm, problem)
    shape, dtype = comm.scatter([(a.shape, a.dtype) for a in sent] if is_root else None, root=root)
    out, into = _Parts.of(sent, dtype), np.empty(shape, dtype)
    given = _Settings(codec, effort, threads, block_bytes).options((1, *shape[1:]))
    _call(
        "neve_mpi_scatterv",
        *(_pointer(out.values), out.counts, None, _handle(_type_of(dtype))),
        *(_pointer(into), _size(into.size), ctypes.c_int(root), _handle(comm), _text(bound)),
        ctypes.byref(given),
    )
    return into


@checks_keywords
def send(
    comm: MPI.Comm,
    array: npt.ArrayLike,
    dest: int,
    tag: int = 0,
    bound: str | None = None,
    *,
    codec: str | None = None,
    effort: str | None = None,
    threads: int = 1,
    block_bytes: int = 0,
) -> None:
    """Sends an array to rank `dest`, which calls recv() with the same tag. Bound, options and
    errors are those of gather().
    """
    values = _values(array)
    given = _Settings(codec, effort, threads, block_bytes).options(_layered(values))
    _call(
        "neve_mpi_send",
        *(_pointer(values), _size(values.size), _handle(_type_of(values.dtype))),
        *(ctypes.c_int(dest), ctypes.c_int(tag), _handle(comm), _text(bound), ctypes.byref(given)),
    )


@checks_keywords
def recv(
    comm: MPI.Comm,
    out: npt.NDArray[Any],
    source: int = MPI.ANY_SOURCE,
    tag: int = MPI.ANY_TAG,
    *,
    threads: int = 1,
) -> int:
    """Receives a message of send() into `out`, and returns the number of values.

    `out` is C-contiguous, writeable, of the sender's dtype, and has at least as many values; else
    ValueError or neve.Error.
    """
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out must be contiguous and writeable")
    received = ctypes.c_uint64(0)
    given = _Settings(threads=threads).options((1,))
    _call(
        "neve_mpi_recv",
        *(_pointer(out), _size(out.size), _handle(_type_of(out.dtype)), ctypes.c_int(source)),
        *(ctypes.c_int(tag), _handle(comm), ctypes.byref(given), ctypes.byref(received), None),
    )
    return received.value


def _layered(values: npt.NDArray[Any]) -> tuple[int, ...]:
    return values.shape if values.ndim else (1,)


class File:
    """A frame file: values of one type in a line. Modes: "r", "w" (a new file, which gets its name
    when it is closed or synced), "a" (adds to an existing file). Opening, closing, sync and ..._all
    are collective. Offsets and counts are numbers of values, not of bytes. A failure of a rank is
    neve.Error, on all ranks if the call is collective.
    """

    @checks_keywords
    def __init__(self, comm: MPI.Intracomm, path: str | os.PathLike[str], mode: str = "r") -> None:
        if mode not in _MODES:
            raise ValueError(f"mode is {mode!r}; allowed are 'r', 'w', 'a'")
        self._file = ctypes.c_void_p()
        name = os.fsencode(path)
        _call("neve_mpi_file_open", _handle(comm), name, _MODES[mode], ctypes.byref(self._file))

    def _describe(self) -> tuple[int, int]:
        dtype, values = ctypes.c_int(), ctypes.c_uint64()
        _call("neve_mpi_file_describe", self._file, ctypes.byref(dtype), ctypes.byref(values))
        return dtype.value, values.value

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """None until something is written, and of a file that is no line of values of one type."""
        number = self._describe()[0]
        return None if number < 0 else _DTYPES[number]

    def __len__(self) -> int:
        return self._describe()[1]

    def _write(
        self, name: str, offset: int, array: npt.ArrayLike, bound: str | None, settings: _Settings
    ) -> None:
        values = _values(array)
        given = settings.options(_layered(values))
        kind = _handle(_type_of(values.dtype))
        where = (_size(offset), _pointer(values), _size(values.size), kind)
        _call(name, self._file, *where, _text(bound), ctypes.byref(given))

    @checks_keywords
    def write_at_all(
        self,
        offset: int,
        array: npt.ArrayLike,
        bound: str | None = None,
        *,
        codec: str | None = None,
        effort: str | None = None,
        threads: int = 1,
        block_bytes: int = 0,
    ) -> None:
        """Collective. Writes this rank's values from value `offset` on; those of all ranks do not
        overlap. Array, bound and options are those of gather().
        """
        settings = _Settings(codec, effort, threads, block_bytes)
        self._write("neve_mpi_file_write_at_all", offset, array, bound, settings)

    @checks_keywords
    def write_at(
        self,
        offset: int,
        array: npt.ArrayLike,
        bound: str | None = None,
        *,
        codec: str | None = None,
        effort: str | None = None,
        threads: int = 1,
        block_bytes: int = 0,
    ) -> None:
        """As write_at_all(), by one rank alone."""
        settings = _Settings(codec, effort, threads, block_bytes)
        self._write("neve_mpi_file_write_at", offset, array, bound, settings)

    def _read(self, name: str, offset: int, count: int, threads: int) -> npt.NDArray[Any]:
        dtype, length = self._describe()
        if dtype < 0 and length > 0:
            raise Error(
                "the file is no line of values of one type; `neve mpi cat` gives the bytes of "
                "such a file"
            )
        out: npt.NDArray[Any] = np.empty(count, self.dtype or np.float32)
        given = _Settings(threads=threads).options((1,))
        kind = _handle(_type_of(out.dtype))
        _call(
            name, self._file, _size(offset), _pointer(out), _size(count), kind, ctypes.byref(given)
        )
        return out

    @checks_keywords
    def read_at_all(self, offset: int, count: int, *, threads: int = 1) -> npt.NDArray[Any]:
        """Collective. `count` values from value `offset` on, in one dimension."""
        return self._read("neve_mpi_file_read_at_all", offset, count, threads)

    @checks_keywords
    def read_at(self, offset: int, count: int, *, threads: int = 1) -> npt.NDArray[Any]:
        """As read_at_all(), by one rank alone."""
        return self._read("neve_mpi_file_read_at", offset, count, threads)

    def sync(self) -> None:
        """Collective. Makes everything written so far durable, under the file's name."""
        _call("neve_mpi_file_sync", self._file)

    def close(self) -> None:
        """Collective. A second time does nothing."""
        if self._file:
            _call("neve_mpi_file_close", ctypes.byref(self._file))

    def __enter__(self) -> File:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
