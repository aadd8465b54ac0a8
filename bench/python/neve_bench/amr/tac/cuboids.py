# SPDX-License-Identifier: BSD-3-Clause
"""Cuboids of unit blocks: numbers of non-empty units in them, and their cells as arrays for SZ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cuboid:
    """In unit blocks, by direction x, y, z."""

    lo: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def slices(self) -> tuple[slice, ...]:
        return tuple(slice(lo, lo + n) for lo, n in zip(self.lo, self.shape, strict=True))


@dataclass(frozen=True)
class Group:
    """Cuboids with the same sides in cells, in some order of directions."""

    sides: tuple[int, ...]  # slowest first
    members: tuple[Cuboid, ...]


def summed(occupied: np.ndarray) -> np.ndarray:
    """The number of non-empty units before each corner of the lattice, in all directions."""
    sums = np.pad(occupied.astype(np.int64), [(1, 0)] * occupied.ndim)
    for axis in range(occupied.ndim):
        np.cumsum(sums, axis, out=sums)
    return sums


def count(sums: np.ndarray, lo: Sequence[int], shape: Sequence[int]) -> int:
    """Of the non-empty units in a cuboid. No side is 0."""
    corners = sums[tuple(slice(a, a + n + 1, n) for a, n in zip(lo, shape, strict=True))]
    for _ in shape:
        corners = corners[1] - corners[0]
    return int(corners)


def groups_of(cuboids: Iterable[Cuboid], unit: Sequence[int]) -> list[Group]:
    """Large ones first; the members in the order of the units that they begin with."""
    groups: dict[tuple[int, ...], list[Cuboid]] = {}
    for cuboid in cuboids:
        cells = [n * side for n, side in zip(cuboid.shape, unit, strict=True)]
        groups.setdefault(tuple(cells[d] for d in _axes(cuboid, unit)), []).append(cuboid)
    return [
        Group(sides, tuple(sorted(groups[sides], key=lambda cuboid: cuboid.lo[::-1])))
        for sides in sorted(groups, key=lambda sides: (-math.prod(sides), sides))
    ]


def merge(group: Group, numbers: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The members along the slowest direction; `numbers` says which of the blocks [block, x, y, z]
    each unit is. TAC hands SZ an array of four dimensions, a cuboid a member, and SZ2 with
    regression takes that for one of three in which the members follow each other: predictions
    reach from one into the next.
    """
    unit = blocks.shape[1:]
    pieces = []
    for cuboid in group.members:
        order = _axis_pairs(cuboid, unit)
        pieces.append(blocks[numbers[cuboid.slices]].transpose(order).reshape(group.sides))
    return np.concatenate(pieces)


def split(group: Group, numbers: np.ndarray, merged: np.ndarray, blocks: np.ndarray) -> None:
    """The inverse of merge: fills `blocks`."""
    unit = blocks.shape[1:]
    for cuboid, piece in zip(group.members, np.split(merged, len(group.members)), strict=True):
        order = _axis_pairs(cuboid, unit)
        sides = (*cuboid.shape, *unit)
        pieces = piece.reshape([sides[axis] for axis in order])
        blocks[numbers[cuboid.slices]] = pieces.transpose(np.argsort(order))


def _axes(cuboid: Cuboid, unit: Sequence[int]) -> list[int]:
    """The directions, slowest first, as the merged array has them: one whose side differs from two
    equal ones, as in the authors' program, else the longest. So cuboids of the same sides in any
    order of directions lie along each other.
    """
    sides = [n * side for n, side in zip(cuboid.shape, unit, strict=True)]
    return sorted(range(len(sides)), key=lambda d: (sides.count(sides[d]), -sides[d], -d))


def _axis_pairs(cuboid: Cuboid, unit: Sequence[int]) -> list[int]:
    """The order of the axes [units x, y, z, cells x, y, z] in the merged array."""
    return [axis for d in _axes(cuboid, unit) for axis in (d, len(unit) + d)]
