# SPDX-License-Identifier: BSD-3-Clause
"""A set of cells as disjoint rectangles."""

from __future__ import annotations

import numpy as np

from neve.plotfile import Box


def rectangles_of(mask: np.ndarray) -> list[Box]:
    """Of the marked cells of an array indexed [x, y, z]: each rectangle begins at the first cell
    that is left, x fastest, and grows along x, then y, then z.
    """
    left = mask.copy()
    found = []
    while left.any():
        first = np.unravel_index(int(left.ravel(order="F").argmax()), left.shape, order="F")
        lo = tuple(map(int, first))
        end = [n + 1 for n in lo]
        for d in range(mask.ndim):
            while end[d] < mask.shape[d]:
                layer = tuple(
                    slice(end[e], end[e] + 1) if e == d else slice(lo[e], end[e])
                    for e in range(mask.ndim)
                )
                if not left[layer].all():
                    break
                end[d] += 1
        box = Box(lo, tuple(n - 1 for n in end))
        left[tuple(slice(a, b) for a, b in zip(lo, end, strict=True))] = False
        found.append(box)
    return found
