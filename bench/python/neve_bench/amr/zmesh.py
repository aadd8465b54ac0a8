# SPDX-License-Identifier: BSD-3-Clause
"""zMesh: the held cells of all levels as one array of one dimension, in which neighbours in space,
also of different levels, are close to each other (Luo et al., "zMesh: Exploring Application
Characteristics to Improve Lossy Compression Ratio for Adaptive Mesh Refinement", IPDPS 2021). As in
the paper the order follows from the hierarchy and is not stored.

One array has one bound: the smallest of the levels' bounds, so that every level's holds. Levels
that have to keep every bit are an array of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from . import chunks, flags, sz_array
from .parse import Method, among
from .space_filling import ORDERS, tree_order
from .subject import Part, Subject
from .units import covered_masks
from .way import Coders, Levels, Way

SOURCE = "zMesh (IPDPS 2021)"


def coders(subject: Subject, order: str) -> Coders:
    """Stored are flags of covered cells that are held, and SZ's bytes of both arrays."""
    parts = subject.parts
    tree_order(
        parts, [part.held for part in parts], order
    )  # raises NotPossible before a clock runs

    def encode() -> list[bytes]:
        covered = [covered_masks(part) for part in parts]
        held = [part.held for part in parts]
        packed = flags.pack_flags(_picked(held, covered))
        places = tree_order(parts, held, order)
        values = _picked([part.values for part in parts], held)[places]
        texts = [
            sz_array.encode(values[mine], bound) if mine.any() else b""
            for mine, bound in _arrays(parts, held, places)
        ]
        return [chunks.join([packed, *texts])]

    def decode(stored: list[bytes]) -> Levels:
        packed, *texts = chunks.split(stored[0])
        covered = [covered_masks(part) for part in parts]
        held = [[~mask for mask in masks] for masks in covered]
        _put(held, covered, flags.unpack_flags(packed, _count(covered)))
        places = tree_order(parts, held, order)
        ordered = np.zeros(len(places), subject.dtype)
        for (mine, _), text in zip(_arrays(parts, held, places), texts, strict=True):
            if text:
                ordered[mine] = sz_array.decode(text)
        values = np.empty_like(ordered)
        values[places] = ordered
        levels = [[np.zeros(box.shape, subject.dtype, "F") for box in part.boxes] for part in parts]
        _put(levels, held, values)
        return levels

    return encode, decode


def _arrays(
    parts: Sequence[Part], held: Sequence[Sequence[np.ndarray]], places: np.ndarray
) -> list[tuple[np.ndarray, float]]:
    """Which of the ordered cells are in an array, and its bound: lossy, exact."""
    counts = [_count([masks]) for masks in held]
    is_exact = np.repeat([part.bound_abs == 0 for part in parts], counts)[places]
    bounds = [p.bound_abs for p, n in zip(parts, counts, strict=True) if p.bound_abs > 0 and n > 0]
    return [(~is_exact, min(bounds, default=0.0)), (is_exact, 0.0)]


def _count(masks: Sequence[Sequence[np.ndarray]]) -> int:
    return sum(int(mask.sum()) for level in masks for mask in level)


def _picked(
    arrays: Sequence[Sequence[np.ndarray]], masks: Sequence[Sequence[np.ndarray]]
) -> np.ndarray:
    """Marked cells of all levels: level by level, box by box, x fastest."""
    return np.concatenate(
        [
            array.T[mask.T]
            for level, marks in zip(arrays, masks, strict=True)
            for array, mask in zip(level, marks, strict=True)
        ]
    )


def _put(
    arrays: Sequence[Sequence[np.ndarray]],
    masks: Sequence[Sequence[np.ndarray]],
    values: np.ndarray,
) -> None:
    """The inverse of _picked."""
    begin = 0
    for level, marks in zip(arrays, masks, strict=True):
        for array, mask in zip(level, marks, strict=True):
            end = begin + int(mask.sum())
            array.T[mask.T] = values[begin:end]
            begin = end


def _make(text: str, settings: Mapping[str, str]) -> Way:
    order = settings["order"]
    label = "zMesh" if order == "z" else f"zMesh {order}"
    return Way(text, label, SOURCE, partial(coders, order=order))


METHODS = [
    Method(
        "zmesh",
        "lr",
        "all levels in one line along a curve through space, then SZ in one dimension",
        {"order": among("z", *ORDERS)},
        _make,
    )
]
