# SPDX-License-Identifier: BSD-3-Clause
"""Chunks for dask that are unions of whole frames, so that a frame is decoded for one chunk only.

dask's chunks form a grid of lines through all of the array. A line is free where it crosses no
frame (the hull of its boxes).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from .._grid import ratio_between
from .._hierarchy import Box, Source

Sizes = tuple[int, ...]  # of chunks along one direction
_Hulls = tuple[np.ndarray, np.ndarray]  # low and high corners, [frame, direction]

# Neighbours are joined up to this many bytes of values: a task of dask costs some milliseconds.
LEAST_BYTES = 4 << 20
# Chunks between free lines are divided above this: where frames are crossed, each chunk on either
# side needs them. It is the chunk size that dask itself aims at.
MOST_BYTES = 128 << 20
# An array with holes, as large as its hull, is cut into no more than about so many.
MOST_CHUNKS = 4096


def level_chunks(source: Source, level: int, region: Box) -> tuple[Sizes, ...]:
    """Sizes of chunks along each direction, for one level's cells of `region`."""
    return _chunks(region, list(_hulls(source, level)), source.dtype.itemsize)


def composite_chunks(source: Source, level: int, region: Box) -> tuple[Sizes, ...]:
    """The same for all levels at the resolution of `level`."""
    hulls: list[_Hulls] = []
    for other in range(len(source.levels)):
        for lo, hi in _hulls(source, other):
            if other <= level:
                ratio = ratio_between(source, other, level)
                hulls.append((lo * ratio, (hi + 1) * ratio - 1))
            else:
                ratio = ratio_between(source, level, other)
                hulls.append((lo // ratio, hi // ratio))
    return _chunks(region, hulls, source.dtype.itemsize)


def _hulls(source: Source, level: int) -> Iterator[_Hulls]:
    """Of the frames of each variable of a level."""
    lo, hi = source.levels[level].corners
    seen: list[list[list[int]]] = []
    for component in range(len(source.components)):
        frames = source.frames(level, component)
        if not frames or frames in seen:
            continue
        seen.append(frames)
        boxes = np.concatenate([np.array(frame) for frame in frames])
        begins = np.cumsum([0, *(len(frame) for frame in frames[:-1])])
        yield np.minimum.reduceat(lo[boxes], begins), np.maximum.reduceat(hi[boxes], begins)


def _chunks(region: Box, hulls: Sequence[_Hulls], itemsize: int) -> tuple[Sizes, ...]:
    lengths = region.shape
    lo, hi = (
        np.concatenate([np.empty((0, len(lengths)), int), *(of_all[side] for of_all in hulls)])
        for side in (0, 1)
    )
    crossings = [_crossings(lo[:, d], hi[:, d], region, d) for d in range(len(lengths))]
    free = [
        np.flatnonzero(of_line[1:n] == 0) + 1 for of_line, n in zip(crossings, lengths, strict=True)
    ]
    natural = [
        int(np.diff(lines, prepend=0, append=n).max())
        for lines, n in zip(free, lengths, strict=True)
    ]
    longest = _longest(natural, lengths, itemsize)
    return tuple(map(_cut, crossings, free, lengths, longest))


def _crossings(lo: np.ndarray, hi: np.ndarray, region: Box, direction: int) -> np.ndarray:
    """How many frames the line before each cell crosses, counted from the region's first cell."""
    begin, length = region.lo[direction], region.shape[direction]
    changes = np.zeros(length + 2, int)
    np.add.at(changes, np.clip(lo + 1 - begin, 0, length + 1), 1)
    np.add.at(changes, np.clip(hi + 1 - begin, 0, length + 1), -1)
    return np.cumsum(changes)[: length + 1]


def _longest(natural: Sequence[int], lengths: Sequence[int], itemsize: int) -> list[int]:
    """The longest chunk allowed along each direction."""
    least = max(LEAST_BYTES, math.prod(lengths) * itemsize // MOST_CHUNKS)
    longest = list(natural)
    while math.prod(longest) * itemsize > MOST_BYTES:
        at = longest.index(max(longest))
        longest[at] = -(-longest[at] // 2)
    while 2 * math.prod(longest) * itemsize <= min(least, MOST_BYTES):
        short = [d for d, n in enumerate(lengths) if longest[d] < n]
        if not short:
            break
        at = min(short, key=lambda d: longest[d])
        longest[at] = min(2 * longest[at], lengths[at])
    return longest


def _cut(crossings: np.ndarray, free: np.ndarray, length: int, longest: int) -> Sizes:
    """Chunks up to the last free line within reach, else up to the line that crosses fewest."""
    sizes = []
    at = 0
    while length - at > longest:
        before, within = np.searchsorted(free, (at, at + longest), side="right")
        if within > before:
            end = int(free[within - 1])
        else:
            crossed = crossings[at + 1 : at + longest + 1][::-1]
            end = at + longest - int(np.argmin(crossed))
        sizes.append(end - at)
        at = end
    return (*sizes, length - at)
