# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a level's boxes as one run of values: box after box, x fastest in a box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import flags
from .subject import Part
from .units import covered_masks


def run_of(arrays: Sequence[np.ndarray], masks: Sequence[np.ndarray]) -> np.ndarray:
    """The marked cells of all boxes, box after box, x fastest."""
    return np.concatenate(
        [
            array.T.ravel() if mask.all() else array.T[mask.T]
            for array, mask in zip(arrays, masks, strict=True)
        ]
    )


def boxes_of_run(run: np.ndarray, masks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The inverse; 0 in cells that are not marked."""
    arrays, begin = [], 0
    for mask in masks:
        end = begin + int(mask.sum())
        array = np.zeros(mask.shape[::-1], run.dtype)
        array[mask.T] = run[begin:end]
        arrays.append(array.T)
        begin = end
    return arrays


def told_of_held(part: Part) -> bytes:
    """What a reader has to be told to know which cells are held."""
    return flags.pack_flags(run_of(part.held, covered_masks(part)))


def held_again(part: Part, told: bytes) -> list[np.ndarray]:
    """What a reader knows to be held: the cells outside of covered ones, and those told of."""
    covered = covered_masks(part)
    kept = flags.unpack_flags(told, sum(int(mask.sum()) for mask in covered))
    return [
        ~mask | of_covered
        for mask, of_covered in zip(covered, boxes_of_run(kept, covered), strict=True)
    ]
