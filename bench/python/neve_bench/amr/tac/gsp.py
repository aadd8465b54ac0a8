# SPDX-License-Identifier: BSD-3-Clause
"""GSP, ghost-shell padding, for levels of high density: the whole level is one array, and empty
unit blocks get values that go on from their neighbours (Wang et al., HPDC 2022).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..way import NotPossible
from .level_units import LevelUnits

MAX_DEPTH = 4  # of the shell, and of what is averaged for it, as in the authors' program
# One array of the level may have so many cells for each of the non-empty units', beside some.
MAX_GRID_PER_CELL = 16
CELLS_FREE = 1 << 24


def check_size(units: LevelUnits) -> None:
    """Raises NotPossible."""
    each = math.prod(units.lattice.unit)
    cells, most = units.numbers.size * each, MAX_GRID_PER_CELL * units.count * each + CELLS_FREE
    if cells > most:
        raise NotPossible(
            f"gsp: the rectangle around the level's boxes has {cells} cells, of which "
            f"{units.count * each} are in units that are not empty; allowed are {most}"
        )


def padded(units: LevelUnits, blocks: np.ndarray, smooth: np.ndarray) -> np.ndarray:
    """The level's array, slowest direction first. Padding follows from `smooth`, the blocks with a
    finite value in every cell. A row of cells that leaves a unit for an empty one goes on there, a
    shell deep, with the mean of the unit's last cells; where shells of several units meet their
    means are averaged. Beyond, where the paper has 0, stands the mean of the level, which costs
    less.
    """
    dims = units.numbers.ndim
    with np.errstate(over="ignore", invalid="ignore"):
        elsewhere = np.nan_to_num(smooth.mean(dtype=np.float64)) if smooth.size else 0.0
        pieces = np.full((*units.numbers.shape, *blocks.shape[1:]), elsewhere, blocks.dtype)
        is_shell, shells = _shells(units, smooth, elsewhere)
        pieces[is_shell] = np.nan_to_num(shells.astype(blocks.dtype))
    pieces[units.occupied] = blocks
    order = [axis for d in reversed(range(dims)) for axis in (d, dims + d)]
    return pieces.transpose(order).reshape(array_shape(units))


def unpadded(units: LevelUnits, array: np.ndarray) -> np.ndarray:
    """The blocks of the non-empty units."""
    dims = units.numbers.ndim
    sides = (*units.numbers.shape, *units.lattice.unit)
    order = [axis for d in reversed(range(dims)) for axis in (d, dims + d)]
    pieces = array.reshape([sides[axis] for axis in order]).transpose(np.argsort(order))
    return pieces[units.occupied]


def array_shape(units: LevelUnits) -> tuple[int, ...]:
    pairs = zip(units.numbers.shape, units.lattice.unit, strict=True)
    return tuple(n * side for n, side in pairs)[::-1]


def _shells(
    units: LevelUnits, smooth: np.ndarray, elsewhere: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which units are empty with a face to one that is not; and their cells, in f64."""
    is_shell = np.zeros(units.numbers.shape, bool)
    for empty, _, _, _ in _faces(units):
        is_shell[tuple(empty)] = True
    places = np.full(is_shell.shape, -1)
    places[is_shell] = np.arange(int(is_shell.sum()))
    sums = np.zeros((int(is_shell.sum()), *smooth.shape[1:]))
    means = np.zeros(sums.shape, np.int8)
    for empty, neighbours, axis, is_above in _faces(units):
        depth = min(MAX_DEPTH, max(smooth.shape[1 + axis] // 2, 1))
        low, high = slice(depth), slice(smooth.shape[1 + axis] - depth, None)
        inside = [slice(None)] * smooth.ndim
        inside[1 + axis] = low if is_above else high
        border = smooth[neighbours][tuple(inside)].mean(1 + axis, np.float64, keepdims=True)
        inside[1 + axis] = high if is_above else low
        inside[0] = places[tuple(empty)]
        sums[tuple(inside)] += border
        means[tuple(inside)] += 1
    return is_shell, np.where(means > 0, sums / np.maximum(means, 1), elsewhere)


def _faces(units: LevelUnits) -> Iterator[tuple[np.ndarray, np.ndarray, int, bool]]:
    """For each direction and side: the places of empty units [direction, unit] that have a
    neighbour there, the numbers of these, the axis, and whether they are above.
    """
    for axis in range(units.numbers.ndim):
        for is_above in (True, False):
            step = 1 if is_above else -1
            beyond = np.roll(units.numbers, -step, axis)
            edge = [slice(None)] * beyond.ndim
            edge[axis] = slice(-1, None) if is_above else slice(1)
            beyond[tuple(edge)] = -1
            empty = np.argwhere((units.numbers < 0) & (beyond >= 0)).T
            yield empty, beyond[tuple(empty)], axis, is_above
