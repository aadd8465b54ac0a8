# SPDX-License-Identifier: BSD-3-Clause
"""A level for programs that know arrays only: arrays in C order, each to be compressed alone.

boxes    each box an array; a level whose boxes leave no hole in their bounding box is one array.
         Cells that are not held are compressed with the others, and filled (holes.py): that takes
         10 to 17 % less of the covered Nyx and WarpX levels than their own values
cluster  AMRIC's unit blocks of the level's largest fitting side, stacked to the most compact box;
         the last one repeats in the gap
1d       1024 held values of the level's run at a time, as AMReX's HDF5 output
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from neve.plotfile import Box

from .amrex import CHUNK
from .holes import filled
from .runs import boxes_of_run, held_again, run_of, told_of_held
from .subject import Part
from .units import Truncation, Units, fitting_side

# cut(part) gives the arrays and what a reader has to be told beside them; shapes(part, told) those
# of the arrays; joined(part, told, arrays) the boxes' arrays.
Cut = Callable[[Part], tuple[list[np.ndarray], bytes]]
Shapes = Callable[[Part, bytes], list[tuple[int, ...]]]
Joined = Callable[[Part, bytes, Sequence[np.ndarray]], list[np.ndarray]]


def hull_of(part: Part) -> Box | None:
    """The boxes' bounding box if they fill it."""
    dims = len(part.domain.lo)
    hull = Box(
        tuple(min(box.lo[d] for box in part.boxes) for d in range(dims)),
        tuple(max(box.hi[d] for box in part.boxes) for d in range(dims)),
    )
    return hull if hull.cells == part.cells else None


def _filled_boxes(part: Part) -> list[np.ndarray]:
    return [filled(values, held) for values, held in zip(part.values, part.held, strict=True)]


def cut_boxes(part: Part) -> tuple[list[np.ndarray], bytes]:
    hull = hull_of(part)
    if hull is None:
        return [np.ascontiguousarray(values.T) for values in _filled_boxes(part)], b""
    whole = np.empty(hull.shape, part.values[0].dtype, order="F")
    held = np.empty(hull.shape, bool, order="F")
    for box, values, mask in zip(part.boxes, part.values, part.held, strict=True):
        whole[box.within(hull)] = values
        held[box.within(hull)] = mask
    return [np.ascontiguousarray(filled(whole, held).T)], b""


def shapes_of_boxes(part: Part, told: bytes) -> list[tuple[int, ...]]:
    hull = hull_of(part)
    return [box.shape[::-1] for box in (part.boxes if hull is None else [hull])]


def join_boxes(part: Part, told: bytes, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    hull = hull_of(part)
    if hull is None:
        return [array.T for array in arrays]
    return [arrays[0].T[box.within(hull)] for box in part.boxes]


def cluster_grid(count: int, dims: int) -> list[int]:
    """As many blocks along each axis, slowest first, as bring a cube of `count` nearest."""
    along = max(1, round(count ** (1 / dims)))
    return [math.ceil(count / along ** (dims - 1)), *[along] * (dims - 1)]


def _truncation(part: Part) -> Truncation:
    return Truncation(part, fitting_side(part))


def cut_cluster(part: Part) -> tuple[list[np.ndarray], bytes]:
    units, told = _truncation(part).held(part)
    stack = units.stack(_filled_boxes(part))
    grid = cluster_grid(units.count, len(units.shape))
    gap = np.repeat(stack[-1:], math.prod(grid) - units.count, axis=0)
    dims = len(grid)
    spread = np.concatenate([stack, gap]).reshape(*grid, *units.shape[::-1])
    order = [axis for d in range(dims) for axis in (d, dims + d)]
    shape = _cluster_shape(units)
    return [np.ascontiguousarray(spread.transpose(order)).reshape(shape)], told


def _cluster_shape(units: Units) -> tuple[int, ...]:
    grid = cluster_grid(units.count, len(units.shape))
    return tuple(n * side for n, side in zip(grid, units.shape[::-1], strict=True))


def shapes_of_cluster(part: Part, told: bytes) -> list[tuple[int, ...]]:
    return [_cluster_shape(_truncation(part).held_again(told))]


def join_cluster(part: Part, told: bytes, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    units = _truncation(part).held_again(told)
    sides = units.shape[::-1]
    dims = len(sides)
    split = arrays[0].reshape(
        [n for size, side in zip(arrays[0].shape, sides, strict=True) for n in (size // side, side)]
    )
    blocks = split.transpose([*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)])
    return units.unstack(blocks.reshape(-1, *sides)[: units.count])


def cut_1d(part: Part) -> tuple[list[np.ndarray], bytes]:
    run = run_of(part.values, part.held)
    return [run[at : at + CHUNK] for at in range(0, len(run), CHUNK)], told_of_held(part)


def shapes_of_1d(part: Part, told: bytes) -> list[tuple[int, ...]]:
    cells = sum(int(held.sum()) for held in held_again(part, told))
    return [(min(CHUNK, cells - at),) for at in range(0, cells, CHUNK)]


def join_1d(part: Part, told: bytes, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    return boxes_of_run(np.concatenate(arrays), held_again(part, told))


PIECES: dict[str, tuple[Cut, Shapes, Joined]] = {
    "boxes": (cut_boxes, shapes_of_boxes, join_boxes),
    "cluster": (cut_cluster, shapes_of_cluster, join_cluster),
    "1d": (cut_1d, shapes_of_1d, join_1d),
}
