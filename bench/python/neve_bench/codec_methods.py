# SPDX-License-Identifier: BSD-3-Clause
"""The methods of the codec table: Neve as it is called, and its peers within the same bound."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

import numpy as np

import neve

from .case import Case
from .method import Method, NotApplicable

SZ3_DEFAULT = "INTERP_LORENZO"
SZ3_LORENZO = "LORENZO_REG"


def _neve(simd: str | None, threads: int, effort: str = "fast"):
    def prepare(case: Case, bound_abs: float):
        if simd is not None:
            neve.set_simd_target(simd)
        array = case.array
        # As a user would: the relative bound and, for masked data, the detection of fill values.
        return (
            lambda: neve.compress(array, rel=case.rel, threads=threads, effort=effort),
            lambda data: neve.decompress(data, threads=threads),
        )

    return prepare


def sz3_compress(array: np.ndarray, bound_abs: float, algorithm: str = SZ3_DEFAULT):
    from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode

    config = szConfig(array.shape)
    config.errorBoundMode = szErrorBoundMode.ABS
    config.absErrorBound = bound_abs
    config.cmprAlgo = getattr(szAlgorithm, algorithm)
    return sz.compress(array, config)[0]


def sz3_decompress(stored, like: np.ndarray) -> np.ndarray:
    from pysz import sz

    return sz.decompress(stored, like.dtype, like.shape)[0]


def sz3(algorithm: str):
    def prepare(case: Case, bound_abs: float):
        if bound_abs == 0:
            raise NotApplicable("bound 0: the field has no range")
        array = np.ascontiguousarray(case.array)
        return (
            lambda: sz3_compress(array, bound_abs, algorithm),
            lambda stored: sz3_decompress(stored, array),
        )

    return prepare


def zfp(case: Case, bound_abs: float):
    import zfpy

    if bound_abs == 0:
        raise NotApplicable("bound 0: the field has no range")
    array = np.ascontiguousarray(case.array)
    return lambda: zfpy.compress_numpy(array, tolerance=bound_abs), zfpy.decompress_numpy


def sperr_compress(array: np.ndarray, bound_abs: float) -> bytes:
    """SPERR is at hand as an HDF5 filter: a file in memory with one chunk stands for its stream."""
    with _in_memory() as file:
        there = _sperr_dataset(file, array, bound_abs, data=array)
        return there.id.read_direct_chunk((0,) * array.ndim)[1]


def sperr_decompress(stored, like: np.ndarray, bound_abs: float) -> np.ndarray:
    with _in_memory() as file:
        there = _sperr_dataset(file, like, bound_abs, shape=like.shape, dtype=like.dtype)
        there.id.write_direct_chunk((0,) * like.ndim, bytes(stored))
        return there[()]


def _in_memory():
    import h5py

    return h5py.File("sperr", "w", driver="core", backing_store=False)


def _sperr_dataset(file, like: np.ndarray, bound_abs: float, **data):
    import hdf5plugin

    return file.create_dataset(
        "d", chunks=like.shape, **hdf5plugin.Sperr(absolute=bound_abs), **data
    )


def sperr(case: Case, bound_abs: float):
    if bound_abs == 0:
        raise NotApplicable("bound 0: the field has no range")
    array = np.ascontiguousarray(case.array)
    if array.ndim not in (2, 3):
        raise NotApplicable(f"SPERR takes 2 or 3 dimensions, this has {array.ndim}")
    return (
        lambda: sperr_compress(array, bound_abs),
        lambda stored: sperr_decompress(stored, array, bound_abs),
    )


def _fpzip(case: Case, bound_abs: float):
    """fpzip has no absolute bound: the fewest bits of precision that hold it are searched for
    here.
    """
    import fpzip

    array = np.ascontiguousarray(case.array)
    shape = array.shape

    def encode(bits: int):
        return fpzip.compress(array, precision=bits, order="C")

    def decode(data) -> np.ndarray:
        return fpzip.decompress(data, order="C").reshape(shape)

    valid = np.isfinite(array)
    if case.fill is not None:
        valid &= array != case.fill

    def holds(bits: int) -> bool:
        with np.errstate(all="ignore"):
            error = np.abs(decode(encode(bits)).astype(np.float64) - array.astype(np.float64))[
                valid
            ]
        return bool(np.isfinite(error).all() and error.max(initial=0.0) <= bound_abs)

    # Its precision counts sign and exponent too; of doubles only even ones exist; 0 is lossless.
    step = array.dtype.itemsize // 4
    full = 32
    low, high = 2, full
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle * step) else (middle + 1, high)
    bits = 0 if low == full else low * step
    return lambda: encode(bits), decode


def methods(threads: int) -> list[Method]:
    """Neve as it runs by default on one core, at effort balanced, on all cores and with each
    instruction set; then the peers.
    """
    speed_groups = ("turbulence",)
    listed = [
        Method("neve", f"rel, threads=1, {neve.simd_target()}", _neve(None, 1)),
        Method("neve balanced", "rel, threads=1, effort balanced", _neve(None, 1, "balanced")),
    ]
    if threads > 1:
        listed.append(
            Method(
                f"neve {threads} threads",
                f"rel, threads={threads}",
                _neve(None, threads),
                speed_groups,
                True,
            )
        )
    for target in neve.simd_targets():
        if target != neve.simd_target():
            listed.append(
                Method(
                    f"neve {target}", f"rel, threads=1, {target}", _neve(target, 1), speed_groups
                )
            )
    listed += [
        Method("SZ3", "ABS, INTERP_LORENZO (default)", sz3(SZ3_DEFAULT)),
        Method("SZ3 Lorenzo+reg", "ABS, LORENZO_REG", sz3(SZ3_LORENZO)),
        Method("ZFP", "fixed accuracy", zfp),
        Method("fpzip", "fewest bits that hold the bound", _fpzip),
    ]
    return listed


def versions(peers: Sequence[str] = ("pysz", "zfpy", "fpzip", "numpy")) -> dict[str, str]:
    return {"neve": neve.__version__, **{name: metadata.version(name) for name in peers}}
