# SPDX-License-Identifier: BSD-3-Clause
"""One field of one level, or of all levels at the resolution of one, read when it is indexed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from .._array import empty_array
from .._hierarchy import Box, Source
from ._kept_file import KeptFile

# Of _grid: source, level, component and cells give their values.
ReadRegion = Callable[[Source, int, int, Box], np.ndarray]


class FieldArray(BackendArray):
    """What xarray indexes. It can be pickled: another process opens the file for itself."""

    def __init__(
        self,
        file: KeptFile,
        read: ReadRegion,
        level: int,
        component: int,
        region: Box,
        dtype: np.dtype[Any],
    ):
        self._file = file
        self._read = read
        self._level = level
        self._component = component
        self._region = region
        self.shape = region.shape
        self.dtype = dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray:
        return np.asarray(
            indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.OUTER, self._get
            )
        )

    def _get(self, key: tuple[Any, ...]) -> np.ndarray:
        """`key` has an integer, a slice or an array of numbers for each direction."""
        wanted = [np.arange(n)[of] for n, of in zip(self.shape, key, strict=True)]
        shape = tuple(len(numbers) for numbers in wanted if numbers.ndim)
        if math.prod(numbers.size for numbers in wanted) == 0:
            return empty_array(shape, self.dtype)
        first = [int(numbers.min()) for numbers in wanted]
        last = [int(numbers.max()) for numbers in wanted]
        lo = self._region.lo
        cells = Box(
            tuple(a + b for a, b in zip(lo, first, strict=True)),
            tuple(a + b for a, b in zip(lo, last, strict=True)),
        )
        with self._file.open() as plotfile:
            values = self._read(plotfile._source, self._level, self._component, cells)
        for axis, (numbers, begin) in enumerate(zip(wanted, first, strict=True)):
            local = np.atleast_1d(numbers) - begin
            if not np.array_equal(local, np.arange(values.shape[axis])):
                values = np.take(values, local, axis=axis)
        return values.squeeze(tuple(d for d, numbers in enumerate(wanted) if not numbers.ndim))
