# SPDX-License-Identifier: BSD-3-Clause
"""What is seen at the borders between levels where each level is coded with errors of its own
(figure 10 of Wang et al., AMRIC, SC 2023), as numbers.

The error of a cell is counted in units of its level's bound, e = (decoded - original) / bound.
Cells that a finer level covers are not seen and have no part in it, whether they are held or not;
nor have cells whose original or decoded value is not finite, or whose error is beyond all measure.

A border face lies between a coarse cell and the n finer cells beside it, n = the product of the
refinement ratios along the face. An interior face lies between two neighbours in one box.

    band = sqrt( sum_l n_l B_l / sum_l n_l E_l )
        the rms error beside the borders over that elsewhere. Of level l, B_l is the mean of e^2
        over its n_l cells at a border face, and E_l that over all others. Each level's elsewhere
        weighs as its band does: a level whose errors are small does not hide those of another.
    jump = sqrt( mean_f (e_coarse - mean(e_finer))^2 / mean_f (D_coarse + D_finer) / 2 )
        over all border faces f: the rms jump of the error from level to level over that within
        them. D_l is the mean of (e_a - e_b)^2 over the interior faces of level l. Errors that are
        independent in all cells, of variance v in both, give sqrt((1 + 1/n) / 2), below 1: the mean
        of n errors is smaller. An error that is the same in all cells gives 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, product
from typing import Any

import numpy as np

from neve._hierarchy import Box, LevelInfo

from .subject import Subject
from .way import Levels

MOST = 1e100  # bounds; the square of a larger error is no number
CACHED_GEOMETRIES = 2  # that are kept: many ways are measured on one hierarchy
Ends = tuple[float | None, float | None]  # what is compared, and with what


@dataclass(frozen=True)
class Faces:
    """Border faces between a level and the next finer one. Cells are numbered through all boxes of
    their level, x fastest in a box.
    """

    level: int  # the coarse one
    coarse: np.ndarray  # [face]
    finer: np.ndarray  # [face, n]: the n cells beside it


@dataclass(frozen=True)
class Geometry:
    """Of a hierarchy: what its boxes alone say."""

    seen: tuple[np.ndarray, ...]  # by level: the cells that no finer box holds completely
    faces: tuple[Faces, ...]


@dataclass(frozen=True)
class _Mean:
    """Of squares."""

    total: float = 0.0
    count: int = 0

    def __add__(self, other: _Mean) -> _Mean:
        return _Mean(self.total + other.total, self.count + other.count)

    @property
    def value(self) -> float | None:
        return self.total / self.count if self.count else None


def artifact(subject: Subject, values: Levels) -> dict[str, Any]:
    """`values` are decoded, as Measured has them. rms values and the largest are in units of the
    levels' bounds. Where there is no border, or nothing to compare with, a number is None.
    """
    geometry = geometry_of(subject)
    errors = _errors(subject, values, geometry.seen)
    jumps = [_jumps(errors, faces) for faces in geometry.faces]
    sizes = np.abs(np.concatenate([j[np.isfinite(j)] for j in jumps] or [np.empty(0)]))
    marks = _marks(errors, geometry.faces, jumps)
    in_band = [error[mark] for error, mark in zip(errors, marks, strict=True)]
    band, elsewhere = _band(errors, marks)
    across, within = _jump(subject, errors, geometry.faces, jumps)
    return {
        "border_faces": int(sizes.size),
        "band_cells": sum(found.size for found in in_band),
        "band": _ratio(band, elsewhere),
        "jump": _ratio(across, within),
        "band_rms": band,
        "elsewhere_rms": elsewhere,
        "jump_rms": across,
        "interior_rms": within,
        "largest_in_band": _largest(np.concatenate(in_band)),
        "largest_jump": _largest(sizes),
    }


def _ratio(over: float | None, under: float | None) -> float | None:
    if over is None or under is None:
        return None
    if over == 0:
        return 0.0
    return over / under if under > 0 else None


def _largest(values: np.ndarray) -> float | None:
    return float(np.abs(values).max()) if values.size else None


# --- geometry --------------------------------------------------------------------------------


def geometry_of(subject: Subject) -> Geometry:
    return _geometry(tuple((part.domain, part.boxes, part.ref_ratio) for part in subject.parts))


@lru_cache(CACHED_GEOMETRIES)
def _geometry(parts: tuple[tuple[Box, tuple[Box, ...], tuple[int, ...]], ...]) -> Geometry:
    levels = [LevelInfo(domain, boxes, (), ratio) for domain, boxes, ratio in parts]
    seen = tuple(
        _seen(level, levels[number + 1].boxes if number + 1 < len(levels) else ())
        for number, level in enumerate(levels)
    )
    faces = [
        found
        for number, (coarse, finer) in enumerate(zip(levels, levels[1:], strict=False))
        for found in _border_faces(number, coarse, seen[number], finer)
    ]
    return Geometry(seen, tuple(faces))


def _first_cells(level: LevelInfo) -> list[int]:
    """The number of each box's first cell, and of all cells."""
    return [0, *np.cumsum([box.cells for box in level.boxes]).tolist()]


def _numbers(first: int, box: Box, part: Box) -> np.ndarray:
    """Of the cells of `part` in `box`, whose first cell is number `first`: [x, y, z]."""
    found = np.array(first, np.int64)
    stride = 1
    for axis, n in enumerate(box.shape):
        along = (np.arange(part.lo[axis], part.hi[axis] + 1) - box.lo[axis]) * stride
        found = found[..., np.newaxis] + along
        stride *= n
    return found


def _meeting(level: LevelInfo, region: Box) -> Iterator[tuple[int, Box]]:
    """The boxes of a level that share cells with `region`, and those cells."""
    for place in level.meeting(region).tolist():
        shared = level.boxes[place].intersect(region)
        assert shared is not None
        yield place, shared


def _seen(level: LevelInfo, finer: Sequence[Box]) -> np.ndarray:
    first = _first_cells(level)
    seen = np.ones(first[-1], bool)
    for inside in (box.coarsen_inside(level.ref_ratio) for box in finer):
        for place, shared in _meeting(level, inside) if inside is not None else ():
            seen[_numbers(first[place], level.boxes[place], shared)] = False
    return seen


def _border_faces(
    number: int, coarse: LevelInfo, seen: np.ndarray, finer: LevelInfo
) -> Iterator[Faces]:
    """Those of each axis together."""
    first, first_finer = _first_cells(coarse), _first_cells(finer)
    for axis in range(len(coarse.domain.lo)):
        beside, within = [], []
        for place, is_high in product(range(len(finer.boxes)), (False, True)):
            box = finer.boxes[place]
            inside = box.coarsen_inside(coarse.ref_ratio)
            if inside is None:
                continue
            region, layer = _layers(inside, coarse.ref_ratio, axis, is_high)
            cells = np.full(region.shape, -1, np.int64)
            for at, shared in _meeting(coarse, region):
                found = _numbers(first[at], coarse.boxes[at], shared)
                cells[shared.within(region)] = np.where(seen[found], found, -1)
            is_face = cells >= 0
            if is_face.any():
                beside.append(cells[is_face])
                blocks = _blocks(_numbers(first_finer[place], box, layer), region.shape)
                within.append(blocks[is_face])
        if beside:
            yield Faces(number, np.concatenate(beside), np.concatenate(within))


def _layers(inside: Box, ratio: Sequence[int], axis: int, is_high: bool) -> tuple[Box, Box]:
    """Of a finer box whose complete coarse cells are `inside`: the coarse cells beyond one side,
    and its own cells within.
    """
    own = inside.refine(ratio)
    return (
        _with(inside, axis, inside.hi[axis] + 1 if is_high else inside.lo[axis] - 1),
        _with(own, axis, own.hi[axis] if is_high else own.lo[axis]),
    )


def _with(box: Box, axis: int, index: int) -> Box:
    lo, hi = list(box.lo), list(box.hi)
    lo[axis] = hi[axis] = index
    return Box(tuple(lo), tuple(hi))


def _blocks(cells: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Cut into `shape` blocks: [*shape, cells of a block]."""
    sides = [n // count for n, count in zip(cells.shape, shape, strict=True)]
    split = cells.reshape([n for pair in zip(shape, sides, strict=True) for n in pair])
    dims = len(sides)
    split = split.transpose([*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)])
    return split.reshape(*shape, math.prod(sides))


# --- errors ----------------------------------------------------------------------------------


def _errors(subject: Subject, values: Levels, seen: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Of each level's cells, in units of its bound; NaN in those that take no part."""
    found = []
    for part, decoded, is_seen in zip(subject.parts, values, seen, strict=True):
        unit = part.bound_abs or 1.0  # without a bound every bit comes back
        true = np.concatenate([v.ravel(order="F") for v in part.values]).astype(np.float64)
        with np.errstate(all="ignore"):
            error = (np.concatenate([v.ravel(order="F") for v in decoded]) - true) / unit
            found.append(np.where(is_seen & (np.abs(error) <= MOST), error, np.nan))
    return found


def _jumps(errors: Sequence[np.ndarray], faces: Faces) -> np.ndarray:
    """Of each face; NaN where a side has no error."""
    beside = errors[faces.level + 1][faces.finer]
    count = np.isfinite(beside).sum(axis=1)
    mean = np.where(np.isfinite(beside), beside, 0.0).sum(axis=1) / np.maximum(count, 1)
    return np.where(count > 0, errors[faces.level][faces.coarse] - mean, np.nan)


def _marks(
    errors: Sequence[np.ndarray], faces: Sequence[Faces], jumps: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The cells of the band."""
    marks = [np.zeros(error.size, bool) for error in errors]
    for of, jump in zip(faces, jumps, strict=True):
        is_face = np.isfinite(jump)
        marks[of.level][of.coarse[is_face]] = True
        marks[of.level + 1][of.finer[is_face].ravel()] = True
    return [mark & np.isfinite(error) for mark, error in zip(marks, errors, strict=True)]


def _squares(errors: np.ndarray) -> _Mean:
    is_nan = np.isnan(errors)
    nans = int(np.count_nonzero(is_nan))
    numbers = (np.where(is_nan, 0.0, errors) if nans else errors).ravel()
    return _Mean(float(np.square(numbers).sum()), numbers.size - nans)


def _band(errors: Sequence[np.ndarray], marks: Sequence[np.ndarray]) -> Ends:
    """rms error in the band and elsewhere, of the levels that have both."""
    over = under = 0.0
    compared = 0
    for error, mark in zip(errors, marks, strict=True):
        inside, outside = _squares(error[mark]), _squares(error[~mark])
        if inside.value is not None and outside.value is not None:
            over += inside.total
            under += inside.count * outside.value
            compared += inside.count
    return _roots(over, under, compared)


def _roots(over: float, under: float, count: int) -> Ends:
    return (math.sqrt(over / count), math.sqrt(under / count)) if count else (None, None)


def _jump(
    subject: Subject,
    errors: Sequence[np.ndarray],
    faces: Sequence[Faces],
    jumps: Sequence[np.ndarray],
) -> Ends:
    """rms of the jump across border faces, and what it would be if they were as interior ones."""
    coarse = {of.level for of in faces}
    interior = {
        level: _interior(errors[level], subject.parts[level].boxes).value
        for level in coarse | {level + 1 for level in coarse}
    }
    over = under = 0.0
    compared = 0
    for of, jump in zip(faces, jumps, strict=True):
        across = _squares(jump)
        sides = [interior[of.level], interior[of.level + 1]]
        there = [value for value in sides if value is not None]
        if there:
            over += across.total
            under += across.count * sum(there) / len(there)
            compared += across.count
    return _roots(over, under, compared)


def _interior(error: np.ndarray, boxes: Sequence[Box]) -> _Mean:
    """Of the differences between neighbours in a box."""
    found = _Mean()
    begin = 0
    for shape, alike in groupby(box.shape for box in boxes):
        count = len(list(alike))
        end = begin + count * math.prod(shape)
        cells = error[begin:end].reshape(count, *shape[::-1])
        for axis in range(1, cells.ndim):
            found += _squares(np.diff(cells, axis=axis))
        begin = end
    return found
