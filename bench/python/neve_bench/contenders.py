# SPDX-License-Identifier: BSD-3-Clause
"""The codecs of the table behind one face: encode(array, bound, field) and decode(bytes, array)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

import neve

from .fields import BenchField


@dataclass(frozen=True)
class Contender:
    name: str
    settings: str
    # prepare(field, bound_abs) gives (encode, decode); its own work (tuning) is not timed.
    prepare: Callable[[BenchField, float], tuple[Callable[[], Any], Callable[[Any], np.ndarray]]]
    groups: tuple[str, ...] | None = None  # None: runs on everything
    multithreaded: bool = False

    def runs_on(self, field: BenchField) -> bool:
        return self.groups is None or field.group in self.groups


class NotApplicable(Exception):
    """The codec has no setting for what the field needs; the reason is the message."""


def _neve(simd: str | None, threads: int):
    def prepare(field: BenchField, bound_abs: float):
        if simd is not None:
            neve.set_simd_target(simd)
        array = field.array
        # As a user would: the relative bound and, for masked data, the detection of fill values.
        return (
            lambda: neve.compress(array, rel=field.rel, threads=threads),
            lambda data: neve.decompress(data, threads=threads),
        )

    return prepare


def _sz3(algorithm: str):
    def prepare(field: BenchField, bound_abs: float):
        from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode

        if bound_abs == 0:
            raise NotApplicable("bound 0: the field has no range")
        array = np.ascontiguousarray(field.array)

        def encode():
            config = szConfig(array.shape)
            config.errorBoundMode = szErrorBoundMode.ABS
            config.absErrorBound = bound_abs
            config.cmprAlgo = getattr(szAlgorithm, algorithm)
            return sz.compress(array, config)[0]

        return encode, lambda data: sz.decompress(data, array.dtype, array.shape)[0]

    return prepare


def _zfp(field: BenchField, bound_abs: float):
    import zfpy

    if bound_abs == 0:
        raise NotApplicable("bound 0: the field has no range")
    array = np.ascontiguousarray(field.array)
    return lambda: zfpy.compress_numpy(array, tolerance=bound_abs), zfpy.decompress_numpy


def _fpzip(field: BenchField, bound_abs: float):
    """fpzip has no absolute bound: the fewest bits of precision that hold it are searched for
    here.
    """
    import fpzip

    array = np.ascontiguousarray(field.array)
    shape = array.shape

    def encode(bits: int):
        return fpzip.compress(array, precision=bits, order="C")

    def decode(data) -> np.ndarray:
        return fpzip.decompress(data, order="C").reshape(shape)

    valid = np.isfinite(array)
    if field.fill is not None:
        valid &= array != field.fill

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


def contenders(threads: int) -> list[Contender]:
    """Neve as it runs by default on one core, on all cores and with each instruction set; then the
    peers.
    """
    speed_groups = ("turbulence",)
    listed = [Contender("neve", f"rel, threads=1, {neve.simd_target()}", _neve(None, 1))]
    if threads > 1:
        listed.append(
            Contender(
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
                Contender(
                    f"neve {target}", f"rel, threads=1, {target}", _neve(target, 1), speed_groups
                )
            )
    listed += [
        Contender("SZ3", "ABS, INTERP_LORENZO (default)", _sz3("INTERP_LORENZO")),
        Contender("SZ3 Lorenzo+reg", "ABS, LORENZO_REG", _sz3("LORENZO_REG")),
        Contender("ZFP", "fixed accuracy", _zfp),
        Contender("fpzip", "fewest bits that hold the bound", _fpzip),
    ]
    return listed


def versions() -> dict[str, str]:
    peers = {name: metadata.version(name) for name in ("pysz", "zfpy", "fpzip", "numpy")}
    return {"neve": neve.__version__, **peers}
