# SPDX-License-Identifier: BSD-3-Clause
"""Fields on a regular grid: any part of one level, or of all levels at the resolution of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import _core
from ._array import empty_array
from ._hierarchy import Box, Source


def level_region(source: Source, level: int, component: int, region: Box) -> np.ndarray:
    """One level's values of the cells of `region`, in Fortran order; NaN where it has no box."""
    out = np.full(region.shape, np.nan, source.dtype, order="F")
    _copy_boxes(source, level, component, region, source.levels[level].meeting(region), True, out)
    return out


def uncovered_region(source: Source, level: int, component: int, region: Box) -> np.ndarray:
    """As level_region, and NaN where a box of the next finer level lies over a cell. Boxes that are
    covered completely are not read.
    """
    hidden = covered(source, level, region)
    boxes = source.levels[level].boxes
    wanted = []
    for number in source.levels[level].meeting(region).tolist():
        shared = boxes[number].intersect(region)
        assert shared is not None
        if not hidden[shared.within(region)].all():
            wanted.append(number)
    out = np.full(region.shape, np.nan, source.dtype, order="F")
    numbers = np.array(wanted, np.int64)
    _copy_boxes(source, level, component, region, numbers, False, out)
    out[hidden] = np.nan
    return out


def averaged_region(source: Source, level: int, component: int, region: Box) -> np.ndarray:
    """As level_region, and the mean of the finer cells where a finer box holds all of them."""
    out = level_region(source, level, component, region)
    _average_finer(source, level, component, region, out)
    return out


def _copy_boxes(
    source: Source,
    level: int,
    component: int,
    region: Box,
    numbers: np.ndarray,
    average: bool,
    out: np.ndarray,
) -> None:
    """The boxes `numbers` of the level, as far as they lie in `region`, whose cells `out` holds."""
    for number, values in source.read_boxes(level, numbers, component, average):
        box = source.levels[level].boxes[number]
        shared = box.intersect(region)
        assert shared is not None
        out[shared.within(region)] = values[shared.within(box)]


def covered(source: Source, level: int, region: Box) -> np.ndarray:
    """The cells of `region` over which a box of the next finer level lies, as booleans."""
    mask = np.zeros(region.shape, bool, order="F")
    if level + 1 == len(source.levels):
        return mask
    ratio = source.levels[level].ref_ratio
    finer = source.levels[level + 1].boxes
    for number in source.levels[level + 1].meeting(region.refine(ratio)):
        shared = finer[number].coarsen(ratio).intersect(region)
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


def composite_bound(source: Source, component: int) -> float | None:
    """The largest absolute error of composite_region's values, which may be of any level: the
    largest bound of all. None where the file does not say all of them.
    """
    bounds = [source.bound_abs(level, component) for level in range(len(source.levels))]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


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
    boxes = source.levels[current].boxes
    parts = {}  # of the region that boxes with something to fill lie over
    for number in source.levels[current].meeting(region.coarsen(ratio)).tolist():
        shared = boxes[number].refine(ratio).intersect(region)
        if shared is not None and not filled[shared.within(region)].all():
            parts[number] = shared
    numbers = np.array([*parts], np.int64)
    for number, all_values in source.read_boxes(current, numbers, component, True):
        shared = parts[number]
        coarse = shared.coarsen(ratio)
        values = all_values[coarse.within(boxes[number])]
        for axis, times in enumerate(ratio):
            values = np.repeat(values, times, axis=axis)
        values = values[shared.within(coarse.refine(ratio))]
        where = shared.within(region)
        empty = ~filled[where]
        out[where][empty] = values[empty]
        filled[where] = True


def _average_finer(
    source: Source, level: int, component: int, region: Box, out: np.ndarray
) -> None:
    """Replaces the cells of `out`, over `region`, that finer boxes hold by the mean of these."""
    if level + 1 == len(source.levels):
        return
    ratio = source.levels[level].ref_ratio
    boxes = source.levels[level + 1].boxes
    parts = {}  # of the region that finer boxes hold
    for number in source.levels[level + 1].meeting(region.refine(ratio)).tolist():
        inside = boxes[number].coarsen_inside(ratio)
        shared = None if inside is None else inside.intersect(region)
        if shared is not None:
            parts[number] = shared
    numbers = np.array([*parts], np.int64)
    for number, values in source.read_boxes(level + 1, numbers, component, True):
        fine, shared = boxes[number], parts[number]
        if level + 2 < len(source.levels):
            values = values.copy(order="F")
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


def domain_region(domain: Box, lo: Sequence[int] | None, hi: Sequence[int] | None) -> Box:
    """The cells from `lo` to `hi`, both included; the domain's own corners where they are None."""
    return Box(
        domain.lo if lo is None else tuple(int(n) for n in lo),
        domain.hi if hi is None else tuple(int(n) for n in hi),
    )
