# SPDX-License-Identifier: BSD-3-Clause
"""Decoded values of one field as a plotfile, so that neve.plot draws them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from neve import _core
from neve._hierarchy import LevelInfo
from neve.plotfile import Plotfile

from .hierarchy import Hierarchy
from .subject import Subject
from .way import Levels


def plotfile_of(hierarchy: Hierarchy, subject: Subject, values: Levels | None = None) -> Plotfile:
    """`values` as Measured has them; None: the original ones."""
    return Plotfile(DecodedSource(hierarchy, subject, values), Path(hierarchy.name))


class DecodedSource:
    """A neve._hierarchy.Source whose one component is the subject's field."""

    kind = "decoded values"

    def __init__(self, hierarchy: Hierarchy, subject: Subject, values: Levels | None):
        self.dims, self.dtype = hierarchy.dims, hierarchy.dtype
        self.components = (subject.field,)
        self.time = hierarchy.time
        self.prob_lo = hierarchy.prob_lo or (0.0,) * hierarchy.dims
        self.levels = tuple(
            LevelInfo(level.domain, level.boxes, level.dx, level.ref_ratio)
            for level in hierarchy.levels
        )
        self._subject = subject
        self._values = values

    def read_box(self, level: int, box: int, component: int, average: bool) -> np.ndarray:
        if self._values is None:
            return self._subject.parts[level].values[box]
        values = self._values[level][box]
        missing = self.left_out(level, box, component)
        if not average or missing is None:
            return values
        values = values.copy(order="F")
        info, finer = self.levels[level], self.levels[level + 1]
        own = info.boxes[box]
        for place in finer.meeting(own.refine(info.ref_ratio)).tolist():
            inside = finer.boxes[place].coarsen_inside(info.ref_ratio)
            shared = None if inside is None else inside.intersect(own)
            if shared is None:
                continue
            mean = np.empty(shared.shape, self.dtype, order="F")
            of_finer = self.read_box(level + 1, place, component, True)
            _core.average_down(
                self.dtype.itemsize == 8, shared, info.ref_ratio, of_finer, finer.boxes[place], mean
            )
            where = shared.within(own)
            values[where] = np.where(missing[where], mean, values[where])
        return values

    def read_boxes(
        self, level: int, boxes: np.ndarray, component: int, average: bool
    ) -> Iterator[tuple[int, np.ndarray]]:
        for box in boxes.tolist():
            yield box, self.read_box(level, box, component, average)

    def left_out(self, level: int, box: int, component: int) -> np.ndarray | None:
        if self._values is None:
            return None
        held = self._subject.parts[level].held[box]
        return None if held.all() else ~held

    def bound_abs(self, level: int, component: int) -> float | None:
        return self._subject.parts[level].bound_abs

    def bound_asked(self, level: int, component: int) -> str | None:
        return f"rel={self._subject.rel:g}"

    def ghosts(self, level: int, component: int) -> tuple[int, ...]:
        return (0,) * self.dims

    def frames(self, level: int, component: int) -> list[list[int]]:
        return [[box] for box in range(len(self.levels[level].boxes))]

    def close(self) -> None:
        pass
