# SPDX-License-Identifier: BSD-3-Clause
"""Fields on a regular grid: any part of one level, or of all levels at the resolution of one.

Boxes are read in the order of the frames that hold them, so that no frame is decoded twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from . import _core
from ._array import empty_array
from ._hierarchy import HELD_FRAMES, Box, Source


def level_region(source: Source, level: int, component: int, region: Box) -> np.ndarray:
    """One level's values of the cells of `region`, in Fortran order; NaN where it has no box."""
    out = np.full(region.shape, np.nan, source.dtype, order="F")
    for number in boxes_in(source, level, component, region):
        box = source.levels[level].boxes[number]
        shared = box.intersect(region)
        assert shared is not None
        values = source.read_box(level, number, component, True)
        out[shared.within(region)] = values[shared.within(box)]
    return out


def covered(source: Source, level: int, region: Box) -> np.ndarray:
    """The cells of `region` over which a box of the next finer level lies, as booleans."""
    mask = np.zeros(region.shape, bool, order="F")
    if level + 1 == len(source.levels):
        return mask
    ratio = source.levels[level].ref_ratio
    finer = source.levels[level + 1]
    for number in finer.boxes_meeting(region.refine(ratio)):
        shared = finer.boxes[number].coarsen(ratio).intersect(region)
        assert shared is not None
        mask[shared.within(region)] = True
    return mask


def composite_region(source: Source, level: int, component: int, region: Box) -> np.ndarray:
    """The best there is for each cell of `region`, cells of `level`, in Fortran order.

    The mean of the finer cells where a box of a finer level holds all of them; else the level's
    own value; else that of the coarse cell it lies in; NaN where no level has a box.
    """
    out = np.full(region.shape, np.nan, source.dtype, order="F")
    filled = np.zeros(region.shape, bool, order="F")
    for current in range(level, -1, -1):
        _fill_from(source, current, component, level, region, out, filled)
    _average_finer(source, level, component, region, out)
    return out


def _fill_from(
    source: Source,
    current: int,
    component: int,
    level: int,
    region: Box,
    out: np.ndarray,
    filled: np.ndarray,
) -> None:
    """What is not filled yet, by the boxes of level `current`, which is `level` or coarser."""
    ratio = ratio_between(source, current, level)
    for number in boxes_in(source, current, component, region.coarsen(ratio)):
        box = source.levels[current].boxes[number]
        shared = box.refine(ratio).intersect(region)
        if shared is None:
            continue
        where = shared.within(region)
        empty = ~filled[where]
        if not empty.any():
            continue
        coarse = shared.coarsen(ratio)
        values = source.read_box(current, number, component, True)[coarse.within(box)]
        for axis, times in enumerate(ratio):
            values = np.repeat(values, times, axis=axis)
        values = values[shared.within(coarse.refine(ratio))]
        out[where][empty] = values[empty]
        filled[where] = True


def _average_finer(
    source: Source, level: int, component: int, region: Box, out: np.ndarray
) -> None:
    """Replaces the cells of `out`, over `region`, that finer boxes hold by the mean of these."""
    if level + 1 == len(source.levels):
        return
    ratio = source.levels[level].ref_ratio
    for number in boxes_in(source, level + 1, component, region.refine(ratio)):
        fine = source.levels[level + 1].boxes[number]
        inside = fine.coarsen_inside(ratio)
        shared = None if inside is None else inside.intersect(region)
        if shared is None:
            continue
        values = source.read_box(level + 1, number, component, True)
        _average_finer(source, level + 1, component, fine, values)
        part = empty_array(shared.shape, source.dtype, order="F")
        _core.average_down(source.dtype.itemsize == 8, shared, ratio, values, fine, part)
        out[shared.within(region)] = part


def ratio_between(source: Source, coarse: int, fine: int) -> tuple[int, ...]:
    """Cells of level `fine` along one cell of level `coarse`."""
    ratio = np.ones(source.dims, int)
    for info in source.levels[coarse:fine]:
        ratio = ratio * np.array(info.ref_ratio)
    return tuple(int(r) for r in ratio)


def boxes_in(source: Source, level: int, component: int, region: Box) -> Iterator[int]:
    """The numbers of the boxes that share a cell with `region`, those of one frame together."""
    wanted = source.levels[level].boxes_meeting(region)
    if len(wanted) <= HELD_FRAMES:  # whatever their order, each frame is kept until its last box
        yield from wanted
        return
    chosen = set(wanted)
    for frame in source.frames(level, component):
        yield from (number for number in frame if number in chosen)


def domain_region(domain: Box, lo: Sequence[int] | None, hi: Sequence[int] | None) -> Box:
    """The cells from `lo` to `hi`, both included; the domain's own corners where they are None."""
    return Box(
        domain.lo if lo is None else tuple(int(n) for n in lo),
        domain.hi if hi is None else tuple(int(n) for n in hi),
    )
