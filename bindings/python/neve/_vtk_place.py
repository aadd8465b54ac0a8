# SPDX-License-Identifier: BSD-3-Clause
"""Where VTK's AMR has a plotfile's boxes: one origin, cells counted from the domain's corner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ._hierarchy import LevelInfo, Source

SPACE = 3  # VTK's dimensions
TIME = "TimeValue"  # of the field data in which ParaView looks for the time


def filled_levels(source: Source) -> int:
    """Levels before the first without a box, which a run may announce and VTK does not take."""
    counts = [len(level.boxes) for level in source.levels]
    return counts.index(0) if 0 in counts else len(counts)


def in_space(values: Sequence[float], missing: float) -> npt.NDArray[np.float64]:
    """x, y and z of a vector; `missing` for directions that a file lacks."""
    return np.array([*values, *[missing] * (SPACE - len(values))], np.float64)


def vtk_corners(
    info: LevelInfo,
    order: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    missing_cells: int,
) -> npt.NDArray[np.int32]:
    """Low and high index of the boxes `order`, a row each: x, x, y, y, z, z. `first` is the corner
    of the domain, the place of VTK's origin. Directions that a file lacks have `missing_cells`.
    """
    corners = np.zeros((len(order), 2 * SPACE), np.int64)
    corners[:, 1::2] = missing_cells - 1
    boxes = np.array([info.boxes[n] for n in order], np.int64).reshape(len(order), 2, len(first))
    dims = len(first)
    corners[:, 0 : 2 * dims : 2] = boxes[:, 0] - first
    corners[:, 1 : 2 * dims : 2] = boxes[:, 1] - first
    return corners.astype(np.int32)
