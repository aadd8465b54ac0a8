# SPDX-License-Identifier: BSD-3-Clause
"""Small hierarchies in memory, of every shape that ways of coding must take."""

from __future__ import annotations

import numpy as np

from neve.plotfile import Box
from neve_bench.amr.hierarchy import Hierarchy, HierarchyLevel

FIELD = "f"
Corners = tuple[tuple[int, ...], tuple[int, ...]]  # first and last cell


def smooth(box: Box, refined: int, seed: int) -> np.ndarray:
    """A wave over the coarse cells' places, and a little noise, x fastest in memory."""
    axes = [(np.arange(lo, hi + 1) + 0.5) / refined for lo, hi in zip(box.lo, box.hi, strict=True)]
    wave = sum(np.sin(0.3 * x + d) for d, x in enumerate(np.meshgrid(*axes, indexing="ij")))
    noise = np.random.default_rng([seed, *(n & 0xFFFF for n in box.lo)]).normal(size=box.shape)
    return np.asfortranarray(10 * wave + 0.1 * noise)


def hierarchy(
    levels: list[list[Corners]], ratio: int = 2, dtype: str = "f8", change=None
) -> Hierarchy:
    """Of these boxes; `change(level, box number, values)` may alter values in place."""
    found, refined = [], 1
    dims = len(levels[0][0][0])
    for number, corners in enumerate(levels):
        boxes = tuple(Box(*pair) for pair in corners)
        values = [smooth(box, refined, number).astype(dtype, order="F") for box in boxes]
        for b, array in enumerate(values):
            if change is not None:
                change(number, b, array)
        domain = Box(
            tuple(min(box.lo[d] for box in boxes) for d in range(dims)),
            tuple(max(box.hi[d] for box in boxes) for d in range(dims)),
        )
        is_last = number + 1 == len(levels)
        step = (1,) * dims if is_last else (ratio,) * dims
        found.append(HierarchyLevel(domain, boxes, (1 / refined,) * dims, step, {FIELD: values}))
        refined *= ratio
    return Hierarchy("made", dims, np.dtype(dtype), 0.0, (FIELD,), tuple(found))


def with_specials(level: int, box: int, values: np.ndarray) -> None:
    flat = values.reshape(-1, order="A")
    flat[3::97] = np.nan
    flat[5::101] = np.inf
    flat[7::103] = -np.inf
    flat[11::89] = -0.0


def _filled(value: float):
    def change(level: int, box: int, values: np.ndarray) -> None:
        values[...] = value

    return change


def _first_level_constant(level: int, box: int, values: np.ndarray) -> None:
    if level == 0:
        values[...] = 2.5


# Level 0 of 32 x 16 x 24 cells in two boxes; two boxes cover 8^3 and 8 x 8 x 16 of them.
IN_UNITS = [
    [((0, 0, 0), (15, 15, 23)), ((16, 0, 0), (31, 15, 23))],
    [((16, 0, 16), (31, 15, 31)), ((32, 0, 0), (47, 15, 31))],
]
# No unit divides these, corners are negative, and two fine boxes share coarse cells at x = 7.
ODD = [
    [((-3, 0, 0), (9, 9, 6)), ((10, 0, 0), (15, 9, 6))],
    [((12, 8, 4), (29, 23, 19)), ((30, 8, 4), (41, 23, 19))],
]
COVERED = [[((0, 0, 0), (7, 7, 7))], [((0, 0, 0), (15, 15, 7)), ((0, 0, 8), (15, 15, 15))]]

MADE = {
    "in units": lambda: hierarchy(IN_UNITS),
    "in units, f4": lambda: hierarchy(IN_UNITS, dtype="f4"),
    "odd, ratio 4": lambda: hierarchy(ODD, ratio=4),
    "specials, f4": lambda: hierarchy(ODD, ratio=4, dtype="f4", change=with_specials),
    "specials": lambda: hierarchy(IN_UNITS, change=with_specials),
    "2D": lambda: hierarchy([[((0, 0), (23, 15))], [((16, 8), (31, 23)), ((32, 8), (39, 15))]]),
    "1D": lambda: hierarchy([[((0,), (99,)), ((100,), (149,))], [((40,), (103,))]]),
    "thin": lambda: hierarchy([[((0, 0, 0), (31, 15, 0))], [((16, 8, 0), (31, 15, 1))]]),
    "covered wholly": lambda: hierarchy(COVERED),
    "constant": lambda: hierarchy(IN_UNITS, change=_filled(-4.25)),
    "one level constant": lambda: hierarchy(IN_UNITS, change=_first_level_constant),
    "NaN alone": lambda: hierarchy(IN_UNITS, change=_filled(np.nan)),
    "three levels": lambda: hierarchy(
        [
            [((0, 0, 0), (15, 15, 15))],
            [((8, 8, 8), (23, 23, 23)), ((24, 8, 8), (31, 23, 23))],
            [((24, 24, 24), (39, 39, 39))],
        ]
    ),
}
