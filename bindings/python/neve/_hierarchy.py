# SPDX-License-Identifier: BSD-3-Clause
"""Boxes, levels, and what a reader of one format of plotfiles offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np


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

    @cached_property
    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Low and high corners of all boxes, [box, direction]."""
        both = np.array(self.boxes, np.int64).reshape(-1, 2, len(self.domain.lo))
        return both[:, 0], both[:, 1]

    def meeting(self, region: Box) -> np.ndarray:
        """The numbers of the boxes that share a cell with `region`."""
        lo, hi = self.corners
        return np.flatnonzero(((lo <= region.hi) & (hi >= region.lo)).all(axis=1))


class Source(Protocol):
    """A plotfile of one format. Several threads may read from it, and decode at the same time."""

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

    def read_boxes(
        self, level: int, boxes: np.ndarray, component: int, average: bool
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Number and values, as read_box gives them, of each of `boxes`: those of one frame one
        after the other, in the order of the file, so that a frame is decoded once. The arrays may
        be kept for others, and are not to be written into.
        """

    def left_out(self, level: int, box: int, component: int) -> np.ndarray | None:
        """Cells the file does not hold, or None when it holds them all."""

    def bound_abs(self, level: int, component: int) -> float | None:
        """The absolute bound the level was written with; None when the file records none."""

    def bound_asked(self, level: int, component: int) -> str | None:
        """The bound as it was asked for, "rel=0.001"; None when the file records none."""

    def ghosts(self, level: int, component: int) -> tuple[int, ...]:
        """Layers of ghost cells that the file holds around every box of the field."""

    def frames(self, level: int, component: int) -> list[list[int]]:
        """The numbers of the level's boxes, those that are decoded together in one list."""

    def close(self) -> None: ...
