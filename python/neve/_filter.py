# SPDX-License-Identifier: BSD-3-Clause
"""The HDF5 filter as h5py's create_dataset takes it."""

from __future__ import annotations

import builtins
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._array import fill_value, integer_fill
from ._bound import parse_bound
from ._errors import Error

FILTER_ID = 466

# cd_values, layout 1 (docs/format.md): the words a user gives; the filter adds dtype and chunk
# shape itself.
_LAYOUT_VERSION = 1
_CODECS = {
    "auto": 0,
    "dual_quant": 1,
    "exact": 2,
    "lorenzo_regression": 4,
    "interpolation": 5,
    "context": 6,
    "lossless": 7,
}
_EFFORTS = {"fast": 0, "balanced": 1, "max": 2}
_FILL_GIVEN, _DETECT_FILL, _INTEGER_FILL = 1, 2, 4

_EXACT_IN_DOUBLE = 2**53

CHUNK_TARGET_BYTES = 4 << 20


def _choice(what: str, value: Any, allowed: dict[str, int]) -> int:
    if value not in allowed:
        raise Error(f"Filter: {what}={value!r}; allowed: {', '.join(allowed)}")
    return allowed[value]


def _double_words(value: float) -> tuple[int, int]:
    """The bits of a double as two 32-bit words, the low one first: a bound must arrive bit for
    bit.
    """
    return struct.unpack("<II", struct.pack("<d", value))


class Filter(Mapping):
    """Keyword arguments for create_dataset: `f.create_dataset("t", data=t,
    **neve.Filter(rel=1e-3))`.

    The bound and options are those of neve.compress. HDF5 compresses chunk by chunk, so `rel=` is
    relative to each chunk's own value range: never a looser promise than over the whole dataset.

    Chunks are the unit of compression, and h5py's own guess (16 KiB to 1 MiB) is small for it. Give
    `chunks=neve.guess_chunks(shape, dtype)` to create_dataset, or your own of about 1 to 8 MiB.
    Datasets are float32, float64, or integers of 8 to 64 bits, which take `lossless=True` only, and
    have 1 to 32 dimensions; HDF5 refuses filters on scalars. An int as `fill` is exact where a
    float would not be.
    """

    def __init__(
        self,
        *,
        rel: float | None = None,
        abs: float | None = None,
        lossless: bool = False,
        fill: float | None = None,
        detect_fill: bool = True,
        codec: str = "auto",
        effort: str = "fast",
        **other: Any,
    ):
        bound = parse_bound("Filter", abs, rel, lossless, other)
        choices = (_choice("codec", codec, _CODECS), _choice("effort", effort, _EFFORTS))
        _core.check_keeps_bound(bound.mode, codec)
        flags = (0 if fill is None else _FILL_GIVEN) | (_DETECT_FILL if detect_fill else 0)
        fill_words = (0, 0)
        if isinstance(fill, (int, np.integer)) and _EXACT_IN_DOUBLE < builtins.abs(fill) < 2**64:
            flags |= _INTEGER_FILL
            wide = np.dtype(np.int64 if fill < 0 else np.uint64)
            bits = integer_fill("Filter", fill, wide)
            fill_words = (bits & 0xFFFFFFFF, bits >> 32)
        elif fill is not None:
            fill_words = _double_words(fill_value("Filter", fill))
        self._arguments = {
            "compression": FILTER_ID,
            "compression_opts": (
                _LAYOUT_VERSION,
                bound.mode,
                *_double_words(bound.value),
                *choices,
                flags,
                *fill_words,
            ),
        }

    def __getitem__(self, key: str) -> Any:
        return self._arguments[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    def __len__(self) -> int:
        return len(self._arguments)

    def __repr__(self) -> str:
        return f"neve.Filter({self._arguments})"


def guess_chunks(
    shape: Sequence[int], dtype: Any, target_bytes: int = CHUNK_TARGET_BYTES
) -> tuple[int, ...]:
    """A chunk shape of at most `target_bytes`, as near to a cube as halving the longest side
    gets.
    """
    sizes = [max(int(n), 1) for n in shape]
    itemsize = np.dtype(dtype).itemsize
    while int(np.prod(sizes, dtype=object)) * itemsize > target_bytes and max(sizes) > 1:
        longest = sizes.index(max(sizes))
        sizes[longest] = (sizes[longest] + 1) // 2
    return tuple(sizes)
