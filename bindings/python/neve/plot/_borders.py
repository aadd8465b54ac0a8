# SPDX-License-Identifier: BSD-3-Clause
"""Errors by the distance from where boxes and levels end, against those in their interior.

Distances are counted in cells of the level: 0 are the cells at the border. A level ends where a
finer one begins or where there are only coarser cells, not at the end of the domain. Cells that a
finer level covers do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._hierarchy import Box
from ..plotfile import Plotfile

INTERIOR = 6  # cells at this distance and beyond


@dataclass(frozen=True)
class Curve:
    """By distance, the last for the interior; NaN where no cell has that distance."""

    rms: np.ndarray
    worst: np.ndarray
    cells: np.ndarray


class _Sums:
    def __init__(self) -> None:
        self.squares = np.zeros(INTERIOR + 1)
        self.worst = np.zeros(INTERIOR + 1)
        self.cells = np.zeros(INTERIOR + 1, np.int64)

    def add(self, distance: np.ndarray, error: np.ndarray) -> None:
        self.squares += np.bincount(distance, error * error, INTERIOR + 1)
        self.cells += np.bincount(distance, minlength=INTERIOR + 1)
        np.maximum.at(self.worst, distance, np.abs(error))

    def curve(self) -> Curve:
        with np.errstate(invalid="ignore", divide="ignore"):
            rms = np.sqrt(self.squares / self.cells)
        return Curve(rms, np.where(self.cells > 0, self.worst, np.nan), self.cells)


class BorderErrors:
    """Of a field of a file with levels 0 to `last`. Errors of level i are divided by `units[i]`."""

    def __init__(self, file: Plotfile, last: int, units: tuple[float, ...]):
        self._file = file
        self._levels = Levels(file, last)
        self._units = units
        self._by_box, self._by_level = _Sums(), _Sums()

    def add(self, level: int, number: int, error: np.ndarray) -> None:
        """The errors of all cells of a box."""
        box = self._file[level].boxes[number]
        visible, from_level = self._levels.distance(level, box)
        counts = visible & np.isfinite(error)
        shown = error[counts] / self._units[level]
        self._by_box.add(_box_distance(box)[counts], shown)
        self._by_level.add(from_level[counts], shown)

    def curves(self) -> tuple[Curve, Curve]:
        """From the borders of boxes, and from those of levels."""
        return self._by_box.curve(), self._by_level.curve()


def _box_distance(box: Box) -> np.ndarray:
    found = np.full(box.shape, INTERIOR)
    for axis, count in enumerate(box.shape):
        along = np.minimum(np.arange(count), np.arange(count)[::-1])
        shape = [count if a == axis else 1 for a in range(len(box.shape))]
        found = np.minimum(found, along.reshape(shape))
    return found


class Levels:
    """Where each of levels 0 to `last` is the finest."""

    def __init__(self, file: Plotfile, last: int):
        self._file = file
        self._last = last
        self._corners = [np.array(level.boxes) for level in file.levels[: last + 1]]

    def distance(self, level: int, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Which cells of the box no finer level covers, and how far each is from its level's
        end.
        """
        around = Box(tuple(n - INTERIOR for n in box.lo), tuple(n + INTERIOR for n in box.hi))
        inside = around.intersect(self._file[level].domain)
        assert inside is not None
        left = np.ones(around.shape, bool)  # beyond the domain nothing ends
        left[inside.within(around)] = self._visible(level, inside)
        visible = left
        distance = np.full(around.shape, INTERIOR)
        for far in range(INTERIOR):
            if left.all():
                break
            inner = _eroded(left)
            distance[left & ~inner] = far
            left = inner
        return visible[box.within(around)], distance[box.within(around)]

    def _visible(self, level: int, region: Box) -> np.ndarray:
        mask = np.zeros(region.shape, bool)
        for box in self._meeting(level, region):
            shared = box.intersect(region)
            assert shared is not None
            mask[shared.within(region)] = True
        if level < self._last:
            ratio = self._file[level].ref_ratio
            for box in self._meeting(level + 1, region.refine(ratio)):
                shared = box.coarsen(ratio).intersect(region)
                assert shared is not None
                mask[shared.within(region)] = False
        return mask

    def _meeting(self, level: int, region: Box) -> Iterator[Box]:
        """The level's boxes that share a cell with the region."""
        corners = self._corners[level]  # [box, lowest or highest, direction]
        meets = ((corners[:, 0] <= region.hi) & (corners[:, 1] >= region.lo)).all(axis=1)
        yield from (self._file[level].boxes[number] for number in np.flatnonzero(meets))


def _eroded(mask: np.ndarray) -> np.ndarray:
    """Cells all of whose neighbours are there, those at corners too; true beyond the array."""
    found = mask.copy()
    for axis in range(mask.ndim):
        before = found.copy()
        low = [slice(None)] * mask.ndim
        high = [slice(None)] * mask.ndim
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        found[tuple(low)] &= before[tuple(high)]
        found[tuple(high)] &= before[tuple(low)]
    return found
