# SPDX-License-Identifier: BSD-3-Clause
"""The cells of a hierarchy along a curve that fills space. A cell comes directly before the cells
of the next finer level that lie in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .subject import Part
from .way import NotPossible

ORDERS = ("z", "hilbert")
KEY_BITS = 63  # of a word of a sort key
MAX_BITS = 62  # of a coordinate


def tree_order(
    parts: Sequence[Part], held: Sequence[Sequence[np.ndarray]], order: str
) -> np.ndarray:
    """The places that the held cells, in the order of the curve, have in a list of them level by
    level, box by box, x fastest. Raises NotPossible.
    """
    tree = _Tree(parts)
    axes = [
        np.concatenate(
            [
                tree.coordinates(number, d, box.lo[d], n)[_nonzero(mask, d)]
                for number, (part, masks) in enumerate(zip(parts, held, strict=True))
                for box, mask in zip(part.boxes, masks, strict=True)
                for n in [box.shape[d]]
            ]
        )
        for d in reversed(range(tree.dims))
    ]
    if order == "hilbert":
        counts = [sum(int(mask.sum()) for mask in masks) for masks in held]
        below = np.repeat([tree.bits_below(number) for number in range(len(parts))], counts)
        axes = [axis >> below << below for axis in _hilbert(axes, tree.bits)]
    return np.lexsort(_interleaved(axes, tree.bits))  # stable: coarse levels first


def _nonzero(mask: np.ndarray, d: int) -> np.ndarray:
    """The coordinates of marked cells in a direction, x fastest."""
    return np.nonzero(mask.T)[mask.ndim - 1 - d]


class _Tree:
    """Coordinates in it are paths: first the place of the cell of level 0, counted from the lowest,
    then, for each finer level, the place inside of the coarser cell, in as many bits as the largest
    refinement ratio there needs. Where ratios are powers of two these are coordinates on the finest
    level. A cell has 0 for levels finer than its own.
    """

    def __init__(self, parts: Sequence[Part]):
        self.dims = len(parts[0].domain.lo)
        self._ratios = [part.ref_ratio for part in parts[:-1]]
        self._digits = [(max(ratio) - 1).bit_length() for ratio in self._ratios]
        corners = [
            [self._coarsest(number, d, end[d]) for d in range(self.dims)]
            for number, part in enumerate(parts)
            for box in part.boxes
            for end in box
        ]
        self._origin = [min(places) for places in zip(*corners, strict=True)]
        most = [max(places) for places in zip(*corners, strict=True)]
        widest = max(a - b for a, b in zip(most, self._origin, strict=True))
        self.bits = widest.bit_length() + sum(self._digits)
        if self.bits > MAX_BITS:
            raise NotPossible(
                f"places of cells through all levels have {self.bits} bits; allowed are {MAX_BITS}"
            )

    def bits_below(self, number: int) -> int:
        """Those that are 0 in all cells of the level."""
        return sum(self._digits[number:])

    def coordinates(self, number: int, d: int, first: int, count: int) -> np.ndarray:
        """Of `count` cells of a level in a direction."""
        cells = np.arange(first, first + count, dtype=np.int64)
        result, shift = np.zeros_like(cells), self.bits_below(number)
        for ratio, digits in zip(
            reversed(self._ratios[:number]), reversed(self._digits[:number]), strict=True
        ):
            result |= cells % ratio[d] << shift
            cells //= ratio[d]
            shift += digits
        return result | (cells - self._origin[d]) << shift

    def _coarsest(self, number: int, d: int, cell: int) -> int:
        for ratio in reversed(self._ratios[:number]):
            cell //= ratio[d]
        return cell


def _interleaved(axes: Sequence[np.ndarray], bits: int) -> list[np.ndarray]:
    """Morton keys, the low word first; of equal bits those of the first axis are the highest."""
    words = []
    each = KEY_BITS // len(axes)
    for begin in range(0, max(bits, 1), each):
        word = np.zeros(len(axes[0]), np.int64)
        for bit in range(begin, min(begin + each, bits)):
            for number, axis in enumerate(reversed(axes)):
                word |= (axis >> bit & 1) << ((bit - begin) * len(axes) + number)
        words.append(word)
    return words


def _hilbert(axes: Sequence[np.ndarray], bits: int) -> list[np.ndarray]:
    """What, interleaved, is the place on the Hilbert curve (Skilling, "Programming the Hilbert
    curve", AIP Conference Proceedings 707, 2004).
    """
    x = [axis.copy() for axis in axes]
    for bit in range(bits - 1, 0, -1):
        low = (1 << bit) - 1
        for axis in x:
            is_set = axis >> bit & 1 == 1
            swapped = np.where(is_set, 0, (x[0] ^ axis) & low)
            x[0] ^= np.where(is_set, low, swapped)  # of the first axis itself nothing is swapped
            axis ^= swapped
    for number in range(1, len(x)):
        x[number] ^= x[number - 1]
    flips = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flips ^= np.where(x[-1] >> bit & 1 == 1, (1 << bit) - 1, 0)
    return [axis ^ flips for axis in x]
