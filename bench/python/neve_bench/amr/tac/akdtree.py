# SPDX-License-Identifier: BSD-3-Clause
"""AKDTree, adaptive k-d tree, for levels of medium density: the grid of unit blocks is halved until
each part is full or empty (Wang et al., HPDC 2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .cuboids import Cuboid, count, summed


def partition(occupied: np.ndarray) -> list[Cuboid]:
    """The full parts. A part is cut in the middle of one of its longest directions: the one in
    which the numbers of non-empty units on both sides differ most, of equal ones the first. The
    paper's grids are cubes whose side is a power of two. Others are cut as if their sides were the
    next powers of two, but what is beyond them counts neither as full nor as empty.
    """
    sums = summed(occupied)
    leaves = []
    parts = [Cuboid((0,) * occupied.ndim, occupied.shape)]
    while parts:
        part = parts.pop()
        full = count(sums, part.lo, part.shape)
        if full == math.prod(part.shape):
            leaves.append(part)
        elif full > 0:
            parts += max(_cuts(part), key=lambda halves: _difference(sums, halves))
    return leaves


def _cuts(part: Cuboid) -> list[tuple[Cuboid, Cuboid]]:
    sides = [1 << (n - 1).bit_length() for n in part.shape]
    half = max(sides) // 2
    cuts = []
    for d, side in enumerate(sides):
        if side == max(sides):
            above = (*part.lo[:d], part.lo[d] + half, *part.lo[d + 1 :])
            cuts.append(
                (
                    Cuboid(part.lo, _with_side(part.shape, d, half)),
                    Cuboid(above, _with_side(part.shape, d, part.shape[d] - half)),
                )
            )
    return cuts


def _with_side(shape: Sequence[int], d: int, side: int) -> tuple[int, ...]:
    return (*shape[:d], side, *shape[d + 1 :])


def _difference(sums: np.ndarray, halves: tuple[Cuboid, Cuboid]) -> int:
    below, above = (count(sums, half.lo, half.shape) for half in halves)
    return abs(below - above)
