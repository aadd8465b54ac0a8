# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchies in memory: levels cut into boxes, refined where a mask of coarse cells says so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from neve.plotfile import Box
from neve_bench.amr.hierarchy import Hierarchy, HierarchyLevel

FIELD = "f"


def cut(region: Box, pieces: int) -> list[Box]:
    """Boxes that fill `region`, about `pieces` along each axis."""
    edges = [
        np.unique(np.linspace(lo, hi + 1, pieces + 1).astype(int))
        for lo, hi in zip(region.lo, region.hi, strict=True)
    ]
    ranges = [list(zip(e[:-1], e[1:] - 1, strict=True)) for e in edges]
    return [
        Box(tuple(int(lo) for lo, _ in part), tuple(int(hi) for _, hi in part))
        for part in product(*ranges)
    ]


def hierarchy(
    domain: Box,
    refined: Sequence[Sequence[Box]],
    ratios: Sequence[tuple[int, ...]],
    *,
    pieces: int = 2,
    dx: Sequence[float] | None = None,
    seed: int = 0,
    dtype: str = "float64",
) -> Hierarchy:
    """Level 0 fills `domain`. `refined[l]` are disjoint regions of level l's cells that level
    l + 1 fills, `ratios[l]` times as fine. Values are random, between 0 and 1.
    """
    random = np.random.default_rng(seed)
    dims = len(domain.lo)
    widths = np.ones(dims) if dx is None else np.asarray(dx, float)
    levels = []
    regions: list[Box] = [domain]
    for number in range(len(refined) + 1):
        boxes = tuple(box for region in regions for box in cut(region, pieces))
        ratio = ratios[number] if number < len(refined) else (1,) * dims
        values = [np.asfortranarray(random.random(box.shape).astype(dtype)) for box in boxes]
        levels.append(HierarchyLevel(domain, boxes, tuple(widths), ratio, {FIELD: values}))
        if number < len(refined):
            regions = [region.refine(ratio) for region in refined[number]]
            domain, widths = domain.refine(ratio), widths / ratio
    return Hierarchy("made", dims, np.dtype(dtype), 0.0, (FIELD,), tuple(levels))
