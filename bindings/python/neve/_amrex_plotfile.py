# SPDX-License-Identifier: BSD-3-Clause
"""AMReX native plotfile directories, through Neve's C++ reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from . import _core
from ._array import empty_array
from ._hierarchy import Box, LevelInfo


class AmrexSource:
    """See plotfile.Source."""

    def __init__(self, path: Path, follow_external: bool):
        self._source = _core.open_amrex_plotfile(str(path), follow_external)
        description = self._source.hierarchy()
        dims = description["dims"]
        self.kind = self._source.kind
        self.dims: int = dims
        self.dtype = np.dtype(np.float64 if description["is_double"] else np.float32)
        self.components = tuple(description["components"])
        self.time = description["time"]
        self.prob_lo = tuple(description["prob_lo"][:dims])
        self.levels = tuple(
            LevelInfo(
                domain=_box(level["domain"], dims),
                boxes=tuple(_box(box, dims) for box in level["boxes"]),
                dx=tuple(level["dx"][:dims]),
                ref_ratio=tuple(level["ref_ratio"][:dims]),
            )
            for level in description["levels"]
        )

    def read_box(self, level: int, box: int, component: int, average: bool) -> np.ndarray:
        del average  # the files of this format hold every cell
        values = empty_array(self.levels[level].boxes[box].shape, self.dtype, order="F")
        self._source.read_box(level, box, component, values)
        return values

    def read_boxes(
        self, level: int, boxes: np.ndarray, component: int, average: bool
    ) -> Iterator[tuple[int, np.ndarray]]:
        for box in boxes.tolist():
            yield box, self.read_box(level, box, component, average)

    def left_out(self, level: int, box: int, component: int) -> None:
        return None

    def bound_abs(self, level: int, component: int) -> None:
        return None

    def bound_asked(self, level: int, component: int) -> None:
        return None

    def ghosts(self, level: int, component: int) -> tuple[int, ...]:
        return (0,) * self.dims

    def frames(self, level: int, component: int) -> list[list[int]]:
        return [[number] for number in range(len(self.levels[level].boxes))]

    def close(self) -> None:
        """Nothing is held open between reads."""


def _box(corners: tuple[tuple[int, ...], tuple[int, ...]], dims: int) -> Box:
    return Box(tuple(corners[0][:dims]), tuple(corners[1][:dims]))
