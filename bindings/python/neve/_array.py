# SPDX-License-Identifier: BSD-3-Clause
"""Whole arrays: compress, decompress, info."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._bound import parse_bound
from ._errors import CORRUPT, FAILURE, Error
from ._keywords import checks_keywords, takes_keywords_of
from ._methods import Candidates, candidates_text
from ._ranges import whole_number

if TYPE_CHECKING:
    from ._core import Readable

MAX_THREADS = _core.MAX_THREADS


def thread_count(caller: str, threads: int | None) -> int:
    if threads is None:
        return min(len(os.sched_getaffinity(0)), MAX_THREADS)
    return whole_number(caller, "threads", threads, 1, MAX_THREADS)


def masked_count(array: Any) -> int:
    return int(np.sum(np.ma.getmaskarray(array)))


def unmasked(caller: str, array: Any) -> np.ndarray:
    """As numpy has it. What a mask hides would be taken for values."""
    if np.ma.is_masked(array):
        raise Error(
            f"{caller}: {masked_count(array)} of the values are masked, and nothing here "
            "keeps a mask; array.filled(v) gives them a value of their own"
        )
    return np.asarray(array)


# The library's names of types; numpy's of one are dtype.name.
DTYPES = {
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
}
NUMPY_NAMES = {name: numpy_name for numpy_name, name in DTYPES.items()}


def integer_fill(caller: str, fill: Any, dtype: np.dtype[Any]) -> int:
    """Two's complement of 64 bits."""
    try:
        whole = int(fill)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{caller}: fill={fill!r} is not a number") from None
    limits = np.iinfo(dtype)
    if whole != fill or not limits.min <= whole <= limits.max:
        raise Error(f"{caller}: fill={fill!r} is not a value of type {dtype.name}")
    return whole & (2**64 - 1)


def fill_value(caller: str, fill: Any) -> float:
    try:
        return float(fill)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{caller}: fill={fill!r} is not a number") from None


@checks_keywords
def compress(
    array: npt.ArrayLike,
    *,
    rel: float | None = None,
    abs: float | None = None,
    ratio: float | None = None,
    psnr: float | None = None,
    best_effort: bool = False,
    lossless: bool = False,
    fill: float | None = None,
    detect_fill: bool = True,
    codec: str = "auto",
    arrangement: str = "auto",
    unit: int | None = None,
    block: int | None = None,
    merge_units: bool = False,
    method: str = "auto",
    candidates: Candidates = "all",
    speed_weight: float = 0.0,
    ratio_weight: float = 1.0,
    effort: str = "fast",
    threads: int | None = None,
) -> bytes:
    """Compress an N-d array inside a stated error bound: float32 or float64, or integers of 8 to 64
    bits, which take `lossless=True` only.

    Exactly one bound is given: `rel=` is relative to the value range (max - min of the finite
    values that are not the fill value), `abs=` is the largest absolute error, `lossless=True` keeps
    every bit. `ratio=` (bytes before / after) and `psnr=` (20 log10 of value range / root mean
    square error, in dB) ask for a target instead, for which error bounds are tried. A ratio is met
    from 3 % below it on, by about the smallest bound that meets it; a PSNR by about the largest.
    neve.Error says so where no bound up to the value range meets the ratio; `best_effort=True`
    gives the most there is instead. info() gives the error bound that was used. Every finite value
    comes back within the bound; NaN, infinities, -0 and the fill value come back bit for bit.

    fill      the value that marks missing data; None: detected (1e20, -999, ...) unless
              detect_fill=False
    codec     by name, as --codec of the command, whose help lists all of them; "auto" chooses
    effort    "fast", "balanced" or "max"
    threads   None: every CPU this process may use. The bytes do not depend on it.

    These are chosen automatically unless they are given:
    arrangement  how cells are placed for prediction: "auto", "linear", "cluster" or "in_place"
    unit         side of the unit blocks of "linear" and "cluster": 8, 16, 32 or 64
    block        side of lorenzo_regression's prediction blocks: 4 or 6
    merge_units  lorenzo_regression and interpolation predict across unit blocks stacked in a
                 line
    method       codec "lossless": "lorenzo", "multiple", "rank", "zstd", "lz4", "shuffle-zstd",
                 "shuffle-lz4", "bitshuffle-zstd", "bitshuffle-lz4", "xor-zstd", or one of ACOMPS'
                 nine: "B", "BW" or "BWXOR" with "LZO", "zlib" or "bzip2", as in "BW-zlib"
    candidates   the methods that codec "lossless" chooses among: "all" (those of Neve's own, the
                 first ten above, and "B-zlib"), "acomps" (the nine), or a list of names
    speed_weight, ratio_weight  weights of a method's score: its typical speed in 100 MB/s times
                 the first plus its ratio times the second; the highest score wins

    Any memory layout and byte order is taken; decompress() gives a C-contiguous array in the
    machine's byte order. A numpy masked array is stored filled with its fill_value, which becomes
    `fill`. neve.Error says which argument is wrong, or would have no effect beside the others, and
    what is allowed; TypeError is raised for other dtypes and for unknown keywords.
    """
    given = locals()
    array = given.pop("array")
    frame: bytes = _encode(array, given, explain=False)
    return frame


_BOUNDS = ("abs", "rel", "ratio", "psnr", "lossless")
# Keywords of compress() that the library is handed by themselves; it knows all others by name.
_HEEDED_HERE = (*_BOUNDS, "fill", "detect_fill", "threads")
_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(compress).parameters.items()
    if name != "array"
}


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as neve/options.hpp takes them: what is the library's own default is not said."""
    options = {**options, "candidates": candidates_text("compress", options["candidates"])}
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
        if name not in _HEEDED_HERE and value is not None and value != _DEFAULTS[name]
    }


@takes_keywords_of(compress)
def explain(array: npt.ArrayLike, **options: Any) -> dict[str, Any]:
    """What compress() would choose from: each candidate's score, why it lost or was not tried.

    The result is that of `neve compress --explain --json`: `candidates` by how many sections they
    won, then by score, each with its `outcome` in words and `sections` by fate; `cpu_seconds` and
    `cost_share`, the share of encoding that went into choosing.
    """
    weighed: dict[str, Any] = _encode(array, {**_DEFAULTS, **options}, explain=True)
    return weighed


def _fill_of_mask(array: np.ma.MaskedArray) -> Any:
    """The value that stands for masked ones. numpy has a default where nobody gave one."""
    fill = array.fill_value
    if array.dtype.kind not in "iu" or int(fill) in _values_of(array):
        return fill
    if np.ma.is_masked(array):
        raise Error(
            f"compress: {masked_count(array)} of the values are masked, and numpy's default "
            f"for them, {fill}, is not a value of type {array.dtype.name}; give one that stands "
            "for them as fill="
        )
    return None


def _values_of(array: np.ndarray) -> range:
    limits = np.iinfo(array.dtype)
    return range(int(limits.min), int(limits.max) + 1)


def _encode(array: Any, options: Mapping[str, Any], *, explain: bool) -> Any:
    """The compressed bytes, or what explain() gives. `options` has every keyword of compress()."""
    bound = parse_bound("compress", {name: options[name] for name in _BOUNDS})
    fill = options["fill"]
    if isinstance(array, np.ma.MaskedArray):
        fill = _fill_of_mask(array) if fill is None else fill
        array = array.data if fill is None else array.filled(fill)
    array = np.asarray(array)
    if array.dtype.name not in DTYPES:
        raise TypeError(
            f"compress: array of dtype {array.dtype}; allowed are float32, float64 and integers of "
            "8 to 64 bits (convert with .astype)"
        )
    shape = array.shape
    native = array.dtype.newbyteorder("=")
    array = np.ascontiguousarray(array, dtype=native)
    number, whole = _fill_of_type(fill, native)
    threads = thread_count("compress", options["threads"])
    return _core.encode_array(
        array,
        DTYPES[native.name],
        list(shape),
        bound.mode,
        bound.value,
        number,
        whole,
        bool(options["detect_fill"]),
        {**_texts(options), "threads": str(threads)},
        explain,
    )


def _fill_of_type(fill: Any, dtype: np.dtype[Any]) -> tuple[float | None, int | None]:
    """The fill value of a floating-point type, and that of an integer type: one of them is None."""
    if fill is None:
        return None, None
    if dtype.kind != "f":
        return None, integer_fill("compress", fill, dtype)
    number = fill_value("compress", fill)
    # 1e20 means the float32 nearest to it.
    return (float(dtype.type(number)) if np.isfinite(dtype.type(number)) else number), None


def _dtype(frame: _core.Frame) -> np.dtype:
    return np.dtype(NUMPY_NAMES[frame.dtype])


def empty_array(
    shape: Sequence[int], dtype: np.dtype[Any], order: Literal["C", "F"] = "C"
) -> npt.NDArray[Any]:
    """np.empty, with a size the machine cannot hold as an Error: it came out of a file."""
    try:
        return np.empty(shape, dtype, order=order)
    except (MemoryError, ValueError, OverflowError):
        raise Error(f"an array of shape {tuple(shape)} does not fit into memory", FAILURE) from None


@checks_keywords
def decompress(data: Readable, *, threads: int | None = None) -> np.ndarray:
    """The array that compress() was given, in its shape and dtype, every value inside its bound.

    data      bytes or anything with the buffer protocol: what compress() or a StreamEncoder made
    threads   None: every CPU this process may use. The values do not depend on it.

    Damaged bytes raise neve.Error.
    """
    if _core.is_stream(data):
        contents = _core.describe_stream(data)
        array = empty_array(contents["shape"], np.dtype(NUMPY_NAMES[contents["dtype"]]))
        _core.decode_stream(data, array)
        return array
    frame = _core.Frame(data)
    if not frame.is_array:
        raise Error(
            f"decompress: the frame holds {frame.box_count} boxes of {len(frame.components)} "
            "components "
            "of a plotfile, not an array; read the file it is from with neve.open",
            CORRUPT,
        )
    frame.check_stands_alone()
    array = empty_array(frame.array_shape, _dtype(frame))
    frame.decode(array, thread_count("decompress", threads))
    return array


def _byte_count(data: Any) -> int:
    return memoryview(data).nbytes


@checks_keywords
def info(data: Readable) -> dict[str, Any]:
    """Describes compressed bytes by their header; decodes nothing.

    `dtype`, `shape`, `raw_bytes`, `stored_bytes` and their `ratio`; of a frame also `header_bytes`,
    `boxes`, `components` (bound, fill value) and `sections` (codec, bytes), of a stream `bound`,
    `fill`, `dims`, `raw` and `blocks`. Damaged bytes raise neve.Error.
    """
    if _core.is_stream(data):
        contents = _core.describe_stream(data)
        raw_bytes = contents["values"] * np.dtype(NUMPY_NAMES[contents["dtype"]]).itemsize
        stored_bytes = _byte_count(data)
        return {
            **contents,
            "dtype": NUMPY_NAMES[contents["dtype"]],
            "shape": tuple(contents["shape"]),
            "raw_bytes": raw_bytes,
            "stored_bytes": stored_bytes,
            "ratio": raw_bytes / stored_bytes,
        }
    frame = _core.describe_frame(data)
    dtype = np.dtype(NUMPY_NAMES[frame["dtype"]])
    stored_bytes = _byte_count(data)
    raw_bytes = frame["held_elements"] * dtype.itemsize
    return {
        "dtype": str(dtype),
        "shape": tuple(frame["array_shape"]) if frame["is_array"] else None,
        "raw_bytes": raw_bytes,
        "stored_bytes": stored_bytes,
        "ratio": raw_bytes / stored_bytes,
        "header_bytes": frame["header_bytes"],
        "boxes": frame["boxes"],
        "components": frame["components"],
        "sections": frame["sections"],
    }
