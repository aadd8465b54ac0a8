# SPDX-License-Identifier: BSD-3-Clause
"""Boxes, levels, and what a reader of one format of plotfiles offers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

# Frames that a source keeps open: a compressed frame is a small thing, and boxes are often asked
# for in file order.
HELD_FRAMES = 16


class Box(NamedTuple):
    """A rectangle of cells of a level's index space; both corners belong to it."""

    lo: tuple[int, ...]
    hi: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(hi - lo + 1 for lo, hi in zip(self.lo, self.hi, strict=True))

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def intersect(self, other: Box) -> Box | None:
        lo = tuple(map(max, self.lo, other.lo))
        hi = tuple(map(min, self.hi, other.hi))
        return Box(lo, hi) if all(a <= b for a, b in zip(lo, hi, strict=True)) else None

    def coarsen_inside(self, ratio: Sequence[int]) -> Box | None:
        """The coarse cells of which this box holds every fine cell."""
        lo = tuple(-(-a // r) for a, r in zip(self.lo, ratio, strict=True))
        hi = tuple((a + 1) // r - 1 for a, r in zip(self.hi, ratio, strict=True))
        return Box(lo, hi) if all(a <= b for a, b in zip(lo, hi, strict=True)) else None

    def coarsen(self, ratio: Sequence[int]) -> Box:
        """The coarse cells of which this box holds a fine cell."""
        return Box(
            tuple(n // r for n, r in zip(self.lo, ratio, strict=True)),
            tuple(n // r for n, r in zip(self.hi, ratio, strict=True)),
        )

    def refine(self, ratio: Sequence[int]) -> Box:
        """The fine cells in the cells of this box."""
        return Box(
            tuple(n * r for n, r in zip(self.lo, ratio, strict=True)),
            tuple((n + 1) * r - 1 for n, r in zip(self.hi, ratio, strict=True)),
        )

    def within(self, outer: Box) -> tuple[slice, ...]:
        """The index that picks this box out of an array over `outer`."""
        return tuple(
            slice(lo - base, hi - base + 1)
            for lo, hi, base in zip(self.lo, self.hi, outer.lo, strict=True)
        )


@dataclass(frozen=True)
class LevelInfo:
    domain: Box
    boxes: tuple[Box, ...]
    dx: tuple[float, ...]
    ref_ratio: tuple[int, ...]  # to the next finer level; ones on the finest

    def boxes_meeting(self, region: Box) -> list[int]:
        """The numbers of the boxes that share a cell with `region`."""
        if not self.boxes:
            return []
        meets = (self._corners[:, 0] <= region.hi) & (self._corners[:, 1] >= region.lo)
        found: list[int] = np.flatnonzero(meets.all(axis=1)).tolist()
        return found

    @functools.cached_property
    def _corners(self) -> npt.NDArray[np.int64]:
        """[box, lo or hi, direction]"""
        return np.array(self.boxes, np.int64)


class Source(Protocol):
    """A plotfile of one format. Not thread-safe."""

    kind: str
    dims: int
    dtype: np.dtype
    components: tuple[str, ...]
    time: float
    prob_lo: tuple[float, ...]
    levels: tuple[LevelInfo, ...]

    def read_box(self, level: int, box: int, component: int, average: bool) -> np.ndarray:
        """Valid cells, Fortran order. Left-out covered cells are the average of the finer ones if
        `average`, else whatever the file gives an ordinary reader there."""

    def left_out(self, level: int, box: int, component: int) -> np.ndarray | None:
        """Cells the file does not hold, or None when it holds them all."""

    def bound_abs(self, level: int, component: int) -> float | None:
        """The absolute bound the level was written with; None when the file records none."""

    def ghosts(self, level: int, component: int) -> tuple[int, ...]:
        """Layers of ghost cells that the file holds around every box of the field."""

    def frames(self, level: int, component: int) -> list[list[int]]:
        """The numbers of the level's boxes, those that are decoded together in one list."""

    def close(self) -> None: ...
