# SPDX-License-Identifier: BSD-3-Clause
"""One field at one bound, with the cells that every way has to store: the same for all of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neve import _core
from neve.plotfile import Box

from .hierarchy import Hierarchy

# What `--cells` may be.
CELLS = {
    "uncovered": "those that no finer level covers, as AMRIC",
    "all": "every cell, as AMReX",
    "restorable": "without covered ones that an average of finer ones restores, as --covered auto",
}
DEFAULT_CELLS = "uncovered"
# A level keeps all its covered cells where more than one in so many is not restored
# (docs/guarantees.md; src/parallel/write/coverage_check.hpp).
MAX_MISSED_DIVISOR = 8


@dataclass(frozen=True)
class Part:
    """One level. All lists are by box; arrays are indexed [x, y, z], x fastest in memory."""

    number: int
    domain: Box
    boxes: tuple[Box, ...]
    ref_ratio: tuple[int, ...]
    values: tuple[np.ndarray, ...]
    covered: tuple[tuple[Box, ...], ...]  # disjoint rectangles of cells, in the level's index space
    held: tuple[np.ndarray, ...]  # bool: the cells to store, all but some covered ones
    lowest: float  # of the finite values of all cells, covered ones too
    highest: float
    bound_abs: float  # 0: every bit

    @property
    def cells(self) -> int:
        return sum(box.cells for box in self.boxes)

    @property
    def held_cells(self) -> int:
        return sum(int(held.sum()) for held in self.held)

    @property
    def raw_bytes(self) -> int:
        """Of all cells, as an uncompressed plotfile holds them."""
        return sum(values.nbytes for values in self.values)


@dataclass(frozen=True)
class Subject:
    field: str
    rel: float
    cells: str  # one of CELLS
    dtype: np.dtype
    parts: tuple[Part, ...]  # by level

    @property
    def dims(self) -> int:
        return len(self.parts[0].domain.lo)


def is_special(values: np.ndarray) -> np.ndarray:
    """NaN, infinities and -0, which have to come back bit for bit."""
    return ~np.isfinite(values) | ((values == 0) & np.signbit(values))


def range_of(lowest: float, highest: float) -> float:
    """The largest double where the difference is more."""
    return min(highest - lowest, sys.float_info.max)


def bound_of(rel: float, lowest: float, highest: float) -> float:
    return rel * range_of(lowest, highest)


def subject(hierarchy: Hierarchy, field: str, rel: float, cells: str = DEFAULT_CELLS) -> Subject:
    parts = []
    for number, level in enumerate(hierarchy.levels):
        lowest, highest = level.ends_of(field)
        bound_abs = bound_of(rel, lowest, highest)
        covering = _Covering(hierarchy, number)
        covered = tuple(tuple(rect for _, rect in covering.shared_with(box)) for box in level.boxes)
        if cells == "all":
            covered = ((),) * len(level.boxes)
        held = [np.ones(box.shape, bool, order="F") for box in level.boxes]
        for box, rects, mask in zip(level.boxes, covered, held, strict=True):
            for rect in rects:
                mask[rect.within(box)] = False
        if cells == "restorable":
            _keep_what_differs(hierarchy, number, field, covering, bound_abs, held)
        parts.append(
            Part(
                number,
                level.domain,
                level.boxes,
                level.ref_ratio,
                tuple(level.values[field]),
                covered,
                tuple(held),
                lowest,
                highest,
                bound_abs,
            )
        )
    return Subject(field, rel, cells, hierarchy.dtype, tuple(parts))


class _Covering:
    """The cells of a level of which a box of the next finer one holds every part."""

    def __init__(self, hierarchy: Hierarchy, number: int) -> None:
        self.coarse: list[tuple[int, Box]] = []  # number of the finer box, its cells on this level
        if number + 1 < len(hierarchy.levels):
            ratio = hierarchy.levels[number].ref_ratio
            for finer, box in enumerate(hierarchy.levels[number + 1].boxes):
                inside = box.coarsen_inside(ratio)
                if inside is not None:
                    self.coarse.append((finer, inside))
        dims = hierarchy.dims
        both = np.array([box for _, box in self.coarse], np.int64).reshape(-1, 2, dims)
        self._lo, self._hi = both[:, 0], both[:, 1]

    def shared_with(self, box: Box) -> list[tuple[int, Box]]:
        """Rectangles of `box`, each with the number of the finer box that covers it."""
        meets = ((self._lo <= box.hi) & (self._hi >= box.lo)).all(axis=1)
        found = []
        for entry in np.flatnonzero(meets):
            finer, coarse = self.coarse[entry]
            rect = coarse.intersect(box)
            assert rect is not None
            found.append((finer, rect))
        return found


def _keep_what_differs(
    hierarchy: Hierarchy,
    number: int,
    field: str,
    covering: _Covering,
    bound_abs: float,
    held: Sequence[np.ndarray],
) -> None:
    """Marks as held the covered cells that the average of the finer cells does not restore; all of
    them if these are more than one in MAX_MISSED_DIVISOR.

    `--covered auto` averages what a reader gets of the finer level. Here it is the original values,
    covered or not, so that all ways hold the same cells.
    """
    level = hierarchy.levels[number]
    covered_cells = missed_cells = 0
    for box, values, mask in zip(level.boxes, level.values[field], held, strict=True):
        for finer_number, shared in covering.shared_with(box):
            finer = hierarchy.levels[number + 1]
            mean = np.empty(shared.shape, hierarchy.dtype, order="F")
            _core.average_down(
                hierarchy.dtype.itemsize == 8,
                shared,
                level.ref_ratio,
                finer.values[field][finer_number],
                finer.boxes[finer_number],
                mean,
            )
            where = shared.within(box)
            mask[where] = ~_serves(mean, values[where], bound_abs)
            covered_cells += shared.cells
            missed_cells += int(mask[where].sum())
    if missed_cells > covered_cells // MAX_MISSED_DIVISOR:
        for mask in held:
            mask[...] = True


def _serves(mean: np.ndarray, values: np.ndarray, bound_abs: float) -> np.ndarray:
    """Where a reader may be given the average: within the bound, special values bit for bit."""
    bits = np.dtype(f"u{values.dtype.itemsize}")
    same = mean.view(bits) == np.asfortranarray(values).view(bits)
    if bound_abs == 0:
        return same
    with np.errstate(all="ignore"):
        error = np.abs(mean.astype(np.float64) - values.astype(np.float64))
    return same | (~is_special(values) & (error <= bound_abs))
