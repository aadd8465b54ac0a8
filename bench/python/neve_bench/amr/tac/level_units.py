# SPDX-License-Identifier: BSD-3-Clause
"""A level as unit blocks of one lattice, which boxes may cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neve.plotfile import Box

from ..subject import Part
from ..units import MAX_CELLS_PER_CELL
from ..way import NotPossible

# In the rectangle around all boxes; a lattice needs some bytes for each.
MAX_UNITS = 1 << 24


@dataclass(frozen=True)
class Lattice:
    """Units of `unit` cells from `lo` on."""

    unit: tuple[int, ...]
    lo: tuple[int, ...]
    shape: tuple[int, ...]  # in units

    def units_of(self, box: Box) -> tuple[slice, ...]:
        """Those that have a cell of the box."""
        return tuple(
            slice((lo - base) // side, (hi - base) // side + 1)
            for lo, hi, base, side in zip(box.lo, box.hi, self.lo, self.unit, strict=True)
        )

    def cut(self, box: Box, array: np.ndarray) -> np.ndarray:
        """A box's array in the units that have a part of it, [units x, y, z, cells x, y, z]; 0 in
        cells outside.
        """
        counts = [units.stop - units.start for units in self.units_of(box)]
        pairs = list(zip(counts, self.unit, strict=True))
        padded = np.zeros([n * side for n, side in pairs], array.dtype)
        padded[self._place(box)] = array
        dims = array.ndim
        split = padded.reshape([n for pair in pairs for n in pair])
        return split.transpose([*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)])

    def uncut(self, box: Box, pieces: np.ndarray) -> np.ndarray:
        """The inverse of cut."""
        dims = len(self.unit)
        order = [axis for d in range(dims) for axis in (d, dims + d)]
        padded = pieces.transpose(order).reshape(
            [n * side for n, side in zip(pieces.shape[:dims], self.unit, strict=True)]
        )
        return np.asfortranarray(padded[self._place(box)])

    def _place(self, box: Box) -> tuple[slice, ...]:
        return tuple(
            slice((lo - base) % side, (lo - base) % side + n)
            for lo, base, side, n in zip(box.lo, self.lo, self.unit, box.shape, strict=True)
        )


def lattice_of(part: Part, side: int) -> Lattice:
    """From the lowest cell that a box has in each direction. A level that is thinner than a unit
    has thinner units. Raises NotPossible.
    """
    lo = tuple(min(box.lo[d] for box in part.boxes) for d in range(len(part.domain.lo)))
    cells = [max(box.hi[d] for box in part.boxes) + 1 - lo[d] for d in range(len(lo))]
    unit = tuple(min(side, n) for n in cells)
    shape = tuple(-(-n // u) for n, u in zip(cells, unit, strict=True))
    if math.prod(shape) > MAX_UNITS:
        raise NotPossible(
            f"unit {side}: the boxes of level {part.number} lie in {math.prod(shape)} units; "
            f"allowed are {MAX_UNITS}"
        )
    return Lattice(unit, lo, shape)


@dataclass(frozen=True)
class LevelUnits:
    """The non-empty units of a level, numbered."""

    boxes: tuple[Box, ...]
    lattice: Lattice
    numbers: np.ndarray  # by unit [x, y, z]; -1: empty

    @property
    def occupied(self) -> np.ndarray:
        return self.numbers >= 0

    @property
    def count(self) -> int:
        return int(self.occupied.sum())

    def blocks(self, arrays: Sequence[np.ndarray], which: Sequence[np.ndarray]) -> np.ndarray:
        """Out of the boxes' arrays, [block, x, y, z]: the cells that `which` marks, 0 elsewhere."""
        blocks = np.zeros((self.count, *self.lattice.unit), arrays[0].dtype)
        for box, array, marked in zip(self.boxes, arrays, which, strict=True):
            numbers = self.numbers[self.lattice.units_of(box)]
            there = numbers >= 0
            mine = blocks[numbers[there]]
            cut, is_mine = self.lattice.cut(box, array), self.lattice.cut(box, marked)
            np.copyto(mine, cut[there], where=is_mine[there])
            blocks[numbers[there]] = mine
        return blocks

    def arrays(self, blocks: np.ndarray) -> list[np.ndarray]:
        """The boxes' arrays; 0 in empty units."""
        arrays = []
        for box in self.boxes:
            numbers = self.numbers[self.lattice.units_of(box)]
            pieces = np.zeros((*numbers.shape, *self.lattice.unit), blocks.dtype)
            pieces[numbers >= 0] = blocks[numbers[numbers >= 0]]
            arrays.append(self.lattice.uncut(box, pieces))
        return arrays


def marked_units(part: Part, lattice: Lattice, masks: Sequence[np.ndarray]) -> np.ndarray:
    """The units that have a marked cell, [x, y, z]."""
    found = np.zeros(lattice.shape, bool)
    inside = tuple(range(len(lattice.unit), 2 * len(lattice.unit)))
    for box, mask in zip(part.boxes, masks, strict=True):
        found[lattice.units_of(box)] |= lattice.cut(box, mask).any(axis=inside)
    return found


def numbered(part: Part, lattice: Lattice, occupied: np.ndarray) -> LevelUnits:
    """Raises NotPossible."""
    cells = int(occupied.sum()) * math.prod(lattice.unit)
    if cells > MAX_CELLS_PER_CELL * part.cells:
        raise NotPossible(
            f"units of {' x '.join(map(str, lattice.unit))} cells: those with cells of level "
            f"{part.number} would have {cells / part.cells:.0f} times its cells; allowed are "
            f"{MAX_CELLS_PER_CELL} times"
        )
    numbers = np.full(lattice.shape, -1)
    numbers[occupied] = np.arange(int(occupied.sum()))
    return LevelUnits(part.boxes, lattice, numbers)
