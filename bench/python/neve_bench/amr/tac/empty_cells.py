# SPDX-License-Identifier: BSD-3-Clause
"""Values for the cells of a unit block that are not held, where a finer level covers a part of it
or no box reaches. The paper's data have none. A reader drops them.
"""

from __future__ import annotations

import numpy as np


def filled(blocks: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The nearest value before in x, else after; where a row has none, the same in y, then in z.
    What is not finite is no such value and is replaced as well; 0 in units without one.
    """
    known = held & np.isfinite(blocks)
    some = ~known.all(axis=tuple(range(1, blocks.ndim)))
    values, known = np.where(known, blocks, 0)[some], known[some]
    for axis in range(1, blocks.ndim):
        for backwards in (False, True):
            values, known = _carried(values, known, axis, backwards)
    result = blocks.copy()
    result[some] = values
    return result


def _carried(
    values: np.ndarray, known: np.ndarray, axis: int, backwards: bool
) -> tuple[np.ndarray, np.ndarray]:
    if backwards:
        values, known = np.flip(values, axis), np.flip(known, axis)
    shape = [1] * values.ndim
    shape[axis] = values.shape[axis]
    places = np.where(known, np.arange(values.shape[axis]).reshape(shape), 0)
    source = np.maximum.accumulate(places, axis)
    values = np.take_along_axis(values, source, axis)
    known = np.logical_or.accumulate(known, axis)
    return (np.flip(values, axis), np.flip(known, axis)) if backwards else (values, known)
