# SPDX-License-Identifier: BSD-3-Clause
"""OpST, optimized sparse tensor, for levels of low density: the non-empty unit blocks become cubes
as large as can be (Wang et al., HPDC 2022).
"""

from __future__ import annotations

import numpy as np

from .cuboids import Cuboid, summed


def partition(occupied: np.ndarray) -> list[Cuboid]:
    """Again and again the largest cube of the units that are left, of equal ones the first, x
    fastest. The authors' program goes from the last unit to the first and takes the largest cube
    that ends at each, which leaves more and smaller cubes.
    """
    free = occupied.copy()
    cuboids = []
    for side in range(_largest_side(free), 1, -1):
        for lo in _places(full_cubes(free, side)):
            cube = Cuboid(lo, (side,) * free.ndim)
            if free[cube.slices].all():  # no earlier one has a part of it
                free[cube.slices] = False
                cuboids.append(cube)
    return cuboids + [Cuboid(lo, (1,) * free.ndim) for lo in _places(free)]


def full_cubes(occupied: np.ndarray, side: int) -> np.ndarray:
    """Whether the cube of `side` units that begins at a unit has no empty one, of all units at
    which it fits. The paper has the largest such side at each unit from a dynamic programme, side
    = 1 + the least side at the neighbours; sums over cubes say the same of one side at a time.
    """
    sums = summed(occupied)
    for axis in range(occupied.ndim):
        ends = np.take(sums, range(side, sums.shape[axis]), axis)
        sums = ends - np.take(sums, range(sums.shape[axis] - side), axis)
    return sums == side**occupied.ndim


def _places(marked: np.ndarray) -> list[tuple[int, ...]]:
    """Of what is marked, x fastest."""
    return [tuple(reversed(place)) for place in np.argwhere(marked.T).tolist()]


def _largest_side(occupied: np.ndarray) -> int:
    """By halving: where a cube is full, smaller ones inside are."""
    full, beyond = 0, min(occupied.shape) + 1
    while beyond - full > 1:
        side = (full + beyond) // 2
        if full_cubes(occupied, side).any():
            full = side
        else:
            beyond = side
    return full
