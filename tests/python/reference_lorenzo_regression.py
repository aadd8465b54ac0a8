# SPDX-License-Identifier: BSD-3-Clause
"""Codec lorenzo_regression, written from docs/format.md alone: a part of the reference decoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import reference_decoder as base

MERGED, SPECIALS = 0x01, 0x10


@dataclass
class Array:
    """Rectangles stacked in a line along the slowest used direction."""

    used: list[int]  # directions
    unit: int
    shape: list[int]  # in used directions, fastest first
    rects: list[int] = field(default_factory=list)

    def cell(self, at: list[int]) -> tuple[int, list[int]]:
        each = self.shape[-1] // len(self.rects)
        return self.rects[at[-1] // each], [*at[:-1], at[-1] % each]


class Differences:
    def __init__(self, differences: list[int]):
        self.left = iter(differences)
        self.value = 0

    def next(self) -> int:
        difference = next(self.left, None)
        base.require(difference is not None, "too few differences")
        self.value = (self.value + difference + (1 << 31)) % (1 << 32) - (1 << 31)
        return self.value


def arrays_of(sizes: list[list[int]], merged: bool) -> list[Array]:
    arrays: list[Array] = []
    known: dict[tuple[int, ...], Array] = {}
    for number, size in enumerate(sizes):
        used = [d for d in range(4) if size[d] > 1] or [0]
        array = known.get(tuple(size)) if merged else None
        if array is None:
            array = Array(used, max(size), [size[d] for d in used])
            arrays.append(array)
            known[tuple(size)] = array
        else:
            array.shape[-1] += size[used[-1]]
        array.rects.append(number)
    return arrays


def side_of(array: Array, side: int) -> int:
    if side:
        return side
    if len(array.used) < 3:
        return 128 if len(array.used) == 1 else 16
    return 4 if array.unit < 64 and array.unit % 6 <= 2 else 6


def blocks_of(shape: list[int], side: int):
    """(first cell, size) of each block, the fastest direction first."""
    counts = [base.ceil_div(n, side) for n in shape]
    for number in range(int(np.prod(counts, dtype=object))):
        first = []
        for count in counts:
            number, place = divmod(number, count)
            first.append(place * side)
        yield first, [min(side, n - at) for n, at in zip(shape, first, strict=True)]


def places_of(size: list[int]):
    for number in range(int(np.prod(size, dtype=object))):
        place = []
        for n in size:
            number, at = divmod(number, n)
            place.append(at)
        yield place


def outside_row(values: dict, outside: float, at: tuple[int, ...]) -> float:
    """N of the document."""

    def v(*taken_off: int) -> float:
        where = (at[0], *(c - t for c, t in zip(at[1:], taken_off, strict=True)))
        return outside if min(where) < 0 else values[where]

    if len(at) == 1:
        return 0.0
    if len(at) == 2:
        return v(1)
    if len(at) == 3:
        return (v(1, 0) + v(0, 1)) - v(1, 1)
    total = (v(1, 0, 0) + v(0, 1, 0)) - v(1, 1, 0)
    total = (total + v(0, 0, 1)) - v(1, 0, 1)
    return (total - v(0, 1, 1)) + v(1, 1, 1)


def lorenzo(values: dict, outside: float, at: tuple[int, ...]) -> float:
    left = (at[0] - 1, *at[1:])
    step = outside_row(values, outside, at) - outside_row(values, outside, left)
    return (outside if min(left) < 0 else values[left]) + step


def finite_or_zero(value: np.generic) -> float:
    return float(value) if np.isfinite(value) else 0.0


def decode(
    reader,
    dtype: np.dtype,
    component,
    shared: list[list[int]],
    sizes: list[list[int]],
    left_out: list[np.ndarray],
) -> list[np.ndarray]:
    """The values of each rectangle."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        base.usable_grid(component, dtype)
        return decode_checked(reader, dtype, component, shared, sizes, left_out)


@dataclass
class Stored:
    """What a section holds beside its prediction blocks' modes."""

    special: dict[int, float]
    listed: set[int]
    quant_codes: Iterator[int]
    bases: Differences
    means: Differences
    slopes: list[Differences]


def read_stored(reader, dtype, shared, flags: int, held: int, arrays: int, blocks: int):
    """The modes of the blocks, a bit each, and the rest."""
    listed: set[int] = set()
    special = base.special_values(reader, dtype, held, listed) if flags & SPECIALS else {}
    modes = reader.packed(base.ceil_div(blocks, 8))
    base.require(len(modes) == base.ceil_div(blocks, 8), "modes of another size")
    bases = Differences(base.read_escapes(reader, arrays))
    means, slopes = Differences([]), [Differences([]) for _ in range(4)]
    if any(modes):
        means = Differences(base.read_escapes(reader, blocks))
        slopes = [Differences(base.read_escapes(reader, blocks)) for _ in range(4)]
    ordinary = held - len(special)
    quant_codes = iter(base.residuals_of(reader, shared, ordinary, flags, 0))
    return modes, Stored(special, listed, quant_codes, bases, means, slopes)


def plane(mean, slope, place, size):
    """What regression predicts at `place` of a block."""
    prediction = mean
    for k in reversed(range(len(slope))):
        prediction = prediction + slope[k] * ((2 * place[k] - (size[k] - 1)) / 2)
    return prediction


def value_at(stored: Stored, dtype, prediction, step, position: int, is_left_out) -> tuple:
    """The value of a cell, and what stands for it where later cells are predicted."""
    if not is_left_out and position not in stored.special:
        value = dtype.type(prediction + next(stored.quant_codes) * step)
        return value, float(value)
    stands_for = finite_or_zero(dtype.type(prediction))
    value = dtype.type(stands_for)
    if not is_left_out:
        value = stored.special[position]
        if position in stored.listed and np.isfinite(value):
            stands_for = float(value)
    return value, stands_for


def cell_number(array, at: tuple[int, ...], sizes) -> tuple[int, int]:
    """The rectangle that holds a cell of a merged array, and the cell's number in it."""
    rect, inside = array.cell(list(at))
    cell = 0
    for k, coordinate in zip(array.used, inside, strict=True):
        cell += coordinate * int(np.prod(sizes[rect][:k], dtype=object))
    return rect, cell


def decode_checked(reader, dtype, component, shared, sizes, left_out) -> list[np.ndarray]:
    step, center = np.float64(component.step), np.float64(component.center)
    flags, side = reader.u8(), reader.u8()
    base.require(flags & ~(MERGED | SPECIALS) in base.ZEROS, "lorenzo_regression flags")
    base.require(side in (0, 4, 6), "side of prediction blocks")
    held = sum(int((~mask).sum()) for mask in left_out)
    arrays = arrays_of(sizes, bool(flags & MERGED))
    blocks = sum(len(list(blocks_of(a.shape, side_of(a, side)))) for a in arrays)
    modes, stored = read_stored(reader, dtype, shared, flags, held, len(arrays), blocks)

    word = np.dtype(f"<u{dtype.itemsize}")
    decoded = [np.empty(len(mask), dtype) for mask in left_out]
    block_number = 0
    position = 0
    for array in arrays:
        d = len(array.used)
        array_side = side_of(array, side)
        p, r = step / (d + 1), step / ((d + 1) * array_side)
        outside = center + stored.bases.next() * step
        values: dict[tuple[int, ...], np.float64] = {}
        for first, size in blocks_of(array.shape, array_side):
            regression = modes[block_number // 8] >> (block_number % 8) & 1
            block_number += 1
            if regression:
                mean = center + stored.means.next() * p
                slope = [stored.slopes[k].next() * r if size[k] > 1 else 0.0 for k in range(d)]
            for place in places_of(size):
                at = tuple(f + i for f, i in zip(first, place, strict=True))
                if regression:
                    prediction = plane(mean, slope, place, size)
                else:
                    prediction = lorenzo(values, outside, at)
                rect, cell = cell_number(array, at, sizes)
                is_left_out = left_out[rect][cell]
                value, stands_for = value_at(stored, dtype, prediction, step, position, is_left_out)
                position += not is_left_out
                values[at] = np.float64(stands_for)
                decoded[rect].view(word)[cell] = np.asarray(value, dtype).view(word)
    return decoded
