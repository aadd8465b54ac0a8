# SPDX-License-Identifier: BSD-3-Clause
"""Errors by the distance from where boxes and levels end, against those in their interior.

Distances are counted in cells of the level: 0 are the cells at the border. A level ends where a
finer one begins or where there are only coarser cells, not at the end of the domain. Cells that a
finer level covers do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _grid
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
        self._last = last
        self._units = units
        self._by_box, self._by_level = _Sums(), _Sums()

    def add(self, level: int, number: int, error: np.ndarray) -> None:
        """The errors of all cells of a box."""
        box = self._file[level].boxes[number]
        visible, from_level = _level_distance(self._file, level, self._last, box)
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


def _level_distance(
    file: Plotfile, level: int, last: int, box: Box
) -> tuple[np.ndarray, np.ndarray]:
    """Which cells of the box no finer level covers, and how far each is from its level's end."""
    around = Box(tuple(n - INTERIOR for n in box.lo), tuple(n + INTERIOR for n in box.hi))
    inside = around.intersect(file[level].domain)
    assert inside is not None
    left = np.ones(around.shape, bool)  # beyond the domain nothing ends
    left[inside.within(around)] = _visible(file, level, last, inside)
    distance = np.full(around.shape, INTERIOR)
    visible = left
    for far in range(INTERIOR):
        if left.all():
            break
        inner = _eroded(left)
        distance[left & ~inner] = far
        left = inner
    return visible[box.within(around)], distance[box.within(around)]


def _visible(file: Plotfile, level: int, last: int, region: Box) -> np.ndarray:
    source = file._source
    mask = np.zeros(region.shape, bool)
    for number in _grid.meeting(source, level, region):
        shared = file[level].boxes[number].intersect(region)
        assert shared is not None
        mask[shared.within(region)] = True
    if level < last:
        mask &= ~_grid.covered(source, level, region)
    return mask


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
