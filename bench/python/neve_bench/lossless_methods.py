# SPDX-License-Identifier: BSD-3-Clause
"""The methods of the lossless table: Neve's choice, ACOMPS' nine, and what is used elsewhere."""

from __future__ import annotations

import bz2
import ctypes
import ctypes.util
import zlib
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np

import neve

from .case import Case
from .method import Coders, Method, NotApplicable

EFFORTS = ("fast", "balanced", "max")
NINE = tuple(f"{b}-{c}" for b in ("B", "BW", "BWXOR") for c in ("LZO", "zlib", "bzip2"))
MODERN = (
    *("zstd", "lz4", "shuffle-zstd", "shuffle-lz4", "bitshuffle-zstd", "bitshuffle-lz4"),
    *("xor-zstd", "lorenzo", "multiple", "rank"),
)


def _method(
    name: str,
    settings: str,
    encode: Callable[[np.ndarray], Any],
    decode: Callable[[Any, np.ndarray], np.ndarray],
    **more: Any,
) -> Method:
    """decode(stored, array): the array gives dtype and shape alone."""

    def prepare(case: Case, bound_abs: float) -> Coders:
        return lambda: encode(case.array), lambda stored: decode(stored, case.array)

    return Method(name, settings, prepare, **more)


def neve_method(name: str, settings: str, chooses: bool = False, **options: Any) -> Method:
    def encode(array: np.ndarray) -> bytes:
        try:
            return neve.compress(array, lossless=True, threads=1, **options)
        except TypeError as error:  # of values that this version has no type for
            raise NotApplicable(str(error)) from None

    def explain(array: np.ndarray) -> dict[str, Any]:
        return neve.explain(array, lossless=True, threads=1, **options)

    return _method(
        name,
        settings,
        encode,
        lambda data, like: neve.decompress(data, threads=1),
        is_neve=True,
        explain=explain if chooses else None,
    )


def chosen_by_ratio() -> list[Method]:
    return [
        neve_method(f"neve {effort}", f"effort {effort}", True, effort=effort) for effort in EFFORTS
    ]


def chosen_by_speed() -> Method:
    return neve_method(
        "neve by speed",
        "effort fast, speed_weight 1, ratio_weight 0",
        True,
        speed_weight=1.0,
        ratio_weight=0.0,
    )


def by_method(method: str, effort: str = "max") -> Method:
    """codec="lossless": the method for every section, constant ones aside."""
    return neve_method(method, f"method {method}", codec="lossless", method=method, effort=effort)


def _bytes_method(name: str, settings: str, shrink, grow) -> Method:
    """A codec of bytes; grow(data, size of the original)."""
    return _method(
        name,
        settings,
        lambda array: shrink(memoryview(array.reshape(-1)).cast("B")),
        lambda data, like: np.frombuffer(grow(data, like.nbytes), like.dtype).reshape(like.shape),
    )


def pco() -> Method:
    from pcodec import ChunkConfig, standalone

    level = 8
    config = ChunkConfig(compression_level=level)

    # It has no 8-bit types: as a user would, through 16 bits.
    def wide(dtype: np.dtype) -> np.dtype:
        return np.dtype(f"{dtype.kind}2") if dtype.itemsize == 1 else dtype

    def encode(array: np.ndarray) -> bytes:
        return standalone.simple_compress(array.reshape(-1).astype(wide(array.dtype)), config)

    def decode(data: bytes, like: np.ndarray) -> np.ndarray:
        return standalone.simple_decompress(data).astype(like.dtype).reshape(like.shape)

    return _method(f"pco {level}", f"level {level}", encode, decode)


def _blosc2(filter_name: str) -> Method:
    import blosc2

    level = 5

    def encode(array: np.ndarray) -> bytes:
        return blosc2.compress2(
            np.ascontiguousarray(array.reshape(-1)),
            codec=blosc2.Codec.ZSTD,
            clevel=level,
            filters=[getattr(blosc2.Filter, filter_name.upper())],
            typesize=array.dtype.itemsize,
            nthreads=1,
        )

    def decode(data: bytes, like: np.ndarray) -> np.ndarray:
        found = blosc2.decompress2(data, nthreads=1)
        return np.frombuffer(found, like.dtype).reshape(like.shape)

    return _method(
        f"blosc2 zstd{level} {filter_name}",
        f"zstd {level}, {filter_name}, 1 thread",
        encode,
        decode,
    )


def _fpzip() -> Method:
    import fpzip

    def as_fpzip_has_it(array: np.ndarray) -> np.ndarray:
        if array.dtype.kind != "f":
            raise NotApplicable("floating point alone")
        sizes = [n for n in array.shape if n > 1] or [1]
        return array.reshape([-1, *sizes[-3:]] if len(sizes) > 4 else sizes)

    def decode(data: bytes, like: np.ndarray) -> np.ndarray:
        return fpzip.decompress(data, order="C").reshape(like.shape)

    return _method(
        "fpzip",
        "every bit",
        lambda array: fpzip.compress(as_fpzip_has_it(array), precision=0, order="C"),
        decode,
    )


def _shuffle_zlib() -> Method:
    level = 6

    def encode(array: np.ndarray) -> bytes:
        planes = array.reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize).T
        return zlib.compress(np.ascontiguousarray(planes), level)

    def decode(data: bytes, like: np.ndarray) -> np.ndarray:
        planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(like.dtype.itemsize, -1)
        return np.ascontiguousarray(planes.T).reshape(-1).view(like.dtype).reshape(like.shape)

    return _method("shuffle+zlib", f"bytes shuffled, zlib {level}", encode, decode)


def _library(name: str) -> ctypes.CDLL:
    found = ctypes.util.find_library(name)
    if found is None:
        raise ImportError(f"lib{name} is not installed")
    return ctypes.CDLL(found)


def _address(data: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(np.frombuffer(data, np.uint8).ctypes.data)


def _zstd() -> Method:
    library = _library("zstd")
    level = 3
    library.ZSTD_compressBound.restype = ctypes.c_size_t
    library.ZSTD_compress.restype = library.ZSTD_decompress.restype = ctypes.c_size_t

    def shrink(data) -> bytes:
        room = library.ZSTD_compressBound(ctypes.c_size_t(data.nbytes))
        out = np.empty(room, np.uint8)
        size = library.ZSTD_compress(
            *(_address(out), ctypes.c_size_t(room), _address(data), ctypes.c_size_t(data.nbytes)),
            level,
        )
        return out[:size].tobytes()

    def grow(data: bytes, size: int) -> np.ndarray:
        out = np.empty(size, np.uint8)
        library.ZSTD_decompress(
            *(_address(out), ctypes.c_size_t(size), _address(data), ctypes.c_size_t(len(data)))
        )
        return out

    return _bytes_method("zstd", f"level {level}", shrink, grow)


def _lzo() -> Method:
    library = _library("lzo2")
    work_bytes = 1 << 17  # LZO1X_1_MEM_COMPRESS: 16384 pointers

    def shrink(data) -> bytes:
        out = np.empty(data.nbytes + data.nbytes // 16 + 67, np.uint8)
        size = ctypes.c_ulong(0)
        work = np.empty(work_bytes, np.uint8)
        library.lzo1x_1_compress(
            *(_address(data), ctypes.c_ulong(data.nbytes), _address(out), ctypes.byref(size)),
            _address(work),
        )
        return out[: size.value].tobytes()

    def grow(data: bytes, size: int) -> np.ndarray:
        out = np.empty(size, np.uint8)
        found = ctypes.c_ulong(size)
        library.lzo1x_decompress_safe(
            *(_address(data), ctypes.c_ulong(len(data)), _address(out), ctypes.byref(found)), None
        )
        return out

    return _bytes_method("LZO", "LZO1X-1", shrink, grow)


def peers() -> tuple[list[Method], dict[str, str]]:
    """Those that are installed, and why the others are not."""
    found, missing = [], {}
    for name, make in (
        ("pco 8", pco),
        ("blosc2 zstd5 shuffle", lambda: _blosc2("shuffle")),
        ("blosc2 zstd5 bitshuffle", lambda: _blosc2("bitshuffle")),
        ("fpzip", _fpzip),
        ("shuffle+zlib", _shuffle_zlib),
        ("zstd", _zstd),
        (
            "bzip2",
            lambda: _bytes_method(
                "bzip2", "level 9", lambda d: bz2.compress(d, 9), lambda d, n: bz2.decompress(d)
            ),
        ),
        ("LZO", _lzo),
    ):
        try:
            found.append(make())
        except (ImportError, OSError) as error:
            missing[name] = str(error)
    return found, missing


def versions() -> dict[str, str]:
    result = {"neve": neve.__version__, "numpy": np.__version__}
    for name in ("pcodec", "blosc2", "fpzip"):
        try:
            result[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return result
