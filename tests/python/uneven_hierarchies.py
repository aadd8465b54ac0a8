# SPDX-License-Identifier: BSD-3-Clause
"""Small hierarchies in memory, some of whose refinement ratios differ by direction or are 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from made_hierarchies import with_specials

from neve.plotfile import Box
from neve_bench.amr.hierarchy import Hierarchy, HierarchyLevel
from neve_bench.amr.subject import Subject

Corners = tuple[Sequence[int], Sequence[int]]

# By dimensions: the boxes of each level and the ratios to the next finer one. Ratios that are no
# powers of two or differ by direction, indices below 0, boxes of odd sizes, finer boxes that reach
# past the coarser ones.
UNEVEN: dict[int, tuple[list[list[Corners]], list[tuple[int, ...]]]] = {
    1: ([[((-7,), (12,)), ((13,), (40,))], [((0,), (31,)), ((60,), (131,))]], [(3,)]),
    2: (
        [
            [((-5, 3), (18, 26)), ((19, 3), (34, 20))],
            [((0, 12), (23, 51)), ((40, 36), (79, 59))],
            [((20, 100), (51, 131))],
        ],
        [(2, 3), (2, 2)],
    ),
    3: (
        [
            [((-4, 0, 2), (11, 15, 17)), ((12, 0, 2), (22, 15, 17)), ((-4, 16, 2), (11, 20, 9))],
            [((0, 0, 8), (15, 15, 23)), ((16, 0, 8), (31, 15, 30))],
            [((0, 0, 16), (47, 31, 31))],
        ],
        [(2, 2, 2), (3, 2, 1)],
    ),
}


def hierarchy(
    dims: int, dtype: str = "f8", specials: bool = False, smooth: bool = True
) -> Hierarchy:
    rng = np.random.default_rng(dims)
    boxes, ratios = UNEVEN[dims]
    levels = []
    scale = np.ones(dims)
    for number, corners in enumerate(boxes):
        level_boxes = tuple(Box(tuple(lo), tuple(hi)) for lo, hi in corners)
        ratio = ratios[number] if number < len(ratios) else (1,) * dims
        values = [_values(rng, box, scale, dtype, smooth) for box in level_boxes]
        if specials:
            for box_number, array in enumerate(values):
                with_specials(number, box_number, array)
        domain = Box(
            tuple(min(box.lo[d] for box in level_boxes) - 1 for d in range(dims)),
            tuple(max(box.hi[d] for box in level_boxes) + 3 for d in range(dims)),
        )
        levels.append(HierarchyLevel(domain, level_boxes, tuple(1 / scale), ratio, {"a": values}))
        scale = scale * ratio
    return Hierarchy(f"uneven {dims}D", dims, np.dtype(dtype), 0.0, ("a",), tuple(levels))


def _values(
    rng: np.random.Generator, box: Box, scale: np.ndarray, dtype: str, smooth: bool
) -> np.ndarray:
    places = np.meshgrid(
        *[
            (np.arange(lo, hi + 1) + 0.5) / s
            for lo, hi, s in zip(box.lo, box.hi, scale, strict=True)
        ],
        indexing="ij",
    )
    waves = sum(np.sin(0.3 * (d + 1) * place) for d, place in enumerate(places))
    noise = 0 if smooth else rng.normal(size=box.shape)
    return np.asfortranarray((1e3 + 50 * waves + noise).astype(dtype))


def without_values(subject: Subject) -> Subject:
    """What a reader knows: boxes, bounds and what finer levels cover."""
    parts = []
    for part in subject.parts:
        held = []
        for box, rects in zip(part.boxes, part.covered, strict=True):
            mask = np.ones(box.shape, bool, order="F")
            for rect in rects:
                mask[rect.within(box)] = False
            held.append(mask)
        nothing = tuple(np.zeros_like(values) for values in part.values)
        parts.append(replace(part, values=nothing, held=tuple(held)))
    return replace(subject, parts=tuple(parts))
