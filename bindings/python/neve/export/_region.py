# SPDX-License-Identifier: BSD-3-Clause
"""Which cells of a level are asked for, and in which parts they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._errors import Error
from .._hierarchy import Box
from ..plotfile import AXIS_NAMES, Level, Plotfile

PART_BYTES = 1 << 27  # of one field are held in memory at a time
TOLERANCE = 1e-6  # of a cell: coordinates this near to a cell's end are its end


def region_of(
    file: Plotfile,
    level: Level,
    lo: Sequence[float] | None,
    hi: Sequence[float] | None,
    in_cells: bool,
) -> Box:
    """The cells from corner `lo` to corner `hi`: both included where they are cells themselves, all
    that have a part between them where they are coordinates.
    """
    domain = level.domain
    for name, corner in (("lo", lo), ("hi", hi)):
        if corner is not None and len(corner) != file.dims:
            axes = ",".join(AXIS_NAMES[: file.dims])
            raise Error(f"{name} has {len(corner)} numbers; {file.dims} are allowed: {axes}")
        if corner is not None and not all(np.isfinite(corner)):
            raise Error(f"{name} {_listed(corner)}: allowed are finite numbers")
    if in_cells:
        return _within(domain, _whole("lo", lo, domain.lo), _whole("hi", hi, domain.hi), level)
    first, last = list(domain.lo), list(domain.hi)
    for d in range(file.dims):
        begin, dx = file.prob_lo[d], level.dx[d]
        end = begin + domain.shape[d] * dx
        for name, corner in (("lo", lo), ("hi", hi)):
            if (
                corner is not None
                and not begin - TOLERANCE * dx <= corner[d] <= end + TOLERANCE * dx
            ):
                raise Error(
                    f"{name} has {AXIS_NAMES[d]} = {corner[d]:g}; the domain reaches from "
                    f"{begin:g} to {end:g}"
                )
        if lo is not None:
            first[d] = domain.lo[d] + int(np.floor((lo[d] - begin) / dx + TOLERANCE))
        if hi is not None:
            last[d] = domain.lo[d] + int(np.ceil((hi[d] - begin) / dx - TOLERANCE)) - 1
        if lo is not None and hi is not None and lo[d] == hi[d]:
            last[d] = first[d] = min(first[d], domain.hi[d])  # a plane: the cells it goes through
    return _within(domain, tuple(first), tuple(last), level)


def _whole(name: str, corner: Sequence[float] | None, whole: tuple[int, ...]) -> tuple[int, ...]:
    if corner is None:
        return whole
    if any(n != int(n) for n in corner):
        raise Error(f"{name} {_listed(corner)}: cells are counted in whole numbers")
    return tuple(int(n) for n in corner)


def _within(domain: Box, first: tuple[int, ...], last: tuple[int, ...], level: Level) -> Box:
    region = Box(first, last)
    if region.intersect(domain) != region:
        raise Error(
            f"cells {_listed(first)} to {_listed(last)}; level {level.index} has "
            f"{_listed(domain.lo)} to {_listed(domain.hi)}, lowest first"
        )
    return region


def _listed(numbers: Sequence[float]) -> str:
    return ",".join(f"{n:g}" for n in numbers)


def parts(region: Box, itemsize: int, axis: int) -> Iterator[Box]:
    """Slabs of the region across `axis`, in its order."""
    layer = region.cells // region.shape[axis] * itemsize
    thick = max(1, PART_BYTES // layer)
    for begin in range(region.lo[axis], region.hi[axis] + 1, thick):
        lo, hi = list(region.lo), list(region.hi)
        lo[axis], hi[axis] = begin, min(begin + thick - 1, region.hi[axis])
        yield Box(tuple(lo), tuple(hi))
