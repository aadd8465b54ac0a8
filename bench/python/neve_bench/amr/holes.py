# SPDX-License-Identifier: BSD-3-Clause
"""Values for cells that need not be stored, for programs that have to store every cell: such as
cost them least.
"""

from __future__ import annotations

import numpy as np


def filled(array: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Between the nearest held cells along x, linear; beyond the last one, as it. Lines without
    one get theirs in the same way along y, then along z.
    """
    known = held
    for axis in range(array.ndim):
        if known.all():
            break
        array, known = _along(array, known, axis)
    return array


def _along(array: np.ndarray, known: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    cells = array.shape[axis]
    places = np.arange(cells).reshape([cells if d == axis else 1 for d in range(array.ndim)])
    before = np.maximum.accumulate(np.where(known, places, -1), axis=axis)
    reverse = np.flip(np.where(known, places, cells), axis)
    after = np.flip(np.minimum.accumulate(reverse, axis=axis), axis)
    has_one = np.broadcast_to(known.any(axis=axis, keepdims=True), array.shape)
    first = np.where(before < 0, after, before) % cells
    last = np.where(after == cells, before, after) % cells
    low = np.take_along_axis(array, first, axis)
    high = np.take_along_axis(array, last, axis)
    with np.errstate(all="ignore"):
        part = (places - first) / np.maximum(last - first, 1)
        between = low * (1 - part) + high * part
    values = np.where(known, array, between.astype(array.dtype))
    return np.where(has_one, values, array), has_one
