# SPDX-License-Identifier: BSD-3-Clause
"""A level cut into unit blocks of one shape, as AMRIC's section 3.1: those that a finer level
covers wholly are dropped, the others follow each other, box by box, x fastest in a box.

Blocks lie on a grid from each box's first cell. In one that is covered partly, or reaches past its
box, some cells are not held.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neve.plotfile import Box

from . import flags
from .subject import Part
from .way import NotPossible

SIDES = (64, 32, 16, 8)  # that unit=auto tries, in this order
# Blocks may have so many cells for each of the boxes' own; more would be mostly not held.
MAX_CELLS_PER_CELL = 8


def fitting_side(part: Part) -> int:
    """The largest of SIDES that divides all boxes and, in them, what is covered and what is not;
    the smallest if none does.
    """
    for side in SIDES:
        if all(
            all(n % side == 0 for n in box.shape)
            and all(
                (lo - first) % side == 0 and n % side == 0
                for rect in rects
                for lo, first, n in zip(rect.lo, box.lo, rect.shape, strict=True)
            )
            for box, rects in zip(part.boxes, part.covered, strict=True)
        ):
            return side
    return SIDES[-1]


@dataclass(frozen=True)
class Units:
    """Which blocks there are. Stacks of them are arrays [block, z, y, x] in C order."""

    boxes: tuple[Box, ...]
    shape: tuple[int, ...]  # of a block: x first, as boxes have it
    is_there: tuple[np.ndarray, ...]  # by box: bool, a value for each block [z, y, x] of its grid

    @property
    def count(self) -> int:
        return sum(int(there.sum()) for there in self.is_there)

    @property
    def cells_each(self) -> int:
        return math.prod(self.shape)

    def stack(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Out of the boxes' arrays. What reaches past a box repeats its last cells; of bool it is
        False.
        """
        found = [
            self._blocks_of(array)[there]
            for array, there in zip(arrays, self.is_there, strict=True)
        ]
        return np.concatenate(found)

    def unstack(self, stack: np.ndarray) -> list[np.ndarray]:
        """The boxes' arrays; 0 in dropped blocks."""
        arrays, begin = [], 0
        for box, there in zip(self.boxes, self.is_there, strict=True):
            end = begin + int(there.sum())
            blocks = np.zeros((*there.shape, *self.shape[::-1]), stack.dtype)
            blocks[there] = stack[begin:end]
            dims = len(self.shape)
            order = [axis for d in range(dims) for axis in (d, dims + d)]
            padded = blocks.transpose(order).reshape(
                [n * side for n, side in zip(there.shape, self.shape[::-1], strict=True)]
            )
            arrays.append(padded[tuple(slice(n) for n in box.shape[::-1])].T)
            begin = end
        return arrays

    def _blocks_of(self, array: np.ndarray) -> np.ndarray:
        """[block z, y, x, z, y, x]"""
        array = array.T
        sides = self.shape[::-1]
        past = [(0, -n % side) for n, side in zip(array.shape, sides, strict=True)]
        if any(after for _, after in past):
            array = np.pad(array, past) if array.dtype == bool else np.pad(array, past, "edge")
        dims = array.ndim
        split = array.reshape(
            [n for size, side in zip(array.shape, sides, strict=True) for n in (size // side, side)]
        )
        return split.transpose([*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)])


def covered_masks(part: Part) -> list[np.ndarray]:
    masks = []
    for box, rects in zip(part.boxes, part.covered, strict=True):
        mask = np.zeros(box.shape, bool, order="F")
        for rect in rects:
            mask[rect.within(box)] = True
        masks.append(mask)
    return masks


class Truncation:
    """A level's blocks of one side, and which of them geometry says to be covered wholly. Raises
    NotPossible.
    """

    def __init__(self, part: Part, side: int) -> None:
        dims = len(part.domain.lo)
        shape = tuple(min(side, max(box.shape[d] for box in part.boxes)) for d in range(dims))
        grids = [
            tuple(-(-n // s) for n, s in zip(box.shape, shape, strict=True)) for box in part.boxes
        ]
        cells = math.prod(shape) * sum(map(math.prod, grids))
        if cells > MAX_CELLS_PER_CELL * part.cells:
            raise NotPossible(
                f"unit {side}: level {part.number} has boxes so much smaller that its blocks would "
                f"have {cells / part.cells:.0f} times its cells; allowed are "
                f"{MAX_CELLS_PER_CELL} times"
            )
        self._every = Units(part.boxes, shape, tuple(np.ones(grid[::-1], bool) for grid in grids))
        # By cell of all blocks: covered, or past the box.
        self._outside = ~self._every.stack([~mask for mask in covered_masks(part)])
        self._covered = np.flatnonzero(self._outside.all(axis=self._inside()))

    def _inside(self) -> tuple[int, ...]:
        """The axes of a stack that count cells of a block."""
        return tuple(range(1, len(self._every.shape) + 1))

    def held(self, part: Part) -> tuple[Units, bytes]:
        """The blocks with a held cell, and what tells a reader which of the covered ones are among
        them.
        """
        is_held = self._every.stack(part.held).any(axis=self._inside())[self._covered]
        return self._units(is_held), flags.pack_flags(is_held)

    def held_again(self, told: bytes) -> Units:
        """The same for a reader, who does not know what is held."""
        return self._units(flags.unpack_flags(told, len(self._covered)))

    def outside(self, units: Units) -> np.ndarray:
        """Of each cell of the stack of `units`, whether it is covered or past its box."""
        return self._outside[np.concatenate([there.ravel() for there in units.is_there])]

    def _units(self, is_held: np.ndarray) -> Units:
        every = self._every
        there = np.ones(every.count, bool)
        there[self._covered] = is_held
        ends = np.cumsum([t.size for t in every.is_there])[:-1]
        pieces = zip(np.split(there, ends), every.is_there, strict=True)
        return Units(every.boxes, every.shape, tuple(piece.reshape(t.shape) for piece, t in pieces))
